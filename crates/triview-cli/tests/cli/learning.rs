//! Training, scoring and adapting: from tables of features to models and back.

use crate::support::{Folder, number};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use std::fmt::Write;

const CLASSES: [&str; 3] = ["ape", "bee", "cat"];

/// A table of three views of three features: class means plus noise; a shift stretches the later features, so that a model
/// of the features as they were gives them too much weight.
fn features(rows: usize, shift: f64, seed: u64) -> String {
    let normal = |rng: &mut Pcg64| -> f64 { StandardNormal.sample(rng) };
    let mut rng = Pcg64::seed_from_u64(5);
    let means: Vec<f64> = (0..27).map(|_| 1.5 * normal(&mut rng)).collect();
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut text = String::from("a:x,a:y,a:z,b:x,b:y,b:z,c:x,c:y,c:z,animal,note\n");
    for row in 0..rows {
        let class = row * 7 % 3;
        for cell in 0..9 {
            let x = means[class * 9 + cell] + normal(&mut rng);
            let _ = write!(text, "{:.4},", x * (1.0 + shift * (cell % 3) as f64));
        }
        let _ = writeln!(text, "{},-", CLASSES[class]);
    }
    text
}

/// A folder with an old domain, a new one, and a seed model.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("old.csv", features(600, 0.0, 1));
    folder.write("new.csv", features(3000, 4.0, 2));
    folder.answered(&["train", "old.csv", "--label", "animal", "-o", "seed.safetensors"]);
    folder
}

/// The log loss of a score table with labels.
fn true_risk(folder: &Folder, scores: &str) -> f64 {
    let table = folder.table(scores);
    let (names, rows) = table.split_first().expect("a header");
    let loss = |row: &Vec<String>| -> f64 {
        let sum = |class: &str| -> f64 {
            let cells = names.iter().zip(row).filter(|(name, _)| name.ends_with(&format!(":{class}")));
            cells.map(|(_, cell)| cell.parse::<f64>().expect("a score")).sum()
        };
        let label = row.last().expect("a label");
        CLASSES.map(|class| sum(class).exp()).iter().sum::<f64>().ln() - sum(label)
    };
    rows.iter().map(loss).sum::<f64>() / rows.len() as f64
}

#[test]
fn train_score_adapt() {
    let folder = folder();
    let asked = ["adapt", "new.csv", "--model", "seed.safetensors", "-o", "new.model", "--json"];
    let adapted = folder.json(&[&asked[..], &["--report", "new.html", "--svg", "new.svg"]].concat());
    let page = folder.read("new.html");
    assert!(
        page.contains("<h1>The adapted model is better") && page.contains("Nothing speaks against it"),
        "{page}"
    );
    assert!(folder.read("new.svg").contains("<title>The adapted model beside the seed</title>"));
    let taken = folder.refused(&[&asked[..], &["--report", "new.model"]].concat());
    assert!(taken.contains("would be overwritten"), "{taken}");
    assert_eq!((adapted["verdict"].as_str(), adapted["trusted"].as_bool()), (Some("improved"), Some(true)));
    assert!(number(&adapted, "gap") <= 0.001 && number(&adapted, "rows") == 3000.0);
    let risk = |model: &str| {
        folder.answered(&["score", "new.csv", "--model", model, "--label", "animal", "-o", "scores.csv"]);
        true_risk(&folder, "scores.csv")
    };
    let (before, after) = (risk("seed.safetensors"), risk("new.model"));
    assert!(after < 0.5 * before, "{before} {after}");
    assert_eq!(adapted["error_rate"], adapted["metrics"]["error_rate"]["value"]);
    assert!(
        number(&adapted, "error_rate") < number(&adapted["metrics"]["seed_error_rate"], "value"),
        "{adapted}"
    );
    let seed = &adapted["seed"];
    let z = (number(seed, "risk") - before) / number(seed, "standard_error");
    assert!(z.abs() < 3.3, "the seed's risk is {z} standard errors off");
    // What half of the rows made is no better than what all of them made.
    assert!(number(&adapted, "risk") > after - 3.3 * number(&adapted, "standard_error"), "{adapted} {after}");
    // A score table goes straight into the estimate.
    let run = folder.run(&["estimate", "scores.csv", "--json"]);
    let estimate: serde_json::Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    assert_eq!(estimate["classes"], serde_json::json!(CLASSES));
}

