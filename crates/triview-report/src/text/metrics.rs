//! The text of the metrics of the whole prediction.

use super::number::{column, count, plain, with_error};
use super::table::{Align, WIDTH, aligned, name, wrapped};
use triview::estimator::Estimate;
use triview::metrics::{Measured, Metric, Metrics};

/// Up to this many classes the confusion matrix is shown.
const CONFUSION_CLASSES: usize = 10;
/// Room for the name of a class in the confusion matrix.
const CLASS_WIDTH: usize = 7;

/// The metrics in every way that they are estimated, the errors of the views, and the confusion matrix.
pub fn metrics(estimate: &Estimate, metrics: &Metrics) -> String {
    let mut parts = vec![table(metrics)];
    for metric in metrics.all().into_iter().filter(|metric| metric.disagree) {
        let words = format!(
            "{}: triples and posterior disagree beyond their errors; the posterior is not right there",
            metric.name
        );
        parts.push(wrapped(&words, WIDTH, 2));
    }
    parts.extend(of_two_classes(estimate, metrics));
    parts.push(views(estimate, metrics));
    if estimate.classes.len() <= CONFUSION_CLASSES {
        parts.push(confusion(estimate, metrics));
    }
    parts.join("\n\n") + "\n"
}

/// One line a metric.
fn table(metrics: &Metrics) -> String {
    let mut rows = vec![
        ["whole prediction", "estimate", "by triples", "by the posterior", "the model's belief"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(metrics.all().into_iter().map(|metric: &Metric| {
        let [estimate, triples, posterior] = [&metric.estimate, &metric.triples, &metric.posterior]
            .map(|measured| with_error(measured.value, measured.standard_error));
        // A model believes itself calibrated, but for rounding.
        let belief = if metric.belief.abs() < 1e-12 { 0.0 } else { metric.belief };
        vec![metric.name.to_owned(), estimate, triples, posterior, plain(belief)]
    }));
    let mut align = vec![Align::Right; 5];
    align[0] = Align::Left;
    let (rows_of, mass) = (count(metrics.rows as u64), plain(metrics.mass));
    format!("{}\nfrom {rows_of} rows; the triples' weights have mass {mass}", aligned(&align, rows))
}

/// Of two classes the sensitivity and the specificity, with their intervals.
fn of_two_classes(estimate: &Estimate, metrics: &Metrics) -> Option<String> {
    let [sensitivity, specificity] = metrics.sensitivity_and_specificity()?;
    let row = |what: &str, class: &str, Measured { value, standard_error, interval }: Measured| {
        let between = format!("{} to {}", plain(interval.low), plain(interval.high));
        let of = format!("rows of {} that are predicted so", name(class, 20));
        vec![what.to_owned(), with_error(value, standard_error), between, of]
    };
    let rows = vec![
        row("sensitivity", &estimate.classes[1], sensitivity),
        row("specificity", &estimate.classes[0], specificity),
    ];
    Some(aligned(&[Align::Left, Align::Right, Align::Right, Align::Left], rows))
}

/// How often each view alone is wrong.
fn views(estimate: &Estimate, metrics: &Metrics) -> String {
    let mut rows = vec![vec!["view alone".to_owned(), "error rate".to_owned()]];
    rows.extend(
        estimate
            .views
            .iter()
            .zip(&metrics.view_error)
            .map(|(view, error)| vec![name(view, 40), with_error(error.value, error.standard_error)]),
    );
    aligned(&[Align::Left, Align::Right], rows)
}

/// Shares of the rows of each class, one column a class that they truly are of.
fn confusion(estimate: &Estimate, metrics: &Metrics) -> String {
    let k = estimate.classes.len();
    let mut header = vec!["predicted \\ truth".to_owned()];
    header.extend(estimate.classes.iter().map(|class| name(class, CLASS_WIDTH)));
    let mut rows = vec![header];
    for (class, cells) in estimate.classes.iter().zip(&metrics.confusion) {
        let mut row = vec![name(class, CLASS_WIDTH + 4)];
        row.extend(column(&cells.iter().map(|cell| cell.value).collect::<Vec<f64>>()));
        rows.push(row);
    }
    let mut align = vec![Align::Right; k + 1];
    align[0] = Align::Left;
    format!(
        "confusion: of the rows that truly are of a column's class, the share that is predicted as each row's\n\n{}",
        aligned(&align, rows)
    )
}
