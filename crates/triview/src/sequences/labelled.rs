//! Labels of some whole sequences beside many without: intervals that hold whatever the chain does.
//!
//! A posterior imputes to every sequence what its labelling costs, without having seen a label. If the labelled sequences were drawn
//! at random, then for any weight the labelled sequences' mean plus the weight times the difference of what is imputed to all
//! sequences and to those is right on average: prediction-powered inference, see [`few_labels`](crate::estimator::few_labels).
//! The units are sequences, whose tokens depend on each other; what is said of a token is a ratio of two means.

use super::adapted::Adapted;
use super::chain::Chain;
use super::estimate::SequenceEstimate;
use super::estimator::SequenceEstimator;
use super::imputed::Imputed;
use super::sample::Keyed;
use super::sequences::SequenceSource;
use super::sites::{Decoding, Track, track};
use crate::diagnostics::Alarm;
use crate::error::{Error, Result};
use crate::estimator::few_labels::{FEWEST_LABELS, Powered, Range};
use crate::metrics::Measured;
use crate::settings::few_labels::{DISAGREEMENT, UNLIKE};
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Whose posterior says what a sequence without labels costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Imputer {
    /// The model that the data suggest, where the answer without labels is to be trusted.
    Adapted,
    /// The model itself.
    Model,
}

/// What the labels of some whole sequences say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SequenceLabels {
    /// Sequences that have labels, of three tokens or more.
    pub labels: usize,
    /// Their tokens.
    pub labelled_tokens: u64,
    /// All sequences of three tokens or more.
    pub sequences: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Sequences of one or two tokens, which were skipped.
    pub too_short: u64,
    /// The level of confidence of the intervals.
    pub level: f64,
    /// The mean of `-log p(y | x)` over sequences.
    pub risk: Powered,
    /// The same over tokens.
    pub risk_per_token: Powered,
    /// The mean over all sequences of `log Z(x)`, which needs no label.
    pub log_partition: f64,
    /// The mean of `sum_t log g(y_t, x_t)` over sequences.
    pub emission: Powered,
    /// The mean of the sum of the log potentials of the first state and the transitions.
    pub transition: Powered,
    /// How often a token of the labelling with the largest score is wrong.
    pub viterbi_error: Powered,
    /// How often the state with the largest posterior is wrong.
    pub posterior_error: Powered,
    /// Whose posterior imputes.
    pub imputer: Imputer,
    /// How many fewer tokens the model that the data suggest has wrong, as a share, by the labels alone; absent where there is none.
    pub gain: Option<Measured>,
    /// What speaks against the intervals: nothing that the chain does can.
    pub alarms: Vec<Alarm>,
}

impl SequenceLabels {
    /// Whether nothing speaks against it.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }

    /// Whether the model that the data suggest can be told to be better than the given one; nothing where the labels do not decide.
    pub fn adapted_is_better(&self) -> Option<bool> {
        let Measured { interval, .. } = self.gain?;
        (interval.low > 0.0 || interval.high < 0.0).then_some(interval.low > 0.0)
    }

    /// What of the answer without labels they contradict.
    pub fn contradictions(&self, estimate: &SequenceEstimate) -> Vec<Alarm> {
        let error = (&estimate.viterbi_error.estimate, &self.viterbi_error.estimate);
        let pairs = [("log", (&estimate.risk_per_token, &self.risk_per_token.estimate)), ("error", error)];
        let apart = |(loss, (without, with)): (&str, (&Measured, &Measured))| {
            let joint_error = with.standard_error.hypot(without.standard_error);
            let beyond = (without.value - with.value).abs() > DISAGREEMENT * joint_error;
            beyond.then(|| Alarm::LabelsDisagree {
                loss: loss.to_owned(),
                without: without.value,
                with: with.value,
                joint_error,
            })
        };
        pairs.into_iter().find_map(apart).into_iter().collect()
    }
}

/// What a labelling of a sequence costs, or would on average.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    emission: f64,
    transition: f64,
    viterbi: f64,
    posterior: f64,
    /// Transitions that the model forbids, which count as nothing.
    forbidden: f64,
}