#[test]
fn other_columns_go_with_the_scores() {
    let folder = folder();
    let score = |keep: &[&str]| {
        folder.answered(
            &[["score", "old.csv", "--model", "seed.safetensors", "-o", "kept.csv"].as_slice(), keep]
                .concat(),
        );
        folder.table("kept.csv")
    };
    let others = |table: &[Vec<String>]| -> Vec<String> {
        table[0].iter().filter(|name| !name.contains(':')).cloned().collect()
    };
    let all = score(&[]);
    assert_eq!(others(&all), ["animal", "note"]);
    let at = all[0].iter().position(|name| name == "animal").expect("a column");
    assert!(all[1..].iter().enumerate().all(|(row, cells)| cells[at] == CLASSES[row * 7 % 3]));
    assert_eq!(others(&score(&["--keep", "note"])), ["note"]);
    let args = ["score", "old.csv", "--model", "seed.safetensors", "-o", "kept.csv", "--keep", "nota"];
    let message = folder.refused(&args);
    assert!(message.contains("nota") && message.contains("did you mean `note`"), "{message}");
}

#[test]
fn inspect_a_model() {
    let folder = folder();
    let contents = folder.json(&["inspect", "seed.safetensors", "--json"]);
    assert_eq!(contents["kind"], "model");
    assert_eq!(contents["features"], serde_json::json!({"a": 3, "b": 3, "c": 3}));
    assert_eq!(contents["classes"], serde_json::json!(CLASSES));
    let text = folder.answered(&["inspect", "seed.safetensors"]).stdout;
    assert!(text.contains("a (3 features), b (3 features)"), "{text}");
}

#[test]
fn text_and_exit_status() {
    let folder = folder();
    let adapt = |table: &str| {
        folder.run(&["adapt", table, "--model", "seed.safetensors", "--radius", "2", "-o", "adapted.model"])
    };
    let run = adapt("new.csv");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("The adapted model is better") && run.stdout.contains("risk, seed"),
        "{run:?}"
    );
    // On the old domain there is next to nothing to gain.
    folder.write("again.csv", features(1500, 0.0, 10));
    folder.write("old2.csv", features(1500, 0.0, 9));
    folder.answered(&[
        "train",
        "old2.csv",
        "--label",
        "animal",
        "--method",
        "lbfgs",
        "--penalty",
        "0.001",
        "-o",
        "seed.safetensors",
    ]);
    let before = std::fs::read(folder.path("adapted.model")).expect("a model");
    let run = adapt("again.csv");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("The adaptation failed") && run.stderr.contains("--force"), "{run:?}");
    // What is not better is not written.
    let read = || std::fs::read(folder.path("adapted.model")).expect("a model");
    assert_eq!(read(), before);
    let args = ["adapt", "again.csv", "--model", "seed.safetensors", "--radius", "2", "-o", "adapted.model"];
    assert_eq!(folder.run(&[&args[..], &["--force", "--report", "forced.html"]].concat()).code, 1);
    let page = folder.read("forced.html");
    assert!(page.contains("<h1>Keep the seed model") && page.contains("Not to be trusted"), "{page}");
    assert_ne!(read(), before);
    // Without a judgement there is none.
    let args = ["adapt", "new.csv", "--model", "seed.safetensors", "--radius", "2", "--no-judgement"];
    let run = folder
        .answered(&[&args[..], &["-o", "fast.model", "--report", "fast.html", "--svg", "no.svg"]].concat());
    assert!(!run.stdout.contains("risk"), "{run:?}");
    assert!(run.stderr.contains("there is nothing to draw in `no.svg`") && !folder.path("no.svg").exists());
    let page = folder.read("fast.html");
    assert!(page.contains("<h1>The adapted model was not judged") && page.contains("Untested"), "{page}");
}

#[test]
fn a_few_labels_of_the_new_domain_are_used() {
    let folder = folder();
    let mut table = folder.table("new.csv");
    let label = table[0].len() - 2;
    for row in table.iter_mut().skip(501) {
        row[label].clear();
    }
    folder.write_table("some.csv", &table);
    let args = ["adapt", "some.csv", "--model", "seed.safetensors", "--radius", "2", "--no-judgement"];
    folder.answered(&[args.as_slice(), &["-o", "without.model"]].concat());
    folder.answered(&[args.as_slice(), &["--label", "animal", "-o", "with.model"]].concat());
    let read = |name: &str| std::fs::read(folder.path(name)).expect("a model");
    assert_ne!(read("without.model"), read("with.model"));
    folder.answered(&["score", "new.csv", "--model", "with.model", "--label", "animal", "-o", "scores.csv"]);
    let with = true_risk(&folder, "scores.csv");
    folder.answered(&[
        "score",
        "new.csv",
        "--model",
        "seed.safetensors",
        "--label",
        "animal",
        "-o",
        "scores.csv",
    ]);
    assert!(with < 0.5 * true_risk(&folder, "scores.csv"), "{with}");
}

