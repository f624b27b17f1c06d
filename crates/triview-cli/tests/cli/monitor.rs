//! `triview monitor`: periods, alarms and limits, and a store that loses nothing.

use crate::support::{Folder, number};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use triview::lab::{Population, Preset};
#[cfg(unix)]
use triview_store::{Added, Place, Store};

/// A population of three classes.
fn population() -> Population {
    Population::draw(&Preset::Three.setting(), 5).expect("a population")
}

/// Rows of a week of 2025 as CSV, with their class and a shop.
fn week(population: &Population, week: usize, rows: usize) -> String {
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(100 + week as u64));
    let mut text = "when,shop,truth,a:0,a:1,a:2,b:0,b:1,b:2,c:0,c:1,c:2\n".to_owned();
    for row in 0..rows {
        // Seconds since 1970, from the first Monday of 2025 on.
        let second = 1_736_121_600 + 86_400 * (7 * week + row % 7);
        let scores = (0..9).map(|at| format!("{:.4}", batch.column(at / 3, at % 3)[row]));
        let cells: Vec<String> = scores.collect();
        let shop = if row % 2 == 0 { "north" } else { "south" };
        text += &format!("{second},{shop},{},{}\n", labels[row], cells.join(","));
    }
    text
}

/// A folder with so many weekly tables; the model is worse from the fourth on where that is asked for.
fn folder(weeks: usize, worse: bool) -> Folder {
    let (folder, normal) = (Folder::new(), population());
    let moved = normal.moved(0.9, 3);
    for at in 0..weeks {
        let of = if worse && at >= 2 { &moved } else { &normal };
        folder.write(&format!("w{at}.csv"), week(of, at, 2_000));
    }
    folder
}

const FIRST: [&str; 8] = ["monitor", "m.store", "--time", "when", "--period", "week", "--quiet", "--add"];

fn add<'a>(files: &[&'a str]) -> Vec<&'a str> {
    FIRST.into_iter().chain(files.iter().copied()).collect()
}

/// What a store says, whether or not it is quiet.
fn said(folder: &Folder, store: &str) -> Value {
    let run = folder.run(&["monitor", store, "--json", "--quiet"]);
    assert!(run.code < 2, "{run:?}");
    serde_json::from_str(&run.stdout).expect("one JSON object")
}

#[test]
fn periods_are_answered_and_written_everywhere() {
    let folder = folder(3, false);
    folder.run(&add(&["w0.csv"]));
    // How the first was read is remembered.
    let run = folder.run(&["monitor", "m.store", "--add", "w1.csv", "w2.csv"]);
    assert!(run.stderr.contains("`w2.csv`: 2,000 rows added to 1 period"), "{run:?}");
    let files = ["--csv", "p.csv", "--svg", "p.svg", "--report", "p.html", "--prometheus", "p.prom"];
    let run = folder.run(&[&["monitor", "m.store"], files.as_slice()].concat());
    for part in ["now ", "worse ", "inputs ", "assumption ", "baseline ", "2025-W02", "2025-W04"] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    let object = said(&folder, "m.store");
    let periods = object["periods"].as_array().expect("periods");
    assert_eq!(periods.len(), 3);
    for period in periods {
        assert_eq!(period["rows"], 2_000);
        let rate = &period["error_rate"];
        // The preset's model errs on some 9% of rows.
        assert!((0.0..0.3).contains(&number(rate, "value")), "{period}");
    }
    assert_eq!(said(&folder, "m.store"), object);
    assert_eq!(folder.read("p.csv").lines().count(), 4);
    assert!(folder.read("p.prom").contains("triview_rows{period=\"2025-W04\"} 2000\n"));
    assert!(folder.read("p.svg").contains("</svg>") && folder.read("p.html").contains("2025-W03"));
}

#[test]
fn a_period_says_what_estimate_says_of_its_rows() {
    // The same plan, rows and blocks; the error rate is from the same rows in another order.
    let folder = folder(1, false);
    folder.run(&add(&["w0.csv"]));
    let (store, plain) =
        (said(&folder, "m.store"), folder.json(&["estimate", "w0.csv", "--json", "--quiet"]));
    assert_eq!(store["periods"][0]["risk"]["value"], plain["risk"]);
    assert_eq!(store["periods"][0]["risk"]["standard_error"], plain["standard_error"]);
}

