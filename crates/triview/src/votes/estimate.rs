//! What votes say, with all that tells how far to trust it.

use super::agreement::{Agreement, alike};
use super::annotators::{Trials, share};
use super::cast::Votes;
use super::dawid_skene::Crowd;
use super::estimator::{Fits, VoteStart};
use super::expected::{ExpectedCounts, GROUPS};
use super::gold::{GoldReport, Plan, Recalibration};
use super::jackknife::lead;
use super::labels::{Majority, worth};
use super::omnibus::Omnibus;
use super::pairs::Pair;
use super::spectral::NoSpectralStart;
use crate::answer::{Bound, Deviations, Interval, Matching, reach};
use crate::diagnostics::{Alarm, LEVEL, Verdict};
use crate::metrics::Measured;
use crate::numeric::argmax;
use crate::settings::gold::FEWEST;
use crate::settings::votes::{DOUBT, EQUAL_FIT, ERRORS, FEWEST_OF_A_CLASS, ITEMS_PER_CELL};
use statrs::distribution::{ContinuousCDF, Normal};

/// How the crowd was fitted.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct VoteFit {
    /// The start that the better end was reached from.
    pub start: VoteStart,
    /// Why there was no start by moments, where there was none.
    pub no_spectral: Option<NoSpectralStart>,
    /// The log-likelihood of the votes, plus the logarithm of the smoothing's prior.
    pub objective: f64,
    /// The same of EM from the majority.
    pub majority_objective: f64,
    /// The log-likelihood of the votes alone.
    pub log_likelihood: f64,
    /// Iterations of EM.
    pub iterations: usize,
    /// Whether the last one gained next to nothing.
    pub converged: bool,
    /// Votes for each class that were added to every annotator's.
    pub smoothing: f64,
}

/// What is known of an annotator.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Annotator {
    /// Votes cast.
    pub votes: u32,
    /// How often its vote is not the item's class.
    pub error: Measured,
    /// Row `c`, column `j`: the probability of a vote for `c` on an item of class `j`.
    pub confusion: Vec<Vec<Measured>>,
    /// How far a vote moves the log odds of the item's class on average.
    pub worth: f64,
    /// How often it agrees with the other votes on its items beyond chance; see [`Agreement::beyond_chance`].
    pub beyond_chance: f64,
    /// Votes on items whose class is known, and how many of these were wrong.
    pub gold: [u32; 2],
}

/// The answer.
#[derive(Debug, Clone, serde::Serialize)]
pub struct VoteEstimate {
    /// How often the label of an item, the class with the largest posterior, is wrong. Gold has its own class, and is not counted.
    pub error_rate: Measured,
    /// How to read it: without gold it is the least that it can be.
    pub bound: Option<Bound>,
    /// How to read the annotators' errors.
    pub annotator_bound: Option<Bound>,
    /// What gold says, where there is some.
    pub gold: Option<GoldReport>,
    /// What the majority of each item's votes says.
    pub majority: Majority,
    /// How annotators agree.
    pub agreement: Agreement,
    /// What the fitted crowd believes of its own labels, which confirm themselves.
    pub believed_error_rate: f64,
    /// The level of confidence of all intervals.
    pub level: f64,
    /// Items.
    pub items: usize,
    /// Votes.
    pub votes: usize,
    /// Items with one vote.
    pub single_votes: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// How often each class occurs.
    pub class_prior: Vec<Measured>,
    /// The share of the votes by which more are right under these names of the classes than under the second-best.
    pub matching_gap: Measured,
    /// What each class is called under the second-best names.
    pub second_best: Vec<usize>,
    /// How the crowd was fitted.
    pub fit: VoteFit,
    /// Pairs of annotators that depend on each other, the surest first.
    pub dependent: Vec<Pair>,
    /// Pairs that share enough items to tell.
    pub pairs_tested: usize,
    /// The smallest chance of all pairs, corrected for their number.
    pub smallest_p_value: Option<f64>,
    /// The test of all annotators at once, where there are enough of them.
    pub omnibus: Option<Omnibus>,
    /// Groups of annotators that look alike: copies, or models of one family.
    pub alike: Vec<Vec<usize>>,
    /// What speaks against the answer.
    pub alarms: Vec<Alarm>,
    /// The class prior and confusion matrices.
    pub crowd: Crowd,
    posteriors: Vec<f64>,
    difficulty: Vec<f64>,
    cast: Vec<u32>,
    golds: Vec<[u32; 2]>,
    /// How many trials each cell of the confusion matrices is the share of.
    trials: Vec<f64>,
    /// Of each annotator, the error rate and its trials.
    errors: Vec<[f64; 2]>,
}

