//! The quantities that intervals are given for.

use super::matching::Matching;
use super::numbers::Numbers;
use super::risk::Risk;
use crate::loss::Loss;
use faer::Mat;

/// The risk and what it was made of, class by class.
#[derive(Debug, Clone)]
pub(crate) struct Quantities {
    pub(crate) risk: f64,
    /// That of each view as a model of its own, where it is asked.
    pub(crate) alone: Vec<f64>,
    /// By how much the second-best naming of the classes is worse.
    pub(crate) gap: f64,
    /// The class prior.
    pub(crate) prior: Vec<f64>,
    /// For each holder of terms, one row a term, one column a class: the joint means `pi_j M_v[i, j]`. These are averaged rather than
    /// `M_v`, so that the risk of a sum is the mean of the risks.
    pub(crate) joint: Vec<Mat<f64>>,
}

impl Numbers for Quantities {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let all = parts;
        let of = |pick: fn(&Self) -> &Vec<f64>| {
            Vec::combine(&all.iter().map(|(part, times)| (pick(part), *times)).collect::<Vec<_>>())
        };
        let joint: Vec<(&Vec<Mat<f64>>, f64)> =
            parts.iter().map(|(part, times)| (&part.joint, *times)).collect();
        Self {
            risk: parts.iter().map(|(part, times)| times * part.risk).sum(),
            alone: of(|part| &part.alone),
            gap: parts.iter().map(|(part, times)| times * part.gap).sum(),
            prior: of(|part| &part.prior),
            joint: Vec::combine(&joint),
        }
    }
}

impl Quantities {
    /// Of a risk under a naming of the latent states, whose second-best is the matching's.
    pub(crate) fn new(loss: &dyn Loss, prior: &[f64], risk: &Risk, matching: &Matching) -> Self {
        let gain = |[name, latent]: [usize; 2]| prior[latent] * loss.gain(&risk.conditional, name, latent);
        let pairs = matching.best.iter().zip(&matching.second);
        let gap = pairs.map(|(best, second)| gain(*best) - gain(*second)).sum();
        Self::of_states(gap, &matching.names, prior, risk)
    }

    /// Of a risk whose classes are the named ones: there is no second-best naming.
    pub(crate) fn of_classes(prior: &[f64], risk: &Risk) -> Self {
        let names: Vec<usize> = (0..prior.len()).collect();
        Self::of_states(0.0, &names, prior, risk)
    }

    fn of_states(gap: f64, names: &[usize], prior: &[f64], risk: &Risk) -> Self {
        let joint = |conditional: &Mat<f64>| {
            let of_term = |term: usize| sum_by_name(names, |z| prior[z] * conditional[(term, z)]);
            let rows: Vec<Vec<f64>> = (0..conditional.nrows()).map(of_term).collect();
            Mat::from_fn(rows.len(), rows[0].len(), |term, class| rows[term][class])
        };
        Self {
            risk: risk.value,
            alone: risk.alone.clone(),
            gap,
            prior: sum_by_name(names, |z| prior[z]),
            joint: risk.conditional.iter().map(joint).collect(),
        }
    }

    /// `M_v` of each holder of terms, from the joint means.
    pub(crate) fn conditional(&self) -> Vec<Mat<f64>> {
        let of_holder = |joint: &Mat<f64>| {
            Mat::from_fn(joint.nrows(), joint.ncols(), |i, j| joint[(i, j)] / self.prior[j])
        };
        self.joint.iter().map(of_holder).collect()
    }
}

/// Sums over the latent states of each class.
pub(crate) fn sum_by_name(names: &[usize], of_state: impl Fn(usize) -> f64) -> Vec<f64> {
    let k = names.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![0.0; k];
    names.iter().enumerate().for_each(|(z, &name)| sums[name] += of_state(z));
    sums
}