#[test]
fn what_becomes_worse_raises_the_alarm_and_limits_end_with_one() {
    let folder = folder(6, true);
    let files: Vec<String> = (0..6).map(|at| format!("w{at}.csv")).collect();
    folder.run(&add(&files.iter().map(String::as_str).collect::<Vec<_>>()));
    let object = said(&folder, "m.store");
    assert_eq!(object["worse"]["alarm"], true, "{object}");
    assert_eq!(object["inputs"]["changed"], true);
    let asked = |limit: &str| {
        folder.run(&["monitor", "m.store", "--quiet", "--baseline", "2025-W02..2025-W03", "--limit", limit])
    };
    for limit in ["worse", "error_rate>0.01", "risk>baseline+3se", "rows<3000"] {
        let run = asked(limit);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stdout.starts_with("limit ") && run.stdout.contains(limit), "{run:?}");
    }
    let quiet = asked("error_rate>0.99");
    assert!(!quiet.stdout.contains("limit "), "{quiet:?}");
}

#[test]
fn every_view_is_watched_by_itself() {
    let folder = folder(6, true);
    let files: Vec<String> = (0..6).map(|at| format!("w{at}.csv")).collect();
    folder.run(
        &[
            &["monitor", "m.store", "--each"],
            &add(&files.iter().map(String::as_str).collect::<Vec<_>>())[2..],
        ]
        .concat(),
    );
    let object = said(&folder, "m.store");
    let each = object["each"].as_array().expect("views");
    assert_eq!(
        each.iter().map(|view| view["view"].as_str()).collect::<Vec<_>>(),
        [Some("a"), Some("b"), Some("c")]
    );
    let plain = folder.json(&["estimate", "w0.csv", "--each", "--json", "--quiet"]);
    for (curve, alone) in each.iter().zip(plain["each"].as_array().expect("views")) {
        let periods = curve["periods"].as_array().expect("periods");
        assert_eq!(periods.len(), 6);
        // The same plan, rows and blocks as those of the first week.
        assert_eq!(periods[0]["risk"]["value"], alone["risk"]["value"]);
        // What is watched is the prediction that one view makes, which is wrong more often than that of all.
        let own = number(&periods[0]["error_rate"], "value");
        assert!(own > number(&object["periods"][0]["error_rate"], "value"), "{curve}");
    }
    let baseline = ["--baseline", "2025-W02..2025-W03"];
    let files = ["--csv", "p.csv", "--report", "p.html", "--prometheus", "p.prom"];
    let limits = ["--limit", "a:error_rate>0.01", "--limit", "b:worse"];
    let run = folder.run(&[&["monitor", "m.store", "--quiet"], &baseline[..], &files, &limits].concat());
    assert_eq!(run.code, 1, "{run:?}");
    for part in ["view alone", "a:error_rate>0.01 is passed in 2025-W07", "b:worse: yes, seen in"] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    // All rows, and three views.
    assert_eq!(folder.read("p.csv").lines().count(), 1 + 4 * 6);
    assert!(folder.read("p.prom").contains("triview_error_rate{period=\"2025-W07\",view=\"c\"} "));
    assert!(folder.read("p.html").contains("Each view as a model of its own"));
    let run = folder.run(&["monitor", "m.store", "--limit", "d:risk>1"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("there is no view `d`; there are a, b, c"), "{run:?}");
}

#[test]
fn a_store_that_watches_no_views_says_so() {
    let folder = folder(2, false);
    folder.run(&add(&["w0.csv"]));
    for asked in [["--each", "--quiet"].as_slice(), &["--each", "--add", "w1.csv"], &["--limit", "a:risk>1"]]
    {
        let run = folder.run(&[&["monitor", "m.store"], asked].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("begin a new one with"), "{run:?}");
    }
    assert_eq!(said(&folder, "m.store")["periods"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_period_of_which_nothing_is_known_is_not_called_quiet() {
    let folder = folder(1, false);
    folder.write("w1.csv", week(&population(), 1, 20));
    let run = folder.run(&add(&["w0.csv", "w1.csv"]));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("in doubt in 1 of 1 periods"), "{run:?}");
    assert!(run.stdout.contains("2025-W03 is not to be trusted"), "{run:?}");
}

#[test]
fn segments_are_watched_by_themselves() {
    let folder = folder(2, false);
    folder.run(&[
        "monitor", "m.store", "--add", "w0.csv", "w1.csv", "--time", "when", "--period", "week", "--by",
        "shop",
    ]);
    let object = said(&folder, "m.store");
    let segments = object["by"]["segments"].as_array().expect("segments");
    assert_eq!(segments.iter().map(|one| &one["segment"]).collect::<Vec<_>>(), ["north", "south"]);
    assert_eq!(segments[0]["periods"][1]["rows"], 1_000);
    let refused = folder.refused(&["monitor", "m.store", "--add", "w0.csv", "--by", "truth"]);
    assert!(refused.contains("segments by column `shop`"), "{refused}");
}

#[test]
fn late_labels_correct_their_period() {
    let folder = folder(2, false);
    folder.run(&add(&["w0.csv", "w1.csv"]));
    let before = said(&folder, "m.store");
    let labelled: String = folder.read("w0.csv").lines().take(201).map(|line| format!("{line}\n")).collect();
    folder.write("labels.csv", labelled);
    let run = folder.run(&["monitor", "m.store", "--labels", "labels.csv", "--label", "truth"]);
    assert!(run.stderr.contains("200 labels added"), "{run:?}");
    let after = said(&folder, "m.store");
    assert_eq!((&after["periods"][0]["labels"], &after["periods"][0]["rows"]), (&200.into(), &2_000.into()));
    assert_ne!(after["periods"][0]["risk"], before["periods"][0]["risk"]);
    assert_eq!(after["periods"][1]["risk"], before["periods"][1]["risk"]);
    let again = folder.run(&["monitor", "m.store", "--labels", "labels.csv"]);
    assert!(again.stderr.contains("was added before"), "{again:?}");
    let more: String = folder.read("w0.csv").lines().take(301).map(|line| format!("{line}\n")).collect();
    folder.write("more.csv", more);
    let refused = folder.refused(&["monitor", "m.store", "--labels", "more.csv"]);
    assert!(refused.contains("at least 200 have the very scores"), "{refused}");
}

#[test]
fn a_file_is_known_by_its_content() {
    let folder = folder(1, false);
    folder.run(&add(&["w0.csv"]));
    let before = fs::read(folder.path("m.store")).expect("a store");
    folder.write("copy.csv", folder.read("w0.csv"));
    let run = folder.run(&["monitor", "m.store", "--add", "copy.csv"]);
    assert!(run.stderr.contains("`copy.csv` was added before as `w0.csv`"), "{run:?}");
    assert_eq!(fs::read(folder.path("m.store")).expect("a store"), before);
    // The same rows in a file of other bytes.
    let wider: String = folder.read("w0.csv").lines().map(|line| format!("{line},x\n")).collect();
    folder.write("wider.csv", wider);
    let refused = folder.refused(&["monitor", "m.store", "--add", "wider.csv"]);
    assert!(refused.contains("rows of 2025-W02 are in the store already: at least 2000"), "{refused}");
    assert_eq!(fs::read(folder.path("m.store")).expect("a store"), before);
}

/// Starts an addition that says nothing.
fn start(folder: &Folder, store: &str, file: &str) -> Child {
    let arguments = ["monitor", store, "--time", "when", "--period", "week", "--quiet", "--add", file];
    std::process::Command::new(env!("CARGO_BIN_EXE_triview"))
        .current_dir(folder.path(""))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs")
}

/// All that a store remembers of its rows, to the bit.
#[cfg(unix)]
fn remembered(folder: &Folder, store: &str) -> Vec<(Place, Vec<u8>, Vec<u8>)> {
    let store = Store::open(&folder.path(store)).expect("a store that opens");
    let bytes = |(place, _)| {
        let part = store.part(&place).expect("a part").expect("one that is there");
        (place, part.moments.to_bytes().expect("bytes"), part.kept.to_bytes())
    };
    store.places().expect("places").into_iter().map(bytes).collect()
}

/// `TRIVIEW_KILLS=200` for as many kills as `docs/monitoring.md` speaks of.
#[cfg(unix)]
#[test]
#[allow(clippy::print_stdout, reason = "how many were killed is what one asks for by the variable")]
fn a_killed_addition_has_not_happened_or_has() {
    let wanted: usize = std::env::var("TRIVIEW_KILLS").map_or(16, |text| text.parse().expect("a number"));
    let folder = folder(4, false);
    let times = ["w0.csv", "w1.csv", "w2.csv", "w3.csv"].map(|file| {
        let begun = Instant::now();
        start(&folder, "whole.store", file).wait().expect("an end");
        (file, begun.elapsed().as_micros() as u64)
    });
    let (whole, answers) = (remembered(&folder, "whole.store"), said(&folder, "whole.store"));
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut killed, mut rounds, mut empty) = (0, 0, 0);
    while killed < wanted {
        let store = format!("{rounds}.store");
        for (at, (file, longest)) in times.into_iter().enumerate() {
            for _ in 0..3 {
                let mut child = start(&folder, &store, file);
                // Most of the time goes into the answer: half of the moments are in the first eighth.
                let moment = (rng.next_u64() % 1_000_000) as f64 / 1e6;
                sleep(Duration::from_micros((longest as f64 * moment.powi(3)) as u64));
                // Where it is over already nothing is killed.
                let _ = child.kill();
                killed += usize::from(child.wait().expect("an end").code().is_none());
                // It opens, and the file is there whole or not at all.
                let there = if folder.path(&store).exists() { remembered(&folder, &store).len() } else { 0 };
                assert!(there == at || there == at + 1, "{there} periods after file {at}");
                empty += usize::from(there == at);
            }
            start(&folder, &store, file).wait().expect("an end");
        }
        assert!(remembered(&folder, &store) == whole, "round {rounds}");
        let again = said(&folder, &store);
        assert_eq!((&again["periods"], &again["files"]), (&answers["periods"], &4.into()), "round {rounds}");
        rounds += 1;
    }
    println!("{killed} killed, {empty} of them before it was added; {rounds} stores");
    assert!(empty > 0 && empty < 12 * rounds, "all or none were killed in time: {empty} of {killed}");
}

#[cfg(unix)]
#[test]
fn nothing_is_left_of_a_store_that_was_being_made() {
    let folder = folder(1, false);
    let mut unmade = 0;
    for tenth in 1..8 {
        let store = format!("{tenth}.store");
        let mut child = start(&folder, &store, "w0.csv");
        sleep(Duration::from_millis(10 * tenth));
        let told = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        // It may be over already.
        told.expect("the program `kill`");
        child.wait().expect("an end");
        unmade += usize::from(!folder.path(&store).exists());
        let names = fs::read_dir(folder.path("")).expect("a folder");
        let hidden = names.filter(|entry| {
            entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
        });
        assert_eq!(hidden.count(), 0, "{store}");
    }
    assert!(unmade > 0);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_grow_is_as_it_was() {
    let folder = folder(2, false);
    folder.run(&add(&["w0.csv"]));
    let before = fs::read(folder.path("m.store")).expect("a store");
    // No file may be larger than this, in blocks of 512 bytes: the disk refuses what lies beyond.
    let refused = |store: &str, bytes: usize| {
        let run = std::process::Command::new("sh")
            .current_dir(folder.path(""))
            .args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", &(bytes / 512).to_string()])
            .arg(env!("CARGO_BIN_EXE_triview"))
            .args(["monitor", store, "--time", "when", "--period", "week", "--quiet", "--add", "w1.csv"])
            .output()
            .expect("a shell");
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0), "{message}");
        assert!(message.contains(&format!("store `{store}`")) && message.contains("as it was"), "{message}");
    };
    refused("m.store", before.len() + 64 * 1024);
    assert!(fs::read(folder.path("m.store")).expect("a store") == before);
    assert!(!folder.path("m.store-journal").exists());
    refused("new.store", before.len() / 2);
    let names = fs::read_dir(folder.path("")).expect("a folder").map(|entry| entry.expect("one").file_name());
    let left: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with('.') || name.starts_with("new")), "{left:?}");
    folder.run(&["monitor", "m.store", "--add", "w1.csv", "--quiet"]);
    assert_eq!(said(&folder, "m.store")["files"], 2);
}

