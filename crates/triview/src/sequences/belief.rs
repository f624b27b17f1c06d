//! What the model believes of itself: all that is left where the sequences do not identify the states.

use super::chain::Chain;
use super::estimate::SequenceEstimate;
use super::reading::{by_column, by_row};
use super::sums::{ChainSums, Count};
use crate::answer::Interval;
use crate::diagnostics::Alarm;
use crate::metrics::Measured;
use crate::settings::limits::UNKNOWN_ERROR;

/// Anything at all.
const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

/// Means over sequences, and shares, under the model's own posterior.
pub(crate) struct Belief {
    emission: f64,
    transition: f64,
    /// What a sequence costs at the least.
    least: f64,
    /// Tokens of a sequence.
    tokens: f64,
    prior: Vec<f64>,
    transition_matrix: Vec<f64>,
    confusion: Vec<f64>,
}

impl Belief {
    pub(crate) fn new(chain: &Chain, sums: &ChainSums) -> Self {
        let (k, places, total) = (chain.k(), &sums.places, sums.total());
        let count = |what: Count| total[what as usize];
        let n = count(Count::Sequences);
        let pairs = &total[places.believed_pairs()];
        // What the model forbids it does not believe.
        let scored = |(log, p): (&f64, &f64)| if log.is_finite() { log * p } else { 0.0 };
        let transition = chain.transition().iter().zip(pairs).map(scored).sum::<f64>()
            + chain.initial().iter().zip(&total[places.believed_first()]).map(scored).sum::<f64>();
        Self {
            emission: count(Count::BelievedEmission) / n,
            transition: transition / n,
            least: count(Count::Least) / n,
            tokens: count(Count::Tokens) / n,
            prior: total[places.believed_states()].iter().map(|sum| sum / count(Count::Tokens)).collect(),
            transition_matrix: by_row(pairs, k),
            confusion: by_column(&total[places.believed_confusion()]),
        }
    }
}

impl SequenceEstimate {
    /// The same answer where the sequences identify it. Where they do not, so that intervals have no ends or errors are beyond all
    /// reason, the model's own belief with all that is possible for an interval, and an alarm that says so. By position one unclear
    /// position of many makes all intervals endless; there only the second counts.
    pub(crate) fn where_identified(mut self, reach: f64, belief: &Belief) -> Self {
        let Measured { value, standard_error, .. } = self.risk_per_token;
        let scale = value.abs().max((self.states.len() as f64).ln());
        let clear = reach.is_finite() || self.identified.parts() > 1;
        if clear && standard_error <= UNKNOWN_ERROR * scale {
            return self;
        }
        let unknown =
            |value: f64, interval: Interval| Measured { value, standard_error: f64::INFINITY, interval };
        let share = |value: f64| unknown(value, Interval { low: 0.0, high: 1.0 });
        let risk = self.log_partition - belief.emission - belief.transition;
        let no_less = |low: f64| Interval { low: low.max(0.0), high: f64::INFINITY };
        self.risk = unknown(risk, no_less(belief.least));
        self.risk_per_token = unknown(risk / belief.tokens, no_less(belief.least / belief.tokens));
        self.emission = unknown(belief.emission, ANYTHING);
        self.transition = unknown(belief.transition, ANYTHING);
        for error in [&mut self.viterbi_error, &mut self.posterior_error] {
            error.estimate = share(error.belief);
        }
        let matrix = |cells: &[f64]| -> Vec<Vec<Measured>> {
            cells
                .chunks(belief.prior.len())
                .map(|row| row.iter().map(|cell| share(*cell)).collect())
                .collect()
        };
        self.state_prior = belief.prior.iter().map(|prior| share(*prior)).collect();
        self.transition_matrix = matrix(&belief.transition_matrix);
        self.emission_confusion = matrix(&belief.confusion);
        self.gain = self.gain.map(|gain| unknown(gain.value, Interval { low: -1.0, high: 1.0 }));
        // Those of numbers that are not shown.
        self.alarms.retain(|alarm| {
            !matches!(
                alarm,
                Alarm::NegativeRisk { .. }
                    | Alarm::ForbiddenTransitions { .. }
                    | Alarm::NotFinite
                    | Alarm::TooWide { .. }
                    | Alarm::NotConverged
                    | Alarm::OtherOptimum { .. }
            )
        });
        self.alarms.insert(0, Alarm::NotIdentified);
        self
    }
}
