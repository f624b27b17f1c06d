//! `--report` and `--svg`: pages to look at, and pictures worth sending.

use crate::support::Folder;

/// Names that would do harm if they were let to.
const HOSTILE: [&str; 3] =
    ["</title><script>alert(1)</script>", "\" onload='x' &amp; \u{202e}txt.exe שלום 🐈", "long"];

/// A folder with a table whose classes have such names, the last of them 200 letters long.
fn hostile() -> (Folder, Vec<String>) {
    let folder = Folder::with_scores();
    let mut names: Vec<String> = HOSTILE.map(str::to_owned).to_vec();
    names[2] = "W".repeat(200);
    let table = folder.read("scores.csv");
    let (header, rows) = table.split_once('\n').expect("a header");
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let header: Vec<String> = header
        .split(',')
        .map(|column| match column.split_once(':') {
            Some((view, class)) => {
                quoted(&format!("{view}:{}", names[class.parse::<usize>().expect("a class")]))
            }
            None => column.to_owned(),
        })
        .collect();
    folder.write("scores.csv", header.join(",") + "\n" + rows);
    (folder, names)
}

/// Whether every element that is opened is closed, in order; and how many there are.
fn elements(markup: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    for tag in markup.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if tag.ends_with('/') || tag.starts_with('!') => count += 1,
            None => {
                count += 1;
                open.push(tag.split(' ').next().expect("a name"));
            }
        }
    }
    assert_eq!(open, [""; 0]);
    count
}

/// What every page has.
fn checked(page: &str) {
    assert!(
        page.starts_with("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"),
        "{page:.200}"
    );
    assert!(page.contains("default-src &#39;none&#39;"));
    assert!(elements(page) > 50);
    for forbidden in
        ["<script", "<img", "<link", "<iframe", "<a ", "http://", "https://", "@import", "url(", "onload=\""]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let [pictures, titles, descriptions] = ["<svg", "<title>", "<desc>"].map(|tag| page.matches(tag).count());
    assert_eq!(descriptions, pictures);
    assert!(titles > pictures && pictures > 0, "one title is the page's own");
    assert!(page.matches("<table>").count() >= pictures, "a table under every picture");
    assert!(page.len() < 200_000, "{} bytes", page.len());
}

#[test]
fn every_answer_has_a_page_and_a_picture() {
    let folder = Folder::with_scores();
    folder.answered(&["simulate", "--crowd", "--rows", "300", "-o", "crowd.csv"]);
    folder.answered(&[
        "simulate",
        "--hmm",
        "--classes",
        "2",
        "--sequences",
        "400",
        "--longest",
        "20",
        "-o",
        "chains.csv",
    ]);
    for asked in [
        vec!["estimate", "scores.csv"],
        vec!["estimate", "scores.csv", "--by", "label"],
        vec!["estimate", "scores.csv", "--label", "label", "--label-budget", "0.1"],
        vec!["estimate", "--votes", "crowd.csv", "--label-budget", "0.1"],
        vec!["diagnose", "scores.csv"],
        vec!["compare", "scores.csv", "--label", "label"],
        vec!["hmm", "chains.csv", "--transition", "transition.csv"],
    ] {
        let text = folder.run(&asked).stdout;
        let run = folder.run(&[&asked[..], &["--report", "page.html", "--svg", "picture.svg"]].concat());
        assert!(run.code < 2, "{run:?}");
        assert_eq!(run.stdout, text, "the page does not change what is printed");
        let page = folder.read("page.html");
        checked(&page);
        let command = format!("triview {} --report page.html --svg picture.svg", asked.join(" "));
        assert!(page.contains(&command), "{command} is not at the end");
        assert_eq!(page.contains("Not to be trusted</p>"), run.code == 1, "{asked:?}");
        let svg = folder.read("picture.svg");
        assert!(svg.starts_with("<svg ") && svg.contains("role=\"img\"") && elements(&svg) > 10);
        assert!(
            svg.contains("<title>") && svg.contains("<desc>") && svg.contains("prefers-color-scheme:dark")
        );
        // The same again is the same bytes, by any number of threads.
        let again = [&asked[..], &["--report", "page.html", "--svg", "picture.svg"]].concat();
        folder.run(&again);
        assert_eq!((folder.read("page.html"), folder.read("picture.svg")), (page, svg), "{asked:?}");
    }
}

