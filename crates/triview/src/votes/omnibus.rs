//! Whether annotators err independently given the class: all of them at once.
//!
//! Items that are hard for everybody make every two annotators agree a little more on the wrong class than they should, too
//! little for any one pair to show. Two sums over items show it:
//!
//! - **hard items**: how much likelier an item's votes are if annotators half guess on it,
//!   `s_i = sum_j pi_j prod_a ((1 - l) C_a[c, j] + l / k) / sum_j pi_j prod_a C_a[c, j]`: the score of a small share of such items;
//! - **overdispersion**: `r_i^2 - v_i`, `r_i` the item's votes against its label less the expected number of them, `v_i` its variance.
//!
//! What they are under independence depends on how far the crowd was fitted to its own votes. So crowds are drawn from what the
//! votes say of the annotators (each column of a confusion matrix from its Dirichlet posterior), vote on the same items, and are
//! fitted alike: the sum of the real votes is set beside theirs by Student's t.

use super::cast::Votes;
use super::dawid_skene::{Crowd, Smoothing, Stop, climb};
use super::expected::{ExpectedCounts, FACTORS, by_width, width};
use crate::settings::em::FLOOR;
use crate::settings::omnibus::{
    CAP, DRAWS, FEWEST_ANNOTATORS, GUESSED, LEAST_COUNT, MOST_CELLS, MOST_VOTES, STEPS,
};
use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What the test of all annotators at once says.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Omnibus {
    /// The chance of what was seen if annotators err independently given the class.
    pub p_value: f64,
    /// By how many standard deviations there are more items that annotators seem to guess on.
    pub hard_items: f64,
    /// By how many standard deviations votes against the label pile up more on the same items.
    pub overdispersion: f64,
    /// Items that were looked at.
    pub items: usize,
}

/// Tests all annotators at once, from a crowd near the most likely one; nothing where there are too few annotators to tell.
pub(crate) fn omnibus(votes: &Votes, crowd: &Crowd, strength: f64, seed: u64) -> Option<Omnibus> {
    if votes.by_annotator().iter().filter(|cast| **cast > 0).count() < FEWEST_ANNOTATORS {
        return None;
    }
    let votes = votes.every(votes.len().div_ceil(MOST_VOTES).max(1));
    let fit = |votes: &Votes, start: Crowd, stop: Stop| {
        let smoothing = Smoothing::pooled(votes, strength);
        (climb(votes, start, &smoothing, stop, |_| false), smoothing)
    };
    let (fitted, smoothing) = fit(&votes, crowd.clone(), Stop::default());
    let drawn = |draw: u64| {
        let mut rng = Pcg64::new(u128::from(seed), u128::from(draw));
        let truth = posterior_draw(&fitted.tally, &smoothing, &mut rng);
        let votes = vote(&votes, &truth, &mut rng);
        let stop = Stop { iterations: STEPS, ..Stop::default() };
        sums(&votes, &fit(&votes, fitted.crowd.clone(), stop).0.crowd)
    };
    // Where confusion matrices are large there is no room for as many crowds as threads.
    let all: Vec<[f64; 2]> = match fitted.crowd.confusion.len() {
        ..=MOST_CELLS => (0..DRAWS).into_par_iter().map(drawn).collect(),
        _ => (0..DRAWS).map(drawn).collect(),
    };
    let seen = sums(&votes, &fitted.crowd);
    let [hard_items, overdispersion] = [0, 1].map(|at| beyond(seen[at], all.iter().map(|sums| sums[at])));
    let most = hard_items.max(overdispersion);
    let p_value = match StudentsT::new(0.0, 1.0, (DRAWS - 1) as f64) {
        Ok(student) => (2.0 * student.sf(most)).min(1.0),
        Err(_) => f64::NAN,
    };
    Some(Omnibus { p_value, hard_items, overdispersion, items: votes.items() })
}

/// By how many standard deviations a number is above those that were drawn.
fn beyond(seen: f64, drawn: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = DRAWS as f64;
    let mean = drawn.clone().sum::<f64>() / n;
    let variance = drawn.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (seen - mean) / (variance * (1.0 + 1.0 / n)).sqrt().max(f64::MIN_POSITIVE)
}

/// A crowd as it may well be, after these votes.
fn posterior_draw(tally: &ExpectedCounts, smoothing: &Smoothing, rng: &mut Pcg64) -> Crowd {
    let mut crowd = smoothing.maximise(tally);
    let k = crowd.prior.len();
    let counts = tally.votes.iter().zip(smoothing.counts().iter().cycle());
    for (cell, (votes, added)) in crowd.confusion.iter_mut().zip(counts) {
        let count = (votes + added).max(LEAST_COUNT);
        *cell = Gamma::new(count, 1.0).map_or(count, |gamma| gamma.sample(rng));
    }
    crowd.confusion.chunks_exact_mut(k * k).for_each(|cells| super::dawid_skene::normalise_columns(cells, k));
    crowd
}

/// The votes of a crowd, of the same annotators on the same items.
fn vote(votes: &Votes, crowd: &Crowd, rng: &mut Pcg64) -> Votes {
    let k = votes.k();
    votes.recast(|item, ballots| {
        let class = votes.gold(item).unwrap_or_else(|| draw(crowd.prior.iter().copied(), rng));
        for ballot in ballots {
            let first = *ballot as usize / k * k;
            let column = (first..first + k).map(|ballot| crowd.of_ballot(ballot)[class]);
            *ballot = (first + draw(column, rng)) as u32;
        }
    })
}