/// What an answer is made of.
pub(crate) struct Parts<'a> {
    pub(crate) votes: &'a Votes,
    pub(crate) classes: &'a [String],
    pub(crate) fits: Fits,
    pub(crate) crowd: Crowd,
    pub(crate) posteriors: Vec<f64>,
    pub(crate) tally: ExpectedCounts,
    /// By how much the fitted crowd's own error rate is below the answer's, less than zero.
    pub(crate) optimism: f64,
    pub(crate) deviations: Deviations<Vec<f64>>,
    pub(crate) trials: Vec<Trials>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) omnibus: Option<Omnibus>,
    pub(crate) difficulty: Vec<f64>,
    pub(crate) gold: Option<Recalibration>,
    pub(crate) matching: Matching,
    pub(crate) level: f64,
}

impl VoteEstimate {
    pub(crate) fn new(parts: Parts<'_>) -> Self {
        let Parts { votes, classes, fits, crowd, posteriors, tally, optimism, deviations, .. } = parts;
        let Parts { mut trials, pairs, omnibus, difficulty, gold, matching, level, .. } = parts;
        let k = votes.k();
        // Where annotators have few votes EM draws the class prior to the shares of the votes, and the moments do not.
        let by_moments = fits.moments_prior.as_ref().unwrap_or(&crowd.prior);
        let apart: Vec<f64> =
            crowd.prior.iter().zip(by_moments).map(|(p, by_moments)| p - by_moments).collect();
        let distance = 0.5 * apart.iter().map(|apart| apart.abs()).sum::<f64>();
        let mut doubt = vec![DOUBT * (optimism.abs() + distance), 0.0];
        doubt.extend(apart);
        let deviations = deviations.with_doubt(doubt);
        let reach = reach(level, GROUPS, f64::INFINITY);
        let measured = |at: usize, value: f64| {
            let standard_error = deviations.standard_error(|row| row[at]);
            let interval = Interval::around(value, reach, standard_error).within(0.0, 1.0);
            Measured { value, standard_error, interval }
        };
        let items = votes.items();
        let error_rate = match &gold {
            Some(gold) => gold.error_rate,
            None => measured(0, tally.error_rate()),
        };
        let matching_gap = measured(1, lead(&tally));
        let class_prior: Vec<Measured> =
            crowd.prior.iter().enumerate().map(|(j, p)| measured(2 + j, *p)).collect();
        let fit = VoteFit {
            start: fits.start,
            no_spectral: fits.other.as_ref().err().copied(),
            objective: fits.best.objective,
            majority_objective: fits.majority_objective,
            log_likelihood: fits.best.log_likelihood,
            iterations: fits.best.iterations,
            converged: fits.best.converged,
            smoothing: fits.strength,
        };
        let errors = own_errors(votes, &tally);
        if let Some(gold) = &gold {
            // What labels may be off by all together, the errors that are measured by them may be.
            let shared = gold.error_rate.standard_error.powi(2);
            trials.iter_mut().zip(&errors).for_each(|(of, error)| of.share_doubt(*error, shared));
        }
        let dependent: Vec<Pair> = pairs.iter().filter(|pair| pair.p_value < LEVEL).cloned().collect();
        let mut second_best: Vec<usize> = (0..k).collect();
        matching.second.iter().for_each(|[class, place]| second_best[*place] = *class);
        let mut estimate = Self {
            believed_error_rate: fits.best.tally.error_rate(),
            error_rate,
            bound: gold.is_none().then_some(Bound::AtLeast),
            annotator_bound: None,
            majority: Majority::new(votes, &posteriors),
            agreement: Agreement::new(votes, &crowd, &posteriors),
            gold: gold.map(|gold| gold.report),
            level,
            items,
            votes: votes.len(),
            single_votes: (0..items).filter(|item| votes.of_item(*item).len() == 1).count(),
            classes: classes.to_vec(),
            class_prior,
            matching_gap,
            second_best,
            fit,
            dependent,
            pairs_tested: pairs.len(),
            smallest_p_value: pairs.first().map(|pair| pair.p_value),
            omnibus,
            alike: alike(&pairs),
            alarms: Vec::new(),
            crowd,
            posteriors,
            difficulty,
            cast: votes.by_annotator(),
            golds: on_gold(votes),
            errors: errors.into_iter().zip(&trials).map(|(e, of)| [e, of.error]).collect(),
            trials: trials.into_iter().flat_map(|of| of.cells).collect(),
        };
        let other = fits.other.ok().map(|other| {
            let difference = other.tally.error_rate() - estimate.believed_error_rate;
            (fits.best.objective - other.objective, difference)
        });
        let sure = estimate.gold.is_some() || estimate.verdict() == Verdict::Pass;
        estimate.annotator_bound = (!sure).then_some(Bound::AtLeast);
        estimate.raise(votes, &tally, other);
        estimate
    }