#[test]
fn labels_of_the_old_domain_are_used() {
    let folder = folder();
    let args = ["adapt", "new.csv", "--model", "seed.safetensors", "-o", "with.model"];
    let source = ["--source", "old.csv", "--source-label", "animal"];
    let adapted = folder.json(&[args.as_slice(), &source, &["--json"]].concat());
    assert!((0.0..1.0).contains(&number(&adapted, "source_weight")), "{adapted}");
    assert_eq!(adapted["verdict"], "improved");
    let text = folder.answered(&[args.as_slice(), &source, &["--source-weight", "0.3"]].concat()).stdout;
    assert!(
        text.lines().any(|line| line.starts_with("weight of the source") && line.ends_with("0.3")),
        "{text}"
    );
    let refused = |source: &[&str]| folder.refused(&[args.as_slice(), source].concat());
    let message = refused(&[source.as_slice(), &["--source-weight", "1"]].concat());
    assert!(message.contains("weight of the source is 1: a number from 0 to less than 1"), "{message}");
    assert!(refused(&source[..2]).contains("--source-label"), "{}", refused(&source[..2]));
    let mut table = folder.table("old.csv");
    table[3][9] = "dog".into();
    folder.write_table("dog.csv", &table);
    let message = refused(&["--source", "dog.csv", "--source-label", "animal"]);
    assert!(
        message.contains("`dog.csv`, row 3: the label is `dog`, which is no class of the model"),
        "{message}"
    );
    table[0][1] = "a:why".into();
    folder.write_table("why.csv", &table);
    let message = refused(&["--source", "why.csv", "--source-label", "animal"]);
    assert!(message.contains("`why.csv` lacks feature `y` of view `a`"), "{message}");
    table[0][1] = "a:y".into();
    table.iter_mut().skip(1).for_each(|row| row[9].clear());
    folder.write_table("none.csv", &table);
    let message = refused(&["--source", "none.csv", "--source-label", "animal"]);
    assert!(message.contains("labelled rows of the source is 0"), "{message}");
}

#[test]
fn other_losses() {
    let folder = folder();
    let adapt = |loss: &'static str| {
        ["adapt", "new.csv", "--model", "seed.safetensors", "--loss", loss, "-o", "out.model"]
    };
    let adapted = folder.json(&[adapt("hinge").as_slice(), &["--json"]].concat());
    assert_eq!((adapted["loss"].as_str(), adapted["verdict"].as_str()), (Some("hinge"), Some("improved")));
    assert!(adapted.get("gap").is_none(), "{adapted}");
    for (loss, message) in
        [("zero-one", "this loss has no slopes"), ("squared", "there is no loss `squared`")]
    {
        let found = folder.refused(&adapt(loss));
        assert!(found.contains(message), "{found}");
    }
}

/// What is said of a table that has been changed, with the seed model.
fn changed(change: impl FnOnce(&mut Vec<Vec<String>>)) -> String {
    let folder = folder();
    let mut table = folder.table("new.csv");
    change(&mut table);
    folder.write_table("new.csv", &table);
    let args = ["new.csv", "--model", "seed.safetensors", "--label", "animal", "-o", "out.csv"];
    let scored = folder.refused(&[["score"].as_slice(), &args].concat());
    assert_eq!(scored, folder.refused(&[["adapt"].as_slice(), &args].concat()));
    scored
}

