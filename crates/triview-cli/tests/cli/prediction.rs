//! `--prediction`: the output of another model, which rides along with the rows, and the prediction that would be better.

use crate::support::{Folder, number, uniform};

/// A folder with 8,000 rows of three classes, the average of the views' probabilities in columns `p:0` to `p:2`, and what does not matter beside them.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--preset", "three", "--rows", "8000", "--seed", "4", "-o", "scores.csv"]);
    let mut table = folder.table("scores.csv");
    for (row, cells) in table.iter_mut().enumerate() {
        if row == 0 {
            cells.extend(["p:2", "p:0", "p:1", "site"].map(str::to_owned));
            continue;
        }
        let mut average = [0.0; 3];
        for view in cells[..9].chunks(3) {
            let of_class: Vec<f64> =
                view.iter().map(|cell| cell.parse::<f64>().expect("a score").exp()).collect();
            let sum: f64 = of_class.iter().sum();
            average.iter_mut().zip(&of_class).for_each(|(average, p)| *average += p / sum / 3.0);
        }
        cells.extend([2, 0, 1].map(|class: usize| format!("{:.6}", average[class])));
        cells.push(["north", "south"][row % 2].to_owned());
    }
    folder.write_table("scores.csv", &table);
    folder
}

/// How often the average is wrong, and its mean log loss.
fn truth(folder: &Folder) -> [f64; 2] {
    let table = folder.table("scores.csv");
    let at = |name: &str| table[0].iter().position(|column| column == name).expect("a column");
    let (columns, label) = (["p:0", "p:1", "p:2"].map(at), at("label"));
    let (mut wrong, mut loss) = (0.0, 0.0);
    for row in &table[1..] {
        let p = columns.map(|at| row[at].parse::<f64>().expect("a probability"));
        let class: usize = row[label].parse().expect("a class");
        wrong += f64::from(u8::from(p.iter().any(|other| *other > p[class])));
        loss -= p[class].ln();
    }
    [wrong, loss].map(|sum| sum / (table.len() - 1) as f64)
}

#[test]
fn a_model_that_is_no_sum_of_views_is_judged() {
    let folder = folder();
    let asked = ["estimate", "scores.csv", "--prediction", "p:*", "--quiet"];
    let object = folder.json(&[&asked[..], &["--json"]].concat());
    assert_eq!(object["views"], serde_json::json!(["a", "b", "c"]));
    let own = &object["prediction"];
    for (key, truth) in ["error_rate", "log_loss"].into_iter().zip(truth(&folder)) {
        let off = number(&own[key], "value") - truth;
        // Four standard errors, once in many thousand times.
        assert!(off.abs() < 4.0 * number(&own[key], "standard_error"), "{key}: {truth} {own}");
    }
    for key in ["error_rate", "log_loss", "brier", "calibration_error", "auc"] {
        let metric = &own[key];
        assert!(
            metric["triples"]["value"].is_number() && metric["posterior"]["value"].is_number(),
            "{metric}"
        );
        assert!(metric["interval"]["low"].is_number() && metric["disagree"].is_boolean(), "{metric}");
    }
    // The answer about the views is what it is without it.
    let plain = folder.json(&["estimate", "scores.csv", "--views", "a,b,c", "--json", "--quiet"]);
    assert_eq!((&plain["risk"], plain.get("prediction")), (&object["risk"], None));
    let text = folder.run(&[&asked[..], &["--report", "page.html"]].concat()).stdout;
    assert!(text.contains("prediction") && text.contains("by labels") && text.contains("log loss"), "{text}");
    assert!(folder.read("page.html").contains("The prediction that rides along"));
}

