//! Logistic regression with labels by L-BFGS.

use super::ball::LogRisk;
use super::linear::Shape;
use super::logistic::LogisticModel;
use super::objective::labelled_phi;
use super::parts::Cached;
use super::rows::{FeatureBatch, FeatureSchema};
use super::units::{Standard, Units};
use crate::data::InMemory;
use crate::error::{Error, Result};
use crate::settings::ball::GAP;

/// Minimises the log loss of the rows with labels, and `penalty / 2` times the squared parameters of standardised
/// features: the same minimisation as without labels, with `phi-bar` from the labels.
///
/// # Errors
/// [`Error::InvalidParameter`] when the penalty is not a positive number, or no row has a label.
pub fn train_by_lbfgs(rows: &FeatureBatch, classes: usize, penalty: f64) -> Result<LogisticModel> {
    let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
    if !(penalty.is_finite() && penalty > 0.0) {
        return refuse("penalty", penalty.to_string(), "a positive number");
    }
    let known: Vec<usize> = (0..rows.rows()).filter(|&row| rows.label(row).is_some()).collect();
    if known.is_empty() {
        return refuse("labelled rows", "0".into(), "at least 1 is needed");
    }
    let rows = rows.select(&known);
    let shape = Shape { widths: rows.widths().to_vec(), classes };
    let names = |width: usize| (0..width).map(|at| at.to_string()).collect();
    let views = shape.widths.iter().map(|&width| ("", names(width)));
    let phi = labelled_phi(&shape, &rows);
    let source = InMemory::new(FeatureSchema::of_valid(views), [rows]);
    let units = Units::of(&source, classes)?;
    let standard = Standard { source: &source, units: &units };
    let standard = Cached::of(&standard)?;
    let risk = LogRisk { source: &standard, shape: &shape, phi: &units.gradient(&phi), old: None };
    let point = risk.penalised(penalty, &vec![0.0; shape.len()], GAP)?;
    Ok(LogisticModel::of_theta(&shape, &units.plain(&point.standard)))
}
