//! `triview demo`.

use crate::support::{Folder, number, without_numbers};

#[test]
fn text_and_picture() {
    let folder = Folder::new();
    let run = folder.answered(&["demo"]);
    insta::assert_snapshot!(without_numbers(&run.stdout));
    let svg = folder.read("triview-demo.svg");
    for curve in ["true risk", "estimate", "validation risk", "predictive entropy"] {
        assert!(svg.contains(curve), "{curve}");
    }
    assert!(svg.contains("<title>") && svg.contains("<desc>"));
    let page = folder.read("triview-demo.html");
    assert!(
        page.contains("<svg") && page.contains("predictive entropy") && page.contains("triview demo</dd>"),
        "{page}"
    );
}

#[test]
fn the_estimate_follows_the_truth_where_the_others_do_not() {
    let folder = Folder::new();
    let object = folder.json(&["demo", "--json", "--svg", "curves.svg", "--report", "curves.html"]);
    assert!(folder.path("curves.svg").exists() && !folder.path("triview-demo.svg").exists());
    assert!(folder.path("curves.html").exists() && !folder.path("triview-demo.html").exists());
    let steps = object["steps"].as_array().expect("an array");
    assert_eq!(steps.len(), 11);
    for step in steps {
        let off = number(step, "estimate") - number(step, "true_risk");
        // The estimate's target is the rows' own risk; the labelled error is allowed for beside its own.
        let allowed = 4.0 * number(step, "standard_error").hypot(number(step, "true_standard_error"));
        assert!(off.abs() < allowed, "off by {off} where {allowed} is allowed: {step}");
    }
    let last = &steps[10];
    let truth = number(last, "true_risk");
    assert!(
        number(last, "validation_risk") < 0.1 * truth && number(last, "predictive_entropy") < 0.1 * truth
    );
}
