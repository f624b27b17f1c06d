//! Crowds with known truth.

use super::simulate::draw_class;
use crate::error::{Error, Result};
use crate::votes::{Vote, Votes};
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg64;

/// What crowd to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdSetting {
    /// Number of classes.
    pub classes: usize,
    /// Number of annotators.
    pub annotators: usize,
    /// Number of items.
    pub items: usize,
    /// Votes an item, of different annotators drawn at random.
    pub votes: usize,
    /// The share of annotators whose votes have nothing to do with the class.
    pub spammers: f64,
    /// The share of annotators who mostly vote for another class than the item's, always the same for a class.
    pub adversaries: f64,
    /// The least and the largest probability of the others to be right; drawn anew for each class.
    pub skill: [f64; 2],
    /// How many annotators, from the second on every other, vote as the one before does on half of the items that both vote
    /// on, which they mostly do.
    pub copiers: usize,
    /// The share of items that are hard for everybody: on these seven votes in ten are guesses.
    pub hard: f64,
}

impl Default for CrowdSetting {
    fn default() -> Self {
        Self {
            classes: 4,
            annotators: 50,
            items: 5_000,
            votes: 5,
            spammers: 0.2,
            adversaries: 0.05,
            skill: [0.5, 0.95],
            copiers: 0,
            hard: 0.0,
        }
    }
}

/// How often a copier votes as the one before.
const COPIED: f64 = 0.5;
/// How often a vote on a hard item is a guess.
const GUESSED: f64 = 0.7;

/// A crowd that was drawn, its votes, and the class of each item.
#[derive(Debug, Clone)]
pub struct SimulatedCrowd {
    /// The votes.
    pub votes: Votes,
    /// The class of each item.
    pub classes: Vec<usize>,
    /// The probability of each class.
    pub prior: Vec<f64>,
    /// For each annotator the confusion matrix that votes are drawn from, row by row: one row a vote, one column a class.
    pub confusion: Vec<Vec<f64>>,
}

impl SimulatedCrowd {
    /// Draws a crowd, and its votes.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a setting that cannot be.
    pub fn draw(setting: &CrowdSetting, seed: u64) -> Result<Self> {
        setting.check()?;
        let &CrowdSetting { classes: k, annotators, items, .. } = setting;
        let mut rng = Pcg64::seed_from_u64(seed);
        // No class is rarer than a quarter of its even share.
        let drawn = simplex(k, &mut rng);
        let prior: Vec<f64> = drawn.iter().map(|p| 0.25 / k as f64 + 0.75 * p).collect();
        let confusion: Vec<Vec<f64>> = (0..annotators).map(|_| setting.annotator(&mut rng)).collect();
        let labels: Vec<usize> = (0..items).map(|_| draw_class(&prior, &mut rng)).collect();
        let mut votes = Vec::with_capacity(items * setting.votes);
        for (item, &label) in labels.iter().enumerate() {
            let mut chosen: Vec<usize> = sample(&mut rng, annotators, setting.votes).into_vec();
            setting.bring_copiers(&mut chosen);
            // Nothing more is drawn where no item is hard, so that a seed's crowd stays what it was.
            let hard = setting.hard > 0.0 && rng.random::<f64>() < setting.hard;
            let mut last = None;
            for annotator in chosen {
                let own = match hard && rng.random::<f64>() < GUESSED {
                    true => rng.random_range(0..k),
                    false => draw_column(&confusion[annotator], k, label, &mut rng),
                };
                let copies = last.is_some_and(|(before, _)| setting.copies(before, annotator));
                let class = match last {
                    Some((_, before)) if copies && rng.random::<f64>() < COPIED => before,
                    _ => own,
                };
                last = Some((annotator, class));
                votes.push(Vote { item: item as u32, annotator: annotator as u32, class: class as u32 });
            }
        }
        Ok(Self { votes: Votes::new(k, annotators, items, &votes)?, classes: labels, prior, confusion })
    }