#[test]
fn a_prediction_and_every_view_are_judged_by_segment() {
    let folder = folder();
    let asked = ["estimate", "scores.csv", "--prediction", "p:*", "--each", "--by", "site", "--quiet"];
    let object = folder.json(&[&asked[..], &["--json"]].concat());
    let segments = object["by"]["segments"].as_array().expect("segments");
    assert_eq!(segments.len(), 2);
    for segment in segments {
        assert!(segment["prediction"]["error_rate"]["value"].is_number(), "{segment}");
        assert_eq!(segment["each"].as_array().map(Vec::len), Some(3), "{segment}");
        assert_eq!(segment["differences"].as_array().map(Vec::len), Some(3), "{segment}");
    }
    let text = folder.run(&[&asked[..], &["--report", "page.html"]].concat()).stdout;
    let (_, alone) = text.split_once("error rates of one model alone").expect("a table");
    assert!(alone.contains("site") && alone.contains("south") && alone.contains("prediction"), "{text}");
    assert!(folder.read("page.html").contains("One model alone, segment by segment"));
    // Without being asked there is no such table.
    let text = folder.run(&["estimate", "scores.csv", "--views", "a,b,c", "--by", "site", "--quiet"]).stdout;
    assert!(!text.contains("error rates of one model alone"), "{text}");
}

#[test]
fn what_is_no_prediction_is_refused() {
    let folder = folder();
    let refused = |more: &[&str]| folder.refused(&[&["estimate", "scores.csv", "--quiet"], more].concat());
    for (pattern, expected) in [
        ("p", "one `*`"),
        ("q:*", "no column that is named like the prediction, `q:*`; there are `a:0`"),
        ("a:*", "`a:*` are the prediction, which is never a view, and view `a`"),
    ] {
        // With two views and the prediction alone there is one view too few.
        let said = match pattern {
            "a:*" => refused(&["--prediction", pattern, "--views", "a,b,c"]),
            _ => refused(&["--prediction", pattern]),
        };
        assert!(said.contains(expected), "{pattern}: {said}");
    }
    folder.answered(&["moments", "scores.csv", "--views", "a,b,c", "-o", "scores.moments", "--quiet"]);
    let said = folder.refused(&["estimate", "scores.moments", "--prediction", "p:*"]);
    assert!(said.contains("--prediction needs rows"), "{said}");
    let table = folder.table("scores.csv");
    let at = |name: &str| table[0].iter().position(|column| column == name).expect("a column");
    let changed = |row: usize, column: &str, text: &str| {
        let mut changed = table.clone();
        changed[row][at(column)] = text.to_owned();
        folder.write_table("changed.csv", &changed);
        folder.refused(&["estimate", "changed.csv", "--prediction", "p:*", "--quiet"])
    };
    let said = changed(0, "p:1", "p:9");
    assert!(
        said.contains("has no column `p:1`: did you mean `p:9`?") && said.contains("`0`, `1`, `2`"),
        "{said}"
    );
    let said = changed(0, "site", "p:9");
    assert!(said.contains("`changed.csv`"), "{said}");
    let said = changed(3, "p:1", "1.5");
    assert!(
        said.contains("row 3: the prediction ")
            && said.contains("1.5")
            && said.contains("is no probabilities"),
        "{said}"
    );
    let said = changed(5_000, "p:1", "");
    assert!(said.contains("row 5000, column `p:") && said.contains("missing"), "{said}");
    let mut wide = table;
    let site = wide[0].iter().position(|name| name == "site").expect("a column");
    wide.iter_mut()
        .enumerate()
        .for_each(|(row, cells)| cells[site] = if row == 0 { "p:9".into() } else { "0".into() });
    folder.write_table("wide.csv", &wide);
    let said = folder.refused(&["estimate", "wide.csv", "--prediction", "p:*", "--quiet"]);
    assert!(
        said.contains("has a column `p:9`") && said.contains("one column for each class of the views"),
        "{said}"
    );
}