#[test]
fn features_that_differ_are_named() {
    let message = changed(|table| table[0][1] = "a:why".into());
    assert!(
        message.contains("`new.csv` lacks feature `y` of view `a`, which model `seed.safetensors` has"),
        "{message}"
    );
    let message = changed(|table| table[0][10] = "b:extra".into());
    assert!(message.contains("has feature `extra` of view `b`, which model"), "{message}");
    let message = changed(|table| (0..3).for_each(|at| table[0][at] = table[0][at].replace("a:", "ear:")));
    assert!(message.contains("has no view `a`"), "{message}");
    let message = changed(|table| table[7][4].clear());
    assert!(message.contains("row 7, column `b:y`: the value is missing"), "{message}");
    let message = changed(|table| table[7][3..6].iter_mut().for_each(String::clear));
    assert!(message.contains("row 7, column `b:x`: the value is missing"), "{message}");
    let message = changed(|table| table[9][0] = "1e60".into());
    assert!(message.contains("row 9, column `a:x`") && message.contains("inf"), "{message}");
    let message = changed(|table| table[5][9] = "dog".into());
    assert!(message.contains("row 5: the label is `dog`, which is no class of the model"), "{message}");
}

#[test]
fn models_that_cannot_be_used() {
    let folder = folder();
    let refused = || folder.refused(&["adapt", "new.csv", "--model", "seed.safetensors", "-o", "out.model"]);
    let model = std::fs::read(folder.path("seed.safetensors")).expect("a model");
    folder.truncate("seed.safetensors", |length| length / 2);
    assert!(refused().contains("seed.safetensors"), "{}", refused());
    folder.truncate("seed.safetensors", |_| 0);
    assert!(refused().contains("it is empty"), "{}", refused());
    // The last eight bytes are a parameter.
    let mut broken = model.clone();
    let end = broken.len();
    broken[end - 8..].copy_from_slice(&f64::NAN.to_le_bytes());
    folder.write("seed.safetensors", &broken);
    assert!(refused().contains("holds NaN: train the model again"), "{}", refused());
    folder.write("seed.safetensors", "a,b\n1,2\n");
    assert!(refused().contains("not in the safetensors format"), "{}", refused());
    folder.write("seed.safetensors", &model);
    folder.answered(&["simulate", "--rows", "500", "-o", "scores.csv"]);
    folder.answered(&["moments", "scores.csv", "-o", "seed.safetensors"]);
    assert!(refused().contains("it is something else"), "{}", refused());
}

#[test]
fn questions_without_an_answer() {
    let folder = folder();
    let adapt = |args: &[&str]| {
        folder.refused(&[["adapt", "new.csv", "--model", "seed.safetensors"].as_slice(), args].concat())
    };
    assert!(
        adapt(&["--radius", "0", "-o", "out.model"]).contains("radius is 0: the ball of parameters needs")
    );
    assert!(adapt(&["--no-judgement", "-o", "out.model"]).contains("radius is not given"));
    assert!(adapt(&["-o", "new.csv"]).contains("would be overwritten"));
    assert!(adapt(&["-o", "seed.safetensors"]).contains("would be overwritten"));
    let train = |label: &str| folder.refused(&["train", "old.csv", "--label", label, "-o", "out.model"]);
    assert!(train("note").contains("holds 1 different label(s)"), "{}", train("note"));
    assert!(train("animals").contains("did you mean `animal`?"), "{}", train("animals"));
    assert!(train("a:x").contains("a:x"), "{}", train("a:x"));
    let step = folder.refused(&["train", "old.csv", "--label", "animal", "--step", "0", "-o", "out.model"]);
    assert!(step.contains("step is 0"), "{step}");
}

#[test]
fn reproduction_needs_mnist() {
    let folder = Folder::new();
    let message = folder.refused(&["reproduce", "--mnist", "nowhere"]);
    assert!(message.contains("scripts/mnist.sh obtains MNIST"), "{message}");
}

/// The embedded digits in the files of MNIST, the first thousand to train on.
fn digits_as_mnist(folder: &Folder) {
    let records: Vec<&[u8]> = include_bytes!("../../../../data/digits/digits.bin").chunks_exact(65).collect();
    for (part, records) in [("train", &records[..1000]), ("t10k", &records[1000..])] {
        let word = |number: usize| (number as u32).to_be_bytes();
        let mut images = [[0, 0, 8, 3], word(records.len()), word(8), word(8)].concat();
        let mut labels = [[0, 0, 8, 1], word(records.len())].concat();
        for record in records {
            images.extend(record[..64].iter().map(|pixel| pixel * 15));
            labels.push(record[64]);
        }
        folder.write(&format!("{part}-images-idx3-ubyte"), images);
        folder.write(&format!("{part}-labels-idx1-ubyte"), labels);
    }
}

