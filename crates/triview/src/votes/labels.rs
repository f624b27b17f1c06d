//! What is said of each item, and how much an annotator's vote is worth.

use super::cast::Votes;
use super::dawid_skene::{Crowd, shares};
use super::estimate::VoteEstimate;
use super::omnibus::guessed;
use crate::numeric::argmax;
use crate::settings::em::FLOOR;
use crate::settings::labels::HARD;

/// What the majority of each item's votes says.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Majority {
    /// The class that most of an item's votes are for; where several have as many, the one with the most votes of all.
    pub labels: Vec<u32>,
    /// How many items have another label by the majority.
    pub differs: usize,
    /// How often it is wrong, as the posteriors have it.
    pub error_rate: f64,
    /// On how much gold it is wrong.
    pub wrong_gold: usize,
}

impl Majority {
    pub(crate) fn new(votes: &Votes, posteriors: &[f64]) -> Self {
        let k = votes.k();
        let cast = votes.by_class();
        let total = votes.len().max(1) as f64 + 1.0;
        let shares = shares(votes);
        let label = |share: &[f64]| argmax((0..k).map(|j| share[j] + 1e-6 * cast[j] as f64 / total));
        let labels: Vec<u32> = shares.chunks_exact(k).map(|share| label(share) as u32).collect();
        let (mut differs, mut right, mut counted, mut wrong_gold) = (0, 0.0, 0.0_f64, 0);
        for (item, (own, &label)) in posteriors.chunks_exact(k).zip(&labels).enumerate() {
            differs += usize::from(argmax(own.iter().copied()) != label as usize);
            match votes.gold(item) {
                Some(class) => wrong_gold += usize::from(class != label as usize),
                None => {
                    right += own[label as usize];
                    counted += 1.0;
                }
            }
        }
        Self { labels, differs, error_rate: 1.0 - right / counted.max(1.0), wrong_gold }
    }
}

/// By how much a vote of an annotator moves the log odds of the item's class, by its confusion matrix, row by row: the mean over classes
/// `j` and votes `c` of `log C[c, j] / p(c | not j)`.
pub(crate) fn worth(cells: &[f64], prior: &[f64]) -> f64 {
    let k = prior.len();
    let mut log_odds = 0.0;
    for c in 0..k {
        let row = &cells[c * k..(c + 1) * k];
        let all: f64 = row.iter().zip(prior).map(|(cell, p)| cell * p).sum();
        for j in 0..k {
            let others = (all - prior[j] * row[j]) / (1.0 - prior[j]).max(FLOOR);
            log_odds += prior[j] * row[j] * (row[j].max(FLOOR) / others.max(FLOOR)).ln();
        }
    }
    log_odds
}

/// How likely each item is one of those on which annotators half guess, if as many are as often are.
pub(crate) fn difficulty(votes: &Votes, crowd: &Crowd) -> Vec<f64> {
    let hard = |ratio: f64| 1.0 / (1.0 + (1.0 - HARD) / (HARD * ratio).max(FLOOR));
    guessed(votes, crowd).into_iter().map(hard).collect()
}

/// What is said of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemLabel<'a> {
    /// The class with the largest posterior; of gold its own.
    pub label: usize,
    /// The class posteriors.
    pub posterior: &'a [f64],
    /// The class that most votes are for.
    pub majority: usize,
    /// Votes.
    pub votes: usize,
    /// The share of them that are for the label.
    pub agreement: f64,
    /// How likely it is one of those on which annotators half guess.
    pub difficulty: f64,
}

impl VoteEstimate {
    /// What is said of an item of the votes that it was made from.
    pub fn label(&self, votes: &Votes, item: usize) -> ItemLabel<'_> {
        let k = votes.k();
        let posterior = &self.posteriors()[item * k..(item + 1) * k];
        let label = argmax(posterior.iter().copied());
        let ballots = votes.of_item(item);
        let agree = ballots.iter().filter(|ballot| **ballot as usize % k == label).count();
        ItemLabel {
            label,
            posterior,
            majority: self.majority.labels[item] as usize,
            votes: ballots.len(),
            agreement: agree as f64 / ballots.len() as f64,
            difficulty: self.difficulty()[item],
        }
    }

    /// The items to look at first: those whose label is wrong with a chance above `least`, the likeliest first, among equals the most
    /// difficult. Gold is never among them.
    pub fn review(&self, votes: &Votes, least: f64) -> Vec<usize> {
        let wrong = |item: usize| 1.0 - self.label(votes, item).posterior.iter().copied().fold(0.0, f64::max);
        let mut found: Vec<(f64, usize)> = (0..votes.items())
            .filter(|item| votes.gold(*item).is_none())
            .map(|item| (wrong(item), item))
            .filter(|(wrong, _)| *wrong > least)
            .collect();
        let difficulty = self.difficulty();
        found.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then(difficulty[b.1].total_cmp(&difficulty[a.1])).then(a.1.cmp(&b.1))
        });
        found.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::votes::Vote;

    #[test]
    fn a_coin_is_worth_nothing_and_nine_in_ten_ln_nine_times_eight_tenths() {
        assert!(worth(&[0.5; 4], &[0.3, 0.7]).abs() < 1e-12);
        let found = worth(&[0.9, 0.1, 0.1, 0.9], &[0.5; 2]);
        assert!((found - 0.8 * 9f64.ln()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn ties_go_to_the_class_with_the_most_votes() -> crate::Result<()> {
        let cast = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [2, 0, 0], [2, 1, 0], [2, 2, 1]];
        let votes =
            Votes::new(2, 3, 3, &cast.map(|[item, annotator, class]| Vote { item, annotator, class }))?;
        let votes = votes.with_gold(&[[2, 1]])?;
        let found = Majority::new(&votes, &[0.9, 0.1, 0.2, 0.8, 0.0, 1.0]);
        assert_eq!((&found.labels[..], found.differs, found.wrong_gold), (&[1, 1, 0][..], 2, 1));
        assert!((found.error_rate - 0.5 * (0.9 + 0.2)).abs() < 1e-12);
        Ok(())
    }
}