impl Costs {
    /// Under the true states.
    fn of(chain: &Chain, track: &Track<'_>, decoded: &[Vec<usize>; 2], states: &[usize]) -> Self {
        let (k, mut costs) = (chain.k(), Self::default());
        for (t, &state) in states.iter().enumerate() {
            costs.emission += track.emission[t * k + state];
            let potential = match t {
                0 => chain.initial()[state],
                _ => chain.transition()[states[t - 1] * k + state],
            };
            if potential.is_finite() {
                costs.transition += potential;
            } else {
                costs.forbidden += 1.0;
            }
            costs.viterbi += f64::from(u8::from(decoded[0][t] != state));
            costs.posterior += f64::from(u8::from(decoded[1][t] != state));
        }
        costs
    }

    /// On average under a posterior.
    fn imputed(
        chain: &Chain,
        track: &Track<'_>,
        decoded: &[Vec<usize>; 2],
        imputer: (Imputer, &Adapted),
    ) -> Self {
        let (k, mut costs) = (chain.k(), Self::default());
        let (messages, own) = match imputer {
            (Imputer::Adapted, adapted) => (&track.adapted, adapted.chain()),
            (Imputer::Model, _) => (&track.own, chain),
        };
        let posterior = messages.posteriors();
        let scored = |potential: f64, p: f64| if potential.is_finite() { potential * p } else { 0.0 };
        costs.emission = posterior.iter().zip(track.emission).map(|(p, g)| p * g).sum();
        costs.transition = chain.initial().iter().zip(&posterior).map(|(f, p)| scored(*f, *p)).sum();
        messages.pairs(own, |_, pairs| {
            let of_pair = chain.transition().iter().zip(pairs).map(|(f, p)| scored(*f, *p));
            costs.transition += of_pair.sum::<f64>();
        });
        for (t, p) in posterior.chunks_exact(k).enumerate() {
            costs.viterbi += 1.0 - p[decoded[0][t]];
            costs.posterior += 1.0 - p[decoded[1][t]];
        }
        costs
    }
}

/// What is known of a sequence.
struct Unit {
    tokens: f64,
    log_z: f64,
    imputed: Costs,
    labelled: Option<Costs>,
    /// Of the labelled ones, tokens that the adapted model has wrong.
    adapted_wrong: f64,
}

/// Sums over all sequences, and the labelled ones.
#[derive(Default)]
struct Sums {
    too_short: u64,
    log_z: f64,
    forbidden: f64,
    labelled_edges: f64,
    risk: Imputed,
    risk_per_token: Imputed,
    emission: Imputed,
    transition: Imputed,
    viterbi: Imputed,
    posterior: Imputed,
    gain: Imputed,
    lengths: Imputed,
}

impl Sums {
    fn add(&mut self, unit: &Unit) {
        let (n, imputed, known) = (unit.tokens, &unit.imputed, unit.labelled);
        let risk = |costs: &Costs| unit.log_z - costs.emission - costs.transition;
        let loss = |of: fn(&Costs) -> f64| known.as_ref().map(of);
        self.log_z += unit.log_z;
        self.risk.add(1.0, risk(imputed), known.as_ref().map(risk));
        self.risk_per_token.add(n, risk(imputed), known.as_ref().map(risk));
        self.emission.add(1.0, imputed.emission, loss(|costs| costs.emission));
        self.transition.add(1.0, imputed.transition, loss(|costs| costs.transition));
        self.viterbi.add(n, imputed.viterbi, loss(|costs| costs.viterbi));
        self.posterior.add(n, imputed.posterior, loss(|costs| costs.posterior));
        self.gain.add(n, 0.0, known.map(|costs| costs.viterbi - unit.adapted_wrong));
        self.lengths.add(1.0, n, known.map(|_| n));
        if let Some(costs) = known {
            self.forbidden += costs.forbidden;
            self.labelled_edges += n;
        }
    }