#[test]
fn what_is_not_over_raises_no_alarm_and_all_say_the_same() {
    let folder = folder(4, true);
    // The first two weeks are normal; the worse ones lie in a century to come.
    for name in ["w2.csv", "w3.csv"] {
        let mut table = folder.table(name);
        table.iter_mut().skip(1).for_each(|row| {
            row[0] = (row[0].parse::<i64>().expect("seconds") + 100 * 31_557_600).to_string()
        });
        folder.write_table(name, &table);
    }
    folder.run(&add(&["w0.csv", "w1.csv", "w2.csv", "w3.csv"]));
    let run =
        folder.run(&["monitor", "m.store", "--limit", "worse", "--prometheus", "p.prom", "--csv", "p.csv"]);
    let object = said(&folder, "m.store");
    assert_eq!((run.code, &object["current"]), (0, &"2025-W03".into()), "{run:?}");
    assert_eq!(object["worse"]["alarm"], false, "{object}");
    assert!(run.stdout.contains("worse       not seen;") && run.stdout.contains("not over yet"), "{run:?}");
    let (factor, prom) = (number(&object["worse"], "factor"), folder.read("p.prom"));
    assert!(
        factor < 20.0 && prom.contains(&format!("triview_worse_factor{{period=\"2025-W03\"}} {factor}\n")),
        "{prom}"
    );
    assert!(prom.contains("triview_worse_alarm{period=\"2025-W03\"} 0\n"), "{prom}");
    // Every number of the table is that of the object.
    let lines: Vec<Vec<String>> = folder.table("p.csv");
    let column = |name: &str| lines[0].iter().position(|known| known == name).expect(name);
    for (line, period) in lines[1..].iter().zip(object["periods"].as_array().expect("periods")) {
        assert_eq!(line[column("period")], period["period"].as_str().expect("a name"));
        for name in ["risk", "error_rate"] {
            let measure = &period[name];
            let cells = [name.to_owned(), format!("{name}_low"), format!("{name}_high")]
                .map(|name| line[column(&name)].as_str());
            if measure.is_null() {
                assert_eq!(cells, [""; 3], "{name}");
                continue;
            }
            let interval = &measure["interval"];
            let numbers = [number(measure, "value"), number(interval, "low"), number(interval, "high")];
            assert_eq!(cells.map(str::parse), numbers.map(Ok), "{name}");
        }
        assert_eq!(line[column("worse")].parse(), Ok(number(period, "worse")));
        assert_eq!(line[column("trusted")], period["trusted"].to_string());
    }
    let risk = number(&object["periods"][1]["risk"], "value");
    assert!(prom.contains(&format!("triview_risk{{period=\"2025-W03\"}} {risk}\n")), "{prom}");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = folder(1, false);
    folder.write("m.store", "");
    assert!(folder.refused(&["monitor", "m.store"]).contains("no store `m.store` yet"));
    folder.run(&add(&["w0.csv"]));
    assert_eq!(said(&folder, "m.store")["files"], 1);
}