    /// For each annotator, the probability of a vote that is not the item's class.
    pub fn errors(&self) -> Vec<f64> {
        let k = self.prior.len();
        let right = |cells: &Vec<f64>| (0..k).map(|j| self.prior[j] * cells[j * k + j]).sum::<f64>();
        self.confusion.iter().map(|cells| 1.0 - right(cells)).collect()
    }
}

impl CrowdSetting {
    fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        if self.classes < 2 {
            return refuse("classes", self.classes.to_string(), "at least two are needed");
        }
        if self.items == 0 {
            return refuse("items", "0".into(), "at least one is needed");
        }
        if self.votes == 0 || self.votes > self.annotators {
            return refuse(
                "votes",
                self.votes.to_string(),
                "from one to the number of annotators are needed",
            );
        }
        for (name, share) in [("spammers", self.spammers), ("adversaries", self.adversaries)] {
            if !(0.0..=1.0).contains(&share) || self.spammers + self.adversaries > 1.0 {
                return refuse(name, share.to_string(), "shares of the annotators, together at most 1");
            }
        }
        if !(0.0..=1.0).contains(&self.hard) {
            return refuse("hard", self.hard.to_string(), "a share of the items, from 0 to 1");
        }
        let [low, high] = self.skill;
        if !(0.0 <= low && low <= high && high <= 1.0) {
            return refuse("skill", format!("{low} to {high}"), "two probabilities, the smaller first");
        }
        if 2 * self.copiers > self.annotators || (self.copiers > 0 && self.votes < 2) {
            return refuse(
                "copiers",
                self.copiers.to_string(),
                "at most half of the annotators, and two votes an item",
            );
        }
        Ok(())
    }

    /// Draws the confusion matrix of an annotator.
    fn annotator(&self, rng: &mut Pcg64) -> Vec<f64> {
        let k = self.classes;
        let kind: f64 = rng.random();
        let mut cells = vec![0.0; k * k];
        let favourites = simplex(k, rng);
        // An adversary takes each class for the one so many further on.
        let shift = if kind >= self.spammers && kind < self.spammers + self.adversaries {
            rng.random_range(1..k)
        } else {
            0
        };
        for j in 0..k {
            let skill = rng.random_range(self.skill[0]..=self.skill[1]);
            let others = simplex(k - 1, rng);
            for c in 0..k {
                let from = (c + k - shift) % k;
                cells[c * k + j] = match from {
                    _ if kind < self.spammers => favourites[c],
                    from if from == j => skill,
                    from => (1.0 - skill) * others[if from < j { from } else { from - 1 }],
                };
            }
        }
        cells
    }

    /// Whether an annotator copies from the one before.
    fn copies(&self, before: usize, annotator: usize) -> bool {
        annotator == before + 1 && annotator % 2 == 1 && annotator / 2 < self.copiers
    }

    /// Puts annotators in order, and has the one that copies from an annotator vote as well, in place of another.
    fn bring_copiers(&self, chosen: &mut [usize]) {
        chosen.sort_unstable();
        let Some(&source) = chosen.iter().find(|&&a| a % 2 == 0 && a / 2 < self.copiers) else { return };
        if chosen.contains(&(source + 1)) || chosen.len() < 2 {
            return;
        }
        let last = if chosen[chosen.len() - 1] == source { 0 } else { chosen.len() - 1 };
        chosen[last] = source + 1;
        chosen.sort_unstable();
    }
}

/// A point drawn evenly from the probabilities of so many outcomes.
fn simplex(outcomes: usize, rng: &mut Pcg64) -> Vec<f64> {
    let sizes: Vec<f64> = (0..outcomes).map(|_| Exp1.sample(rng)).collect();
    let total: f64 = sizes.iter().sum();
    sizes.iter().map(|size| size / total).collect()
}

/// Draws a vote on an item of a class.
fn draw_column(cells: &[f64], k: usize, class: usize, rng: &mut Pcg64) -> usize {
    let column: Vec<f64> = (0..k).map(|c| cells[c * k + class]).collect();
    draw_class(&column, rng)
}