#[test]
fn a_model_is_judged_by_a_few_labels_too() {
    let folder = folder();
    let mut table = folder.table("scores.csv");
    let at = table[0].iter().position(|name| name == "label").expect("a column");
    let of_rows: Vec<String> = table[1..].iter().map(|row| row[at].clone()).collect();
    let column = |name: &str| table[0].iter().position(|other| other == name).expect("a column");
    let own = ["b:0", "b:1", "b:2"].map(column);
    let wrong = table[1..].iter().zip(&of_rows).filter(|(row, label)| {
        let score = |class: usize| row[own[class]].parse::<f64>().expect("a score");
        let label: usize = label.parse().expect("a class");
        (0..3).any(|class| score(class) > score(label))
    });
    let truth = wrong.count() as f64 / of_rows.len() as f64;
    table.iter_mut().skip(1).enumerate().filter(|(row, _)| row % 20 > 0).for_each(|(_, row)| row[at].clear());
    folder.write_table("few.csv", &table);
    let asked =
        ["estimate", "few.csv", "--views", "a,b,c", "--label", "label", "--model", "b", "--json", "--quiet"];
    let object = folder.json(&asked);
    assert_eq!(object["model"], serde_json::json!(["b"]));
    let ends = &object["error_rate_interval"];
    let error = (number(ends, "high") - number(ends, "low")) / 4.0;
    assert!((number(&object, "error_rate") - truth).abs() < 4.0 * error, "{truth} {ends}");
    // All three together are wrong less often, which the same labels say too.
    let all =
        folder.json(&["estimate", "few.csv", "--views", "a,b,c", "--label", "label", "--json", "--quiet"]);
    assert!(number(&all, "error_rate") < number(&object, "error_rate") - error, "{all}");
}

#[test]
fn a_better_prediction_is_said() {
    let folder = Folder::new();
    let mut uniform = uniform();
    // Three calibrated classifiers: each counts the prior of a tenth, and their product counts it three times.
    let mut lines = vec!["a:no,a:yes,b:no,b:yes,c:no,c:yes".to_owned()];
    let mut wrong = [0.0; 2];
    for _ in 0..12_000 {
        let yes = uniform() < 0.1;
        let mut sums = [0.0; 2];
        let mut cells = Vec::new();
        for _ in 0..3 {
            let noise = (0..12).map(|_| uniform() - 0.5).sum::<f64>();
            let log_odds = 2.5 * (noise + if yes { 1.25 } else { -1.25 });
            let posterior = log_odds - 9.0_f64.ln();
            sums[0] += posterior;
            sums[1] += log_odds;
            let p = 1.0 / (1.0 + (-posterior).exp());
            cells.extend([format!("{:.9}", 1.0 - p), format!("{p:.9}")]);
        }
        wrong[0] += f64::from(u8::from((sums[0] > 0.0) != yes)) / 12_000.0;
        wrong[1] += f64::from(u8::from((sums[1] > 9.0_f64.ln()) != yes)) / 12_000.0;
        lines.push(cells.join(","));
    }
    folder.write("scores.csv", lines.join("\n") + "\n");
    let asked = ["estimate", "scores.csv", "--input", "probability", "--quiet"];
    let object = folder.json(&[&asked[..], &["--json"]].concat());
    let better = &object["better_prediction"];
    for (key, truth) in [("own", wrong[0]), ("error_rate", wrong[1])] {
        let off = number(&better[key], "value") - truth;
        assert!(off.abs() < 4.0 * number(&better[key], "standard_error"), "{key}: {truth} {better}");
    }
    assert!(number(&better["difference"], "value") > 0.0);
    let text = folder.run(&[&asked[..], &["--report", "page.html"]].concat()).stdout;
    assert!(text.contains("all views together make likeliest"), "{text}");
    assert!(folder.read("page.html").contains("all views together make likeliest"));
    // One model of the three has nothing to be multiplied with.
    let one = folder.json(&[&asked[..], &["--model", "a", "--json"]].concat());
    assert_eq!(one.get("better_prediction"), None);
}