#[test]
fn of_two_that_add_at_once_both_arrive() {
    let folder = folder(4, false);
    for round in 0..4 {
        let store = format!("{round}.store");
        // The first two also make the store at once.
        for pair in [["w0.csv", "w1.csv"], ["w2.csv", "w3.csv"]] {
            let children = pair.map(|file| start(&folder, &store, file));
            for mut child in children {
                assert!(child.wait().expect("an end").code().is_some_and(|code| code < 2));
            }
        }
        let object = said(&folder, &store);
        assert_eq!(object["files"], 4, "{object}");
        assert_eq!(object["periods"].as_array().map(Vec::len), Some(4));
    }
}

#[test]
fn stores_of_several_machines_add_up() {
    let folder = folder(3, false);
    folder.run(&add(&["w0.csv"]));
    folder.run(&["monitor", "north.store", "--like", "m.store", "--add", "w1.csv", "--quiet"]);
    folder.run(&["monitor", "m.store", "--export", "copy.store"]);
    folder.run(&["monitor", "m.store", "--add", "w1.csv", "--quiet"]);
    let run = folder.run(&["monitor", "copy.store", "--merge", "north.store"]);
    assert!(run.stderr.contains("1 files of `north.store` added"), "{run:?}");
    assert_eq!(said(&folder, "copy.store")["periods"], said(&folder, "m.store")["periods"]);
    let again = folder.run(&["monitor", "copy.store", "--merge", "north.store"]);
    assert!(again.stderr.contains("known already"), "{again:?}");
    // One file in common, and another beside it.
    folder.run(&["monitor", "north.store", "--add", "w2.csv", "--quiet"]);
    let refused = folder.refused(&["monitor", "copy.store", "--merge", "north.store"]);
    assert!(refused.contains("`w1.csv` is in this store and in `north.store`"), "{refused}");
    folder.run(&["monitor", "own.store", "--time", "when", "--period", "week", "--add", "w2.csv", "--quiet"]);
    let refused = folder.refused(&["monitor", "copy.store", "--merge", "own.store"]);
    assert!(refused.contains("a plan of its own") && refused.contains("--like"), "{refused}");
}