    /// Whether nothing speaks against it, read as [`VoteEstimate::bound`] says.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }

    /// The class posteriors of each item, item by item: each with its own votes taken out of the confusion matrices that it
    /// is made with, so that few votes an annotator do not make it too sure of itself. With gold they are recalibrated, and those of
    /// gold are certain.
    pub fn posteriors(&self) -> &[f64] {
        &self.posteriors
    }

    /// The label of each item: the class with the largest posterior.
    pub fn labels(&self) -> Vec<usize> {
        self.posteriors
            .chunks_exact(self.class_prior.len())
            .map(|item| argmax(item.iter().copied()))
            .collect()
    }

    /// How many items of known class, drawn at random, bring the interval of the error rate to a width in all; nothing where not even
    /// all items do.
    pub fn gold_for(&self, width: f64) -> Option<u64> {
        self.plan().items_for(width, self.level, self.items as u64)
    }

    /// How wide the interval is if the class of every item is known.
    pub fn smallest_width(&self) -> f64 {
        self.plan().width(self.items as f64, self.level)
    }

    fn plan(&self) -> Plan {
        match &self.gold {
            None => Plan::without_gold(&self.posteriors, self.class_prior.len()),
            Some(gold) => Plan::with_gold(gold, self.error_rate.value),
        }
    }

    /// How likely each item is one of those on which annotators half guess.
    pub fn difficulty(&self) -> &[f64] {
        &self.difficulty
    }

    /// The number of annotators.
    pub fn annotators(&self) -> usize {
        self.cast.len()
    }

    /// What is known of an annotator.
    pub fn annotator(&self, annotator: usize) -> Annotator {
        let k = self.class_prior.len();
        let reach = Normal::standard().inverse_cdf(0.5 + 0.5 * self.level);
        let cells = self.crowd.of_annotator(annotator);
        let trials = &self.trials[annotator * k * k..(annotator + 1) * k * k];
        let cell = |(value, trials): (&f64, &f64)| share(*value, *trials, reach);
        let all: Vec<Measured> = cells.iter().zip(trials).map(cell).collect();
        let [error, trials] = self.errors[annotator];
        Annotator {
            votes: self.cast[annotator],
            error: share(error, trials, reach),
            confusion: all.chunks_exact(k).map(<[Measured]>::to_vec).collect(),
            worth: worth(cells, &self.crowd.prior),
            beyond_chance: self.agreement.beyond_chance[annotator],
            gold: self.golds[annotator],
        }
    }

    /// What all annotators at once and each pair of them say of independence given the class.
    pub fn verdict(&self) -> Verdict {
        match &self.omnibus {
            _ if !self.dependent.is_empty() => Verdict::Fail,
            None => Verdict::Untestable,
            Some(omnibus) if omnibus.p_value < LEVEL => Verdict::Fail,
            Some(_) => Verdict::Pass,
        }
    }