/// A place by its probability.
fn draw(probabilities: impl ExactSizeIterator<Item = f64>, rng: &mut Pcg64) -> usize {
    let last = probabilities.len() - 1;
    let mut left: f64 = rng.random();
    for (place, p) in probabilities.enumerate() {
        left -= p;
        if left < 0.0 {
            return place;
        }
    }
    last
}

/// How much likelier each item's votes are if annotators half guess on it: `s_i`.
pub(crate) fn guessed(votes: &Votes, crowd: &Crowd) -> Vec<f64> {
    let mut all = Vec::with_capacity(votes.items());
    by_width!(votes.k(), each_item(votes, crowd, |_, guessed, _| all.push(guessed)));
    all
}

/// The means over items of the score and of the overdispersion.
fn sums(votes: &Votes, crowd: &Crowd) -> [f64; 2] {
    let k = votes.k();
    let mut sums = [0.0; 2];
    let add = |item: usize, guessed: f64, label: usize| {
        let (mut residual, mut variance) = (0.0, 0.0);
        for &ballot in votes.of_item(item) {
            let (ballot, class) = (ballot as usize, ballot as usize % k);
            let right = crowd.of_ballot(ballot - class + label)[label];
            residual += right - f64::from(u8::from(class == label));
            variance += right * (1.0 - right);
        }
        sums[0] += guessed.min(CAP);
        sums[1] += residual * residual - variance;
    };
    by_width!(k, each_item(votes, crowd, add));
    sums.map(|sum| sum / votes.items() as f64)
}

/// Calls a function with every item, its `s_i` and its label.
fn each_item<const K: usize>(votes: &Votes, crowd: &Crowd, mut call: impl FnMut(usize, f64, usize)) {
    let k = width::<K>(votes.k());
    let even = GUESSED / k as f64;
    let (mut usual, mut guess) = (vec![0.0; k], vec![0.0; k]);
    for item in 0..votes.items() {
        let (usual, guess) = (&mut usual[..k], &mut guess[..k]);
        usual.copy_from_slice(&crowd.prior[..k]);
        if let Some(class) = votes.gold(item) {
            super::expected::certain(usual, class);
        }
        guess.copy_from_slice(usual);
        let mut ratio = 1.0;
        for ballots in votes.of_item(item).chunks(FACTORS) {
            for &ballot in ballots {
                let factors = &crowd.confusion[ballot as usize * k..][..k];
                for j in 0..k {
                    usual[j] *= factors[j];
                    guess[j] *= (1.0 - GUESSED) * factors[j] + even;
                }
            }
            let [own, guessed] = [&mut *usual, &mut *guess].map(|all| {
                let total = all.iter().sum::<f64>().max(FLOOR * FLOOR);
                all.iter_mut().for_each(|p| *p /= total);
                total
            });
            ratio *= guessed / own;
        }
        call(item, ratio, crate::numeric::argmax(usual.iter().copied()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{CrowdSetting, SimulatedCrowd};
    use crate::votes::{Vote, default_smoothing, majority};

    fn test(setting: &CrowdSetting, seed: u64) -> crate::Result<Omnibus> {
        let crowd = SimulatedCrowd::draw(setting, seed)?;
        let strength = default_smoothing(setting.classes);
        let start = majority(&crowd.votes, &Smoothing::pooled(&crowd.votes, strength));
        Ok(omnibus(&crowd.votes, &start, strength, seed).unwrap_or_else(|| unreachable!("fifty annotators")))
    }

    #[test]
    fn hard_items_are_seen_and_none_where_there_are_none() -> crate::Result<()> {
        let alike = CrowdSetting { items: 1_000, ..CrowdSetting::default() };
        let hard = CrowdSetting { hard: 0.2, ..alike };
        let (alike, hard) = (test(&alike, 1)?, test(&hard, 1)?);
        assert!(alike.p_value > 0.05 && hard.p_value < 0.001, "{alike:?} {hard:?}");
        Ok(())
    }

    #[test]
    fn three_annotators_cannot_be_tested() -> crate::Result<()> {
        let votes: Vec<Vote> = (0..60)
            .map(|at| Vote { item: at / 3, annotator: at % 3, class: u32::from(at % 7 == 0) })
            .collect();
        let votes = Votes::new(2, 4, 20, &votes)?;
        let start = majority(&votes, &Smoothing::pooled(&votes, 4.0));
        assert_eq!(omnibus(&votes, &start, 4.0, 0), None);
        Ok(())
    }

    #[test]
    fn the_score_of_an_item_by_hand() -> crate::Result<()> {
        let votes = Votes::new(2, 1, 1, &[Vote { item: 0, annotator: 0, class: 0 }])?;
        let crowd = Crowd { prior: vec![0.25, 0.75], confusion: vec![0.9, 0.2, 0.1, 0.8] };
        let usual = 0.25 * 0.9 + 0.75 * 0.2;
        let guess = 0.25 * (0.3 * 0.9 + 0.35) + 0.75 * (0.3 * 0.2 + 0.35);
        assert!((guessed(&votes, &crowd)[0] - guess / usual).abs() < 1e-12);
        Ok(())
    }
}