#[test]
fn moments_made_elsewhere_go_in() {
    let folder = folder(2, false);
    folder.run(&add(&["w0.csv"]));
    folder.run(&["monitor", "m.store", "--save-plan", "plan.json", "--quiet"]);
    folder.answered(&["moments", "w1.csv", "--posterior", "plan.json", "-o", "w1.moments", "--quiet"]);
    let refused = folder.refused(&["monitor", "m.store", "--add", "w1.moments"]);
    assert!(refused.contains("--into"), "{refused}");
    for into in ["banana", "2025-W54", "2025-01-13"] {
        let refused = folder.refused(&["monitor", "m.store", "--add", "w1.moments", "--into", into]);
        assert!(refused.contains(into) && refused.contains("such as 2026-W02"), "{refused}");
    }
    let refused = folder.refused(&["monitor", "m.store", "--add", "w1.csv", "--into", "2025-W03"]);
    assert!(refused.contains("`w1.csv` is a table"), "{refused}");
    folder.run(&["monitor", "m.store", "--add", "w1.moments", "--into", "2025-W03"]);
    let object = said(&folder, "m.store");
    assert_eq!(object["periods"][1]["rows"], 2_000);
    assert!(
        object["periods"][1]["risk"]["value"].is_number() && object["periods"][1]["error_rate"].is_null()
    );
    folder.answered(&["moments", "w1.csv", "-o", "other.moments", "--quiet"]);
    let refused = folder.refused(&["monitor", "m.store", "--add", "other.moments", "--into", "2025-W03"]);
    assert!(refused.contains("not of the store's plan"), "{refused}");
}