#[test]
fn what_is_not_to_be_trusted_says_so_first() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "8000", "--shared", "0.35", "--seed", "3", "-o", "scores.csv"]);
    for verb in ["estimate", "diagnose", "compare"] {
        let run = folder.run(&[verb, "scores.csv", "--report", "page.html"]);
        assert_eq!(run.code, 1, "{run:?}");
        let page = folder.read("page.html");
        checked(&page);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{verb}: no {text}"));
        let body = at("<body");
        let number = page[body..].find("%").map_or(usize::MAX, |found| body + found);
        assert!(at("Not to be trusted</p>") < number && at("<h1>Do not rely on") < number, "{verb}");
        assert!(at("The views are not independent given the class") < at("class=\"tiles\""), "{verb}");
        assert!(at("What to do: ") < at("class=\"tiles\""), "{verb}");
    }
}

#[test]
fn hostile_names_are_shown_and_do_no_harm() {
    let (folder, names) = hostile();
    for verb in ["estimate", "diagnose", "compare"] {
        folder.run(&[verb, "scores.csv", "--report", "page.html", "--svg", "picture.svg"]);
        let page = folder.read("page.html");
        checked(&page);
        let svg = folder.read("picture.svg");
        elements(&svg);
        assert!(!page.contains('\u{202e}') && !svg.contains('\u{202e}'));
        if verb != "compare" {
            assert!(page.contains("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{verb}");
            assert!(page.contains("שלום 🐈") && page.contains(&names[2]), "{verb}");
        }
    }
}

#[test]
fn ten_classes_and_a_year_of_weeks_stay_small() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--preset", "ten", "--rows", "8000", "-o", "ten.csv"]);
    folder.run(&["estimate", "ten.csv", "--report", "page.html"]);
    checked(&folder.read("page.html"));
    folder.answered(&["simulate", "--rows", "15600", "-o", "scores.csv"]);
    let mut table = folder.table("scores.csv");
    for (row, cells) in table.iter_mut().enumerate() {
        cells.push(match row.checked_sub(1) {
            None => "week".to_owned(),
            Some(row) => (row / 300).to_string(),
        });
    }
    folder.write_table("weeks.csv", &table);
    folder.run(&["estimate", "weeks.csv", "--by", "week", "--period", "1", "--report", "page.html"]);
    let page = folder.read("page.html");
    checked(&page);
    assert!(page.contains("The risk over time, by week"));
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let folder = Folder::with_scores();
    std::fs::create_dir(folder.path("folder")).expect("a folder");
    for flag in ["--report", "--svg"] {
        let refused = |path: &str| folder.refused(&["estimate", "scores.csv", flag, path]);
        assert_eq!(refused("folder"), "error: cannot write `folder`: it is a folder; name a file in it");
        assert!(refused("nowhere/page.html").contains("cannot write `nowhere/page.html`: No such file"));
        assert!(refused("scores.csv").contains("would be overwritten"));
    }
    let same = folder.refused(&["diagnose", "scores.csv", "--report", "page", "--svg", "page"]);
    assert!(same.contains("would be overwritten"), "{same}");
    let same = folder.refused(&["demo", "--report", "page", "--svg", "page"]);
    assert!(same.contains("would be overwritten"), "{same}");
    // A question that cannot be answered leaves no page behind.
    folder.refused(&["estimate", "missing.csv", "--report", "page.html"]);
    assert!(!folder.path("page.html").exists());
}

#[test]
fn a_page_takes_the_place_of_the_one_before() {
    let folder = Folder::with_scores();
    folder.write("page.html", "before");
    folder.answered(&["estimate", "scores.csv", "--report", "page.html"]);
    checked(&folder.read("page.html"));
}