#[test]
fn a_quick_reproduction() {
    let folder = Folder::new();
    digits_as_mnist(&folder);
    let run = folder.answered(&["reproduce", "--mnist", ".", "--quick", "-o", "figures"]);
    for name in ["images.svg", "figure-a.svg", "figure-b.svg", "figure-c.svg"] {
        assert!(run.stdout.contains(name), "{run:?}");
        assert!(folder.read(&format!("figures/{name}")).starts_with("<svg"), "{name}");
    }
    let risks = folder.table("figures/figure-a.csv");
    assert_eq!((risks.len(), risks[1][0].as_str(), risks[2][0].as_str()), (3, "0", "4"));
    // At distortion 4, from 4,000 rows: the adapted model is better than its seed on rows that nothing has seen.
    let adapted = folder.table("figures/figure-b.csv");
    let cell = |name: &str| -> f64 {
        let at = adapted[0].iter().position(|column| column == name).expect("a column");
        adapted[2][at].parse().expect("a number")
    };
    assert!(cell("adapted_fresh") < cell("seed_fresh"), "{adapted:?}");
    assert!(cell("matching_gap_low") > 0.0);
}

#[test]
fn a_model_that_overflows_is_said_of_the_row_in_its_file() {
    let folder = folder();
    let rows = |count: usize, last: &str| {
        let rows = "1,2,3,1,2,3,1,2,3,bee,-\n".repeat(count);
        format!("a:x,a:y,a:z,b:x,b:y,b:z,c:x,c:y,c:z,animal,note\n{rows}{last}")
    };
    folder.write("one.csv", rows(20_000, ""));
    folder.write("two.csv", rows(30_000, "1,2,3,3e38,3e38,3e38,1,2,3,bee,-\n"));
    // Weights that are numbers, and products of them that are none.
    let model = std::fs::read(folder.path("seed.safetensors")).expect("a model");
    let (length, rest) = model.split_at(8);
    let end = usize::try_from(u64::from_le_bytes(length.try_into().expect("eight bytes"))).expect("few");
    let (header, numbers) = rest.split_at(end);
    let scaled = numbers.chunks_exact(8).flat_map(|number| {
        let number = f64::from_le_bytes(number.try_into().expect("eight bytes"));
        (number.signum() * 1e300).to_le_bytes()
    });
    folder.write("huge.safetensors", [length, header, &scaled.collect::<Vec<u8>>()].concat());
    let said = folder.refused(&["score", "one.csv", "two.csv", "--model", "huge.safetensors", "-o", "s.csv"]);
    assert!(
        said.contains("`two.csv`, row 30001: model `huge.safetensors` gives view `b` the score"),
        "{said}"
    );
    assert!(said.contains("for class `"), "{said}");
    let said = folder.refused(&[
        "adapt",
        "one.csv",
        "two.csv",
        "--model",
        "huge.safetensors",
        "-o",
        "m.safetensors",
    ]);
    assert!(said.contains("`two.csv`, row 30001: model `huge.safetensors` gives view `b`"), "{said}");
}

#[test]
fn features_too_large_for_a_model_are_called_that() {
    let folder = folder();
    for large in ["1e308", "-1e39"] {
        let table = folder.read("new.csv").replacen('\n', &format!("\n{large},0,0,0,0,0,0,0,0,bee,-\n"), 1);
        folder.write("large.csv", table);
        for arguments in [
            &["train", "large.csv", "--label", "animal", "-o", "m.safetensors"][..],
            &["score", "large.csv", "--model", "seed.safetensors", "-o", "s.csv"],
            &["adapt", "large.csv", "--model", "seed.safetensors", "-o", "m.safetensors"],
        ] {
            let said = folder.refused(arguments);
            assert!(said.contains("`large.csv`, row 1, column `a:x`") && said.contains("3.4e38"), "{said}");
        }
    }
    // Just small enough to be read: an answer or an error in words, and no word of a bug.
    let table =
        folder.read("new.csv").replacen('\n', "\n3e38,-3e38,3e38,3e38,3e38,-3e38,3e38,3e38,3e38,bee,-\n", 1);
    folder.write("large.csv", table);
    for arguments in [
        &["train", "large.csv", "--label", "animal", "-o", "m.safetensors"][..],
        &["adapt", "large.csv", "--model", "seed.safetensors", "-o", "m.safetensors"],
    ] {
        let run = folder.run(arguments);
        assert!(!run.stderr.contains("internal") && !run.stderr.contains("bug"), "{arguments:?}: {run:?}");
    }
}