#[test]
fn rows_that_are_let_go_of_leave_their_answers() {
    let folder = folder(3, false);
    folder.run(&add(&["w0.csv", "w1.csv", "w2.csv"]));
    let before = said(&folder, "m.store");
    let run = folder.run(&["monitor", "m.store", "--keep-last", "1"]);
    assert!(run.stderr.contains("let go of the rows of 2 periods"), "{run:?}");
    assert_eq!(said(&folder, "m.store")["periods"], before["periods"]);
    // What is late for a period that is let go of would be all that is left of it.
    let late: String = week(&population().moved(0.1, 1), 0, 100);
    folder.write("late.csv", late);
    for addition in [["--add", "late.csv"].as_slice(), &["--labels", "late.csv", "--label", "truth"]] {
        let refused = folder.refused(&[&["monitor", "m.store"], addition].concat());
        assert!(refused.contains("has let go of the rows of 2025-W02"), "{refused}");
    }
    assert_eq!(said(&folder, "m.store")["periods"], before["periods"]);
    // Another level would take the rows.
    let other = folder.run(&["monitor", "m.store", "--level", "0.9", "--json", "--quiet"]);
    assert!(other.code < 2, "{other:?}");
}

#[test]
fn a_folder_is_followed() {
    let folder = folder(3, false);
    fs::create_dir(folder.path("in")).expect("a folder");
    fs::rename(folder.path("w0.csv"), folder.path("in/w0.csv")).expect("a move");
    let arguments = [
        "monitor",
        "m.store",
        "--follow",
        "in",
        "--time",
        "when",
        "--period",
        "week",
        "--prometheus",
        "p.prom",
    ];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_triview"))
        .current_dir(folder.path(""))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut wait_for = |period: &str| {
        let begun = Instant::now();
        while !fs::read_to_string(folder.path("p.prom")).is_ok_and(|text| text.contains(period)) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{period} never came");
            assert!(child.try_wait().expect("a state").is_none(), "it ended");
            sleep(Duration::from_millis(100));
        }
    };
    wait_for("2025-W02");
    fs::rename(folder.path("w1.csv"), folder.path("in/w1.csv")).expect("a move");
    wait_for("2025-W03");
    // A file that is still being written is left for later.
    let whole = folder.read("w2.csv");
    let mut growing = fs::File::create(folder.path("in/w2.csv")).expect("a file");
    for part in whole.as_bytes().chunks(whole.len() / 8 + 1) {
        growing.write_all(part).expect("room");
        sleep(Duration::from_millis(700));
    }
    wait_for("2025-W04");
    child.kill().expect("it runs");
    child.wait().expect("an end");
    let object = said(&folder, "m.store");
    assert_eq!((&object["files"], &object["periods"][2]["rows"]), (&3.into(), &2_000.into()));
}