    /// Whether the labelled sequences are unlike the others, in what the posterior says of them or in their lengths.
    fn alarms(&self) -> Vec<Alarm> {
        let z = [&self.viterbi, &self.lengths].map(Imputed::unlikeness);
        let furthest = z.into_iter().filter(|z| z.is_finite()).fold(0.0, |most: f64, z| most.max(z.abs()));
        let chance = 2.0 * Normal::standard().cdf(-furthest) * z.len() as f64;
        let mut alarms = Vec::new();
        if chance < UNLIKE {
            alarms.push(Alarm::LabelsUnlikeOthers { z: furthest });
        }
        if self.forbidden > 0.0 {
            alarms.push(Alarm::ForbiddenTransitions { share: self.forbidden / self.labelled_edges });
        }
        alarms
    }
}

impl SequenceEstimator {
    /// What the labels of some whole sequences say ([`Sequences::push_labelled`](super::Sequences::push_labelled)), drawn at random; beside
    /// the answer without them, where there is one. The source is read once.
    ///
    /// # Errors
    /// Those of the source; [`Error::OtherStates`], [`Error::ImpossibleSequence`], and [`Error::FewLabelledSequences`].
    pub fn labelled<S: SequenceSource + ?Sized>(
        &self,
        chain: &Chain,
        source: &S,
        estimate: Option<&SequenceEstimate>,
    ) -> Result<SequenceLabels, S::Error> {
        if source.schema() != chain.states() {
            let (emission, potentials) = (source.schema().clone(), chain.states().to_vec());
            return Err(Error::OtherStates { emission, potentials }.into());
        }
        let seed = Adapted::seed(chain);
        let adapted = estimate.map_or(&seed, |estimate| &estimate.adapted);
        let imputer = match estimate {
            Some(estimate) if estimate.trusted() => Imputer::Adapted,
            _ => Imputer::Model,
        };
        let (mut sums, mut next) = (Sums::default(), 0);
        for batch in source.batches()? {
            let batch = batch?;
            let keyed = Keyed::of(&batch, &mut next)?;
            sums.too_short += (batch.len() - keyed.len()) as u64;
            let tracks = track(chain, adapted, &keyed)?;
            let units = tracks.par_iter().enumerate().map(|(at, track)| {
                let decoded = [Decoding::Viterbi, Decoding::Posterior].map(|by| track.labels(by));
                let states = keyed.sequences.labels(at);
                let wrong = |states: &[usize]| {
                    let said = adapted.viterbi(track.emission);
                    said.iter().zip(states).filter(|(said, state)| said != state).count() as f64
                };
                Unit {
                    tokens: track.path.len() as f64,
                    log_z: track.own.log_z,
                    imputed: Costs::imputed(chain, track, &decoded, (imputer, adapted)),
                    labelled: states.map(|states| Costs::of(chain, track, &decoded, states)),
                    adapted_wrong: states.map_or(0.0, wrong),
                }
            });
            units.collect::<Vec<Unit>>().iter().for_each(|unit| sums.add(unit));
        }
        let labels = sums.risk.labels();
        if labels < FEWEST_LABELS {
            return Err(Error::FewLabelledSequences { sequences: labels, needed: FEWEST_LABELS }.into());
        }
        let level = self.level();
        let [sequences, tokens] = [sums.risk.size(), sums.viterbi.size()];
        Ok(SequenceLabels {
            labels,
            labelled_tokens: sums.viterbi.labelled_size() as u64,
            sequences: sequences as u64,
            tokens: tokens as u64,
            too_short: sums.too_short,
            level,
            risk: sums.risk.powered(level, Range::POSITIVE),
            risk_per_token: sums.risk_per_token.powered(level, Range::POSITIVE),
            log_partition: sums.log_z / sequences,
            emission: sums.emission.powered(level, Range::Any),
            transition: sums.transition.powered(level, Range::Any),
            viterbi_error: sums.viterbi.powered(level, Range::Share),
            posterior_error: sums.posterior.powered(level, Range::Share),
            imputer,
            gain: estimate.filter(|_| adapted.is_new()).map(|_| sums.gain.powered(level, Range::Any).alone),
            alarms: sums.alarms(),
        })
    }
}