    /// Finds what speaks against it. `other` is how much less likely the other start's end is, and by how much its error
    /// rate differs.
    fn raise(&mut self, votes: &Votes, counts: &ExpectedCounts, other: Option<(f64, f64)>) {
        let mut alarms = Vec::new();
        if !self.fit.converged {
            alarms.push(Alarm::EmNotConverged { iterations: self.fit.iterations });
        }
        for (class, &items) in counts.classes.iter().enumerate().filter(|(_, n)| **n < FEWEST_OF_A_CLASS) {
            alarms.push(Alarm::FewItemsOfClass { class: self.classes[class].clone(), items });
        }
        match &self.gold {
            None => self.raise_without_gold(votes, counts, other, &mut alarms),
            // Gold was drawn whatever annotators do: nothing that votes may hide speaks against it.
            Some(gold) => {
                if gold.items < FEWEST {
                    alarms.push(Alarm::FewGold { items: gold.items, needed: FEWEST });
                }
                if gold.contradicts_names {
                    alarms.push(Alarm::NamesContradicted);
                }
            }
        }
        self.alarms = alarms;
    }

    /// What votes alone can be wrong by.
    fn raise_without_gold(
        &self,
        votes: &Votes,
        counts: &ExpectedCounts,
        other: Option<(f64, f64)>,
        alarms: &mut Vec<Alarm>,
    ) {
        let k = self.class_prior.len();
        let three = (0..votes.items()).filter(|item| votes.of_item(*item).len() >= 3).count();
        if three < ITEMS_PER_CELL * k * k {
            alarms.push(Alarm::FewThreeVotes { items: three, needed: ITEMS_PER_CELL * k * k, classes: k });
        }
        match &self.omnibus {
            None => {
                let annotators = self.cast.iter().filter(|cast| **cast > 0).count();
                alarms.push(Alarm::UntestableVotes { annotators });
            }
            Some(omnibus) if omnibus.p_value < LEVEL => {
                alarms.push(Alarm::CommonErrors { p_value: omnibus.p_value });
            }
            Some(_) => {}
        }
        if !self.dependent.is_empty() {
            let (pairs, tested) = (self.dependent.len(), self.pairs_tested);
            alarms.push(Alarm::DependentAnnotators { pairs, tested });
        }
        let mut pooled = vec![0.0; k * k];
        for (ballot, row) in counts.votes.chunks_exact(k).enumerate() {
            (0..k).for_each(|j| pooled[ballot % k * k + j] += row[j]);
        }
        for class in 0..k {
            let most = argmax((0..k).map(|c| pooled[c * k + class]));
            if most != class {
                let [class, votes_for] = [class, most].map(|class| self.classes[class].clone());
                alarms.push(Alarm::OutvotedClass { class, votes_for });
            }
        }
        let Measured { value: gap, standard_error, .. } = self.matching_gap;
        if gap <= ERRORS * standard_error {
            alarms.push(Alarm::AnnotatorsUnclear { gap, standard_error });
        }
        if let Some((less, difference)) = other
            && less < EQUAL_FIT
            && difference.abs() > ERRORS * self.error_rate.standard_error
        {
            alarms.push(Alarm::OtherCrowd { difference });
        }
    }
}

/// Of each annotator, votes on gold and how many of these were wrong.
fn on_gold(votes: &Votes) -> Vec<[u32; 2]> {
    let mut all = vec![[0; 2]; votes.annotators()];
    for [item, gold] in votes.golds() {
        for &ballot in votes.of_item(item) {
            let own = &mut all[ballot as usize / votes.k()];
            own[0] += 1;
            own[1] += u32::from(ballot as usize % votes.k() != gold);
        }
    }
    all
}

/// Of each annotator, the share of its votes that are not the item's class, as the posteriors have it; one half where there
/// are none.
fn own_errors(votes: &Votes, tally: &ExpectedCounts) -> Vec<f64> {
    let k = votes.k();
    let of_annotator = |(cells, cast): (&[f64], u32)| match cast {
        0 => 0.5,
        cast => 1.0 - (0..k).map(|j| cells[j * k + j]).sum::<f64>() / f64::from(cast),
    };
    tally.votes.chunks_exact(k * k).zip(votes.by_annotator()).map(of_annotator).collect()
}