#[test]
fn what_cannot_be_added_is_named_and_changes_nothing() {
    let folder = folder(2, false);
    let refused = |arguments: &[&str], parts: &[&str]| {
        let message = folder.refused(arguments);
        for part in parts {
            assert!(message.contains(part), "{arguments:?}: no `{part}` in: {message}");
        }
    };
    refused(&["monitor", "m.store"], &["there is no store `m.store` yet"]);
    refused(&["monitor", "m.store", "--add", "w0.csv"], &["--time COLUMN"]);
    refused(&["monitor", "m.store", "--add", "w0.csv", "--time", "when"], &["--period"]);
    refused(
        &["monitor", "m.store", "--add", "w0.csv", "--time", "wen", "--period", "week"],
        &["`wen`", "`w0.csv`"],
    );
    refused(
        &["monitor", "m.store", "--add", "none.csv", "--time", "when", "--period", "week"],
        &["`none.csv`"],
    );
    refused(
        &["monitor", "m.store", "--add", "-", "--time", "when", "--period", "week"],
        &["`-`", "give a file"],
    );
    for (name, time, parts) in
        [("soon.csv", "soon", ["row 3", "`soon`"]), ("blank.csv", "", ["row 3", "in no period"])]
    {
        let mut table = folder.table("w0.csv");
        table[3][0] = time.into();
        folder.write_table(name, &table);
        refused(&add(&[name]), &parts);
    }
    folder.run(&add(&["w0.csv"]));
    let mut fewer = folder.table("w1.csv");
    fewer.iter_mut().for_each(|row| drop(row.pop()));
    folder.write_table("fewer.csv", &fewer);
    refused(&["monitor", "m.store", "--add", "fewer.csv"], &["`fewer.csv`", "c:2"]);
    let mut renamed = folder.table("w1.csv");
    renamed[0].iter_mut().for_each(|name| *name = name.replace(":2", ":two"));
    folder.write_table("renamed.csv", &renamed);
    refused(&["monitor", "m.store", "--add", "renamed.csv"], &["`renamed.csv`", "a:2"]);
    let mut more = folder.table("w1.csv");
    more.iter_mut().for_each(|row| row.extend(row[3..].iter().step_by(3).cloned().collect::<Vec<_>>()));
    for (at, view) in ["a", "b", "c"].iter().enumerate() {
        more[0][12 + at] = format!("{view}:3");
    }
    folder.write_table("more.csv", &more);
    refused(&["monitor", "m.store", "--add", "more.csv"], &["`more.csv`", "3"]);
    refused(&["monitor", "m.store", "--add", "w1.csv", "--period", "day"], &["the period `week`", "`day`"]);
    refused(
        &["monitor", "m.store", "--add", "w1.csv", "--loss", "hinge"],
        &["of the log loss", "--loss hinge"],
    );
    refused(&["monitor", "m.store", "--add", "w1.csv", "--model", "a"], &["judges a, b, c", "--model a"]);
    refused(&["monitor", "m.store", "--limit", "accuracy>0.9"], &["accuracy>0.9", "error_rate>0.05"]);
    refused(&["monitor", "m.store", "--baseline", "2024-W01..2025-W02"], &["`2024-W01`", "2025-W02"]);
    refused(
        &["monitor", "m.store", "--labels", "w1.csv", "--label", "truth"],
        &["2025-W03", "add the rows first"],
    );
    refused(&["monitor", "m.store", "--csv", "m.store"], &["m.store"]);
    fs::create_dir(folder.path("folder")).expect("a folder");
    refused(&["monitor", "folder", "--add", "w0.csv"], &["`folder` is a folder"]);
    refused(
        &["monitor", "w1.csv", "--add", "w0.csv", "--time", "when", "--period", "week"],
        &["`w1.csv` is another file"],
    );
    // The version stands in the header of the file.
    let mut newer = fs::read(folder.path("m.store")).expect("a store");
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    folder.write("newer.store", newer);
    refused(&["monitor", "newer.store", "--add", "w1.csv"], &["version 99", "nothing was changed"]);
    let mut other = fs::read(folder.path("m.store")).expect("a store");
    other[68..72].copy_from_slice(&7_u32.to_be_bytes());
    folder.write("other.store", other);
    refused(&["monitor", "other.store"], &["`other.store` is another file"]);
}

