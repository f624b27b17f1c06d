//! Four tasks as somebody does them who knows the README alone: no command is refused but the first of each, and that one says
//! what to type instead.

use crate::support::Folder;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use std::fmt::Write;

/// Weekly risk of three scikit-learn models, from a semicolon CSV of probabilities whose columns are named `model_class`.
#[test]
fn weekly_risk_of_three_models() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "9000", "--seed", "3", "-o", "scores.csv"]);
    let models = ["logreg", "forest", "naive_bayes"];
    let header =
        models.iter().flat_map(|model| ["cat", "dog", "hen"].map(|class| format!("{model}_{class}")));
    let mut text = format!("id;date;{}\n", header.collect::<Vec<_>>().join(";"));
    for (row, cells) in folder.table("scores.csv").iter().enumerate().skip(1) {
        let _ = write!(text, "{row};2026-03-{:02}", 2 + row / 450);
        for view in cells[..9].chunks(3) {
            let scores = view.iter().map(|cell| cell.parse::<f64>().expect("a score").exp());
            let sum: f64 = scores.clone().sum();
            scores.for_each(|score| {
                let _ = write!(text, ";{:.9}", score / sum);
            });
        }
        text.push('\n');
    }
    folder.write("predictions.csv", text);

    let first = folder.refused(&[
        "estimate",
        "predictions.csv",
        "--input",
        "probability",
        "--by",
        "date",
        "--period",
        "week",
    ]);
    assert!(first.contains("--columns '{view}_{class}'"), "{first}");
    let asked = ["estimate", "predictions.csv", "--columns", "{view}_{class}", "--input", "probability"];
    let weeks = folder.answered(&[&asked[..], &["--by", "date", "--period", "week"]].concat()).stdout;
    for week in ["2026-W10", "2026-W11", "2026-W12"] {
        assert!(weeks.contains(week), "{weeks}");
    }
    assert!(weeks.contains("naive_ba"), "{weeks}");
}

/// The labels of a crowd, from a table of task, worker and label.
#[test]
fn a_crowd() {
    let folder = Folder::new();
    let crowd =
        ["simulate", "--crowd", "--classes", "3", "--rows", "1500", "--annotators", "25", "--seed", "4"];
    folder.answered(&[&crowd[..], &["-o", "votes.csv"]].concat());
    let votes = folder.read("votes.csv");
    let (header, rows) = votes.split_once('\n').expect("a header");
    assert_eq!(header, "item,annotator,vote,truth");
    let mut crowd = String::from("task,worker,label\n");
    for row in rows.lines() {
        let (votes, _truth) = row.rsplit_once(',').expect("a truth");
        let _ = writeln!(crowd, "{votes}");
    }
    folder.write("crowd.csv", crowd);

    let first = folder.refused(&["estimate", "crowd.csv"]);
    assert!(first.contains("--votes"), "{first}");
    let asked = folder.run(&["estimate", "crowd.csv", "--votes"]);
    assert!(asked.code < 2 && asked.stdout.contains("error rate"), "{asked:?}");
    let labelled = folder.run(&["label", "--votes", "crowd.csv", "-o", "labels.csv"]);
    assert!(labelled.code < 2, "{labelled:?}");
    assert_eq!(folder.table("labels.csv").len(), 1501);
}

/// Adaptation of a linear model of one's own. How it is written from Python is in docs/model-file.md, which
/// `scripts/check_model_file.py` runs.
#[test]
fn a_linear_model_of_ones_own() {
    let features = |rows: usize, shift: f64, seed: u64| {
        let normal = |rng: &mut Pcg64| -> f64 { StandardNormal.sample(rng) };
        let mut rng = Pcg64::seed_from_u64(5);
        let means: Vec<f64> = (0..27).map(|_| 1.5 * normal(&mut rng)).collect();
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut text = String::from("a:x;a:y;a:z;b:x;b:y;b:z;c:x;c:y;c:z;animal;id\n");
        for row in 0..rows {
            let class = row * 7 % 3;
            for cell in 0..9 {
                let x = means[class * 9 + cell] + normal(&mut rng);
                let _ = write!(text, "{:.4};", x * (1.0 + shift * (cell % 3) as f64));
            }
            let _ = writeln!(text, "{};{row}", ["ape", "bee", "cat"][class]);
        }
        text
    };
    let folder = Folder::new();
    folder.write("old.csv", features(600, 0.0, 1));
    folder.write("new.csv", features(3000, 4.0, 2));
    folder.answered(&["train", "old.csv", "--label", "animal", "-o", "own.safetensors"]);

    let first = folder.refused(&["adapt", "new.csv", "-o", "adapted.safetensors"]);
    assert!(first.contains("--model <MODEL>"), "{first}");
    folder.answered(&["adapt", "new.csv", "--model", "own.safetensors", "-o", "adapted.safetensors"]);
    folder.answered(&["score", "new.csv", "--model", "adapted.safetensors", "-o", "scores.csv"]);
    assert_eq!(folder.table("scores.csv")[0][..3], ["animal", "id", "a:ape"]);
    let risk = folder.run(&["estimate", "scores.csv"]);
    assert!(risk.code < 2 && risk.stdout.contains("risk"), "{risk:?}");
}

/// Vecs of one's own in Rust: the README's block, which the documentation tests of `triview-table` compile and run as it stands.
#[test]
fn vecs_of_ones_own() {
    let readme = include_str!("../../../../README.md");
    let block = readme.split("```rust").nth(1).expect("a block");
    for line in ["Batch::from_views(", "Params::new().check()?.estimate(", "estimate.risk"] {
        assert!(block.contains(line), "{line}");
    }
}
