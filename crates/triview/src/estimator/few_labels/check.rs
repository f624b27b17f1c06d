//! What a few labels say of the names of the classes, of the estimate without them, and of how they were chosen.

use super::rows::Rows;
use super::{Labelled, powered::Powered};
use crate::answer::assign;
use crate::diagnostics::Alarm;
use crate::estimator::Estimate;
use crate::numeric::argmax;
use crate::settings::few_labels::{CONFIRMED, CONTRADICTED, DISAGREEMENT, SMALLEST, UNLIKE};
use faer::Mat;
use statrs::distribution::{ContinuousCDF, Normal};

/// What labels say of the classes' names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// No other naming is nearly as likely.
    Confirmed,
    /// They do not decide, mostly because some classes have no labels.
    Undecided,
    /// Another naming is far more likely.
    Contradicted,
}

/// How far the posterior that was fitted without labels agrees with them.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Agreement {
    /// What the labels say of the names that the classes were given.
    pub naming: Naming,
    /// The class that the labels would call each class by.
    pub names: Vec<usize>,
    /// The share of the labelled rows whose most probable class is their label.
    pub share: f64,
    /// The share that the posterior itself expects.
    pub expected: f64,
    /// Labels of each class.
    pub by_class: Vec<usize>,
    /// How many standard errors the risk without labels is from that with them.
    pub z: Option<f64>,
}

/// Compares the names of the classes with the labels: `sum log p(sigma(y) | x)` over the labelled rows for all namings `sigma`.
pub(super) fn agreement(rows: &Rows) -> Agreement {
    let ([k, _], all) = (rows.dimensions(), rows.weights.iter().sum::<f64>());
    let mut weights = Mat::zeros(k, k);
    let (mut right, mut expected, mut by_class) = (0.0, 0.0, vec![0; k]);
    let labelled = rows.posteriors.chunks_exact(k).zip(&rows.classes).zip(&rows.weights);
    for ((p, &class), weight) in labelled {
        (0..k).for_each(|i| weights[(i, class)] += p[i].max(SMALLEST).ln());
        let likeliest = argmax(p.iter().copied());
        right += weight * f64::from(u8::from(likeliest == class));
        expected += weight * p[likeliest];
        by_class[class] += 1;
    }
    let matching = assign(&weights);
    let total = |order: &[usize]| order.iter().enumerate().map(|(j, &i)| weights[(i, j)]).sum::<f64>();
    let own: Vec<usize> = (0..k).collect();
    let lost = total(&matching.order) - total(&own);
    let naming = match lost {
        lost if lost > CONTRADICTED => Naming::Contradicted,
        lost if lost <= 0.0 && matching.gap > CONFIRMED => Naming::Confirmed,
        _ => Naming::Undecided,
    };
    let mut names = own;
    if naming == Naming::Contradicted {
        matching.order.iter().enumerate().for_each(|(name, &class)| names[class] = name);
    }
    Agreement { naming, names, share: right / all, expected: expected / all, by_class, z: None }
}

/// Whether the labelled rows are unlike the others, in what the posterior says of them.
pub(super) fn against_chance(rows: &Rows) -> Vec<Alarm> {
    let ([k, _], n, m) = (rows.dimensions(), rows.labels_worth(), rows.count() as f64);
    // Where rows depend on each other, so may the labelled ones.
    if rows.clusters().is_some() || n >= m {
        return Vec::new();
    }
    let z =
        |labelled: f64, mean: f64, variance: f64| (labelled - mean) / (variance * (1.0 / n - 1.0 / m)).sqrt();
    let [mean_error, _, variance] = rows.error_rate().over_all();
    let of_error = rows.error_rate().over_labelled();
    let total: f64 = rows.weights.iter().sum();
    let of_class = |class: usize| {
        let labelled = rows.posteriors[class..].iter().step_by(k).zip(&rows.weights);
        let labelled = labelled.map(|(p, weight)| p * weight).sum::<f64>() / total;
        let (mean, variance) = rows.posterior(class);
        z(labelled, mean, variance)
    };
    let all = (0..k).map(of_class).chain([z(of_error, mean_error, variance)]);
    let furthest = all.filter(|z| z.is_finite()).fold(0.0, |most: f64, z| most.max(z.abs()));
    let p = 2.0 * Normal::standard().cdf(-furthest) * (k as f64 + 1.0);
    if p >= UNLIKE {
        return Vec::new();
    }
    vec![Alarm::LabelsUnlikeOthers { z: furthest }]
}

/// What of the estimate without labels the labels contradict.
pub(super) fn contradictions(estimate: &Estimate, labelled: &mut Labelled) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    if labelled.agreement.naming == Naming::Contradicted {
        alarms.push(Alarm::NamesContradicted);
    }
    let Some(Powered { estimate: with, .. }) = &labelled.risk.valid else { return alarms };
    let error = with.standard_error.hypot(estimate.standard_error);
    let z = (estimate.risk - with.value) / error;
    labelled.agreement.z = Some(z).filter(|z| z.is_finite());
    if z.abs() > DISAGREEMENT {
        alarms.push(Alarm::LabelsDisagree {
            loss: estimate.loss.clone(),
            without: estimate.risk,
            with: with.value,
            joint_error: error,
        });
    }
    alarms
}