#[cfg(unix)]
#[test]
fn a_store_that_is_read_only_is_shown_and_not_added_to() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = folder(2, false);
    folder.run(&add(&["w0.csv"]));
    let path = folder.path("m.store");
    let before = fs::read(&path).expect("a store");
    // Not every user may look into the folder that it was built in.
    let program = folder.path("triview");
    fs::copy(env!("CARGO_BIN_EXE_triview"), &program).expect("room");
    for (path, mode) in
        [(&path, 0o444), (&folder.path("w1.csv"), 0o444), (&program, 0o555), (&folder.path(""), 0o555)]
    {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its owner");
    }
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.current_dir(folder.path("")).args(arguments);
        // Permissions do not bind root, who asks as nobody.
        if fs::metadata(&path).expect("a store").uid() == 0 {
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), output.stdout)
    };
    let (code, said, shown) = run(&["monitor", "m.store", "--quiet"]);
    assert!(matches!(code, Some(0 | 1)) && String::from_utf8_lossy(&shown).contains("2025-W02"), "{said}");
    let (code, said, shown) = run(&["monitor", "m.store", "--add", "w1.csv"]);
    assert!(code == Some(2) && said.contains("can be read but not written") && shown.is_empty(), "{said}");
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).expect("its owner");
    assert_eq!(fs::read(&path).expect("a store"), before);
}

#[cfg(unix)]
#[test]
fn answers_of_another_version_are_made_again() {
    let folder = folder(1, false);
    folder.run(&add(&["w0.csv"]));
    let answer = || said(&folder, "m.store")["periods"].clone();
    let right = answer();
    let keep = |of_version: &dyn Fn(&str) -> String| {
        let mut store = Store::open(&folder.path("m.store")).expect("a store");
        let (place, (made_by, mut answer)) = store.answers().expect("answers").pop_first().expect("one");
        answer.risk = None;
        let mut adding = store.begin().expect("a transaction");
        adding.keep_answer(&place, &of_version(&made_by), &answer).expect("room");
        adding.commit().expect("room");
    };
    // What this version has made is shown as it was kept, and what another has made is not.
    keep(&str::to_owned);
    assert!(answer()[0]["risk"].is_null());
    keep(&|made_by| format!("0.0.0{}", &made_by[made_by.find(' ').expect("a version")..]));
    assert_eq!(answer(), right);
}

/// The clock of a machine is set back: files that were added in its future, and periods that are still to come.
#[cfg(unix)]
#[test]
fn a_clock_that_goes_backwards_makes_nothing_negative_and_nothing_over() {
    let folder = folder(3, false);
    folder.write("later.csv", week(&population(), 4_000, 2_000));
    folder.run(&add(&["w0.csv", "w1.csv", "w2.csv"]));
    let before = said(&folder, "m.store");
    let run = folder.run(&["monitor", "m.store", "--add", "later.csv"]);
    assert!(run.code < 2, "{run:?}");
    for (digest, added) in [([9; 16], 4_000_000_000), ([8; 16], i64::MAX), ([7; 16], i64::MIN)] {
        let mut store = Store::open(&folder.path("m.store")).expect("a store");
        let mut adding = store.begin().expect("nobody else");
        adding.add_file(&Added { digest, name: "later.csv".into(), rows: 0, added }).expect("room");
        adding.commit().expect("room");
        let run = folder.run(&["monitor", "m.store", "--prometheus", "p.prom"]);
        assert!(run.code < 2 && !run.stderr.contains("bug"), "{run:?}");
        assert!(folder.read("p.prom").contains("\ntriview_age_seconds 0\n"), "{}", folder.read("p.prom"));
    }
    let after = said(&folder, "m.store");
    let periods = |object: &Value| object["periods"].as_array().expect("periods").clone();
    let (before, after) = (periods(&before), periods(&after));
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after.last().expect("a period")["complete"], false);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((&before["risk"], &before["complete"]), (&after["risk"], &after["complete"]));
    }
}

#[test]
fn a_row_at_fault_is_named_by_its_place_in_the_file() {
    let folder = folder(3, false);
    let exponential = |file: &'static str| {
        ["monitor", "m.store", "--time", "when", "--period", "week", "--loss", "exponential", "--add", file]
    };
    folder.run(&exponential("w2.csv"));
    let mut rows = folder.table("w0.csv");
    rows.extend(folder.table("w1.csv").into_iter().skip(1));
    // Of the second period its five hundredth row, of the file another.
    rows[2_500][3] = "-2000".into();
    folder.write_table("both.csv", &rows);
    let said = folder.refused(&exponential("both.csv"));
    assert!(said.contains("`both.csv`, row 2500: the exponential loss of view `a`"), "{said}");
}
