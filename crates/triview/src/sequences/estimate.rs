//! The answer of sequences, with all that says how far to trust it.

use super::adapted::Adapted;
use super::belief::Belief;
use super::chain::Chain;
use super::reading::{Quantities, Reading, by_column, of_parts, taken};
use super::sample::Census;
use super::sites::Identified;
use super::sums::{ChainSums, Count, SiteCount};
use crate::answer::Interval;
use crate::diagnostics::Alarm;
use crate::estimator::Estimate;
use crate::metrics::Measured;
use crate::numeric::linalg::softmax;
use crate::settings::sequences::{BEYOND_POSSIBLE, SOME};

/// How often a decoding gives a token another state than its own.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TokenError {
    /// The estimate.
    pub estimate: Measured,
    /// What the model believes of itself.
    pub belief: f64,
}

/// The answer.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SequenceEstimate {
    /// The mean of `-log p(y | x)` over sequences.
    pub risk: Measured,
    /// The same over tokens: the sum of all sequences' over the number of their tokens.
    pub risk_per_token: Measured,
    /// The mean of `log Z(x)` over sequences.
    pub log_partition: f64,
    /// The mean of `sum_t log g(y_t, x_t)`: the risk is the log partition less this and the transitions'.
    pub emission: Measured,
    /// The mean of the sum of the log potentials of the first state and the transitions.
    pub transition: Measured,
    /// The level of confidence of all intervals.
    pub level: f64,
    /// Names of the states that are told apart.
    pub states: Vec<String>,
    /// The states that are too rare for that, which are taken as one; whether a token has another one of them than its own is not counted.
    pub pooled: Vec<String>,
    /// Sequences it rests on.
    pub sequences: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Sequences of one or two tokens, which were skipped.
    pub too_short: u64,
    /// The shortest and the longest of the others.
    pub lengths: [usize; 2],
    /// The tokens that the states were identified from.
    pub identified: Identified,
    /// How often each state occurs.
    pub state_prior: Vec<Measured>,
    /// Row by row, the state before, then the state after: the transitions that the data have.
    pub transition_matrix: Vec<Vec<Measured>>,
    /// The model's own: its potentials, scaled so that each row sums to one.
    pub model_transition_matrix: Vec<Vec<f64>>,
    /// Row `i`, column `j`: of the tokens in state `j`, the share whose largest emission score is that of `i`.
    pub emission_confusion: Vec<Vec<Measured>>,
    /// The same under the model's own posterior.
    pub model_emission_confusion: Vec<Vec<f64>>,
    /// Of the labelling with the largest score.
    pub viterbi_error: TokenError,
    /// Of the states with the largest posterior, token by token.
    pub posterior_error: TokenError,
    /// How the states were identified from past, present and future of tokens: its fit, conditioning and test of independence. By
    /// position, that of the position where the test came nearest to failing, corrected for the tests at the others.
    pub identification: Estimate,
    /// The model that the data suggest.
    pub adapted: Adapted,
    /// How many fewer tokens its Viterbi labels have wrong than the model's, as a share of the identified ones; absent where the two are
    /// the same.
    pub gain: Option<Measured>,
    /// What is wrong with it; empty when nothing is.
    pub alarms: Vec<Alarm>,
}

/// All that an estimate is made of.
pub(crate) struct Parts<'a> {
    pub(crate) chain: &'a Chain,
    pub(crate) census: &'a Census,
    pub(crate) identified: Identified,
    pub(crate) reading: &'a Reading,
    pub(crate) sums: &'a ChainSums,
    /// At least one.
    pub(crate) identifications: Vec<Identification>,
    pub(crate) adapted: Adapted,
    pub(crate) level: f64,
    pub(crate) reach: f64,
}

/// How a part of the tokens was identified.
pub(crate) struct Identification {
    pub(crate) estimate: Estimate,
    /// Of the Viterbi and of the posterior decoding, over those of the part's tokens that were looked at.
    pub(crate) errors: [Measured; 2],
    /// By how much the first is larger than that of the adapted model.
    pub(crate) gain: Measured,
}

impl SequenceEstimate {
    /// Whether no diagnostic speaks against it.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }

    /// Whether the sequences tell the states apart. Where they do not, all that is shown of the data is the model's own belief.
    pub fn is_identified(&self) -> bool {
        !self.alarms.contains(&Alarm::NotIdentified)
    }

    /// Whether the model that the data suggest can be told to be better than the given one, without labels.
    pub fn adapted_is_better(&self) -> bool {
        self.trusted() && self.gain.is_some_and(|gain| gain.interval.low > 0.0)
    }

    pub(crate) fn new(parts: Parts<'_>) -> Self {
        let Parts { chain, census, reading, sums, reach, .. } = parts;
        let (k, at) = (chain.k(), reading.places);
        let tokens = reading.value(Quantities::TOKENS);
        let risk_of =
            [(Quantities::LOG_Z, 1.0), (Quantities::EMISSION, -1.0), (Quantities::TRANSITION, -1.0)];
        // The risk of a labelling is no less than zero.
        let possible = |interval: Interval| interval.within(0.0, f64::INFINITY);
        let risk = reading.measure_sum(&risk_of, reach);
        let risk = Measured { interval: possible(risk.interval), ..risk };
        // A ratio of means: to first order its deviations are those of the risk less those of the tokens times it.
        let mean = risk.value / tokens;
        let of_token: Vec<(usize, f64)> = risk_of.iter().map(|(at, weight)| (*at, weight / tokens)).collect();
        let ratio = [of_token, vec![(Quantities::TOKENS, -mean / tokens)]].concat();
        let error = reading.measure_sum(&ratio, reach).standard_error;
        let interval = possible(Interval::around(mean, reach, error));
        let risk_per_token = Measured { value: mean, standard_error: error, interval };
        let share = |cell: usize| reading.measure(cell, reach).share();
        let matrix = |from: usize| -> Vec<Vec<Measured>> {
            (0..k).map(|i| (0..k).map(|j| share(from + i * k + j)).collect()).collect()
        };
        let total = sums.total();
        let believed = by_column(&total[sums.places.believed_confusion()]);
        let count = |what: Count| total[what as usize];
        let sites = of_parts(&sums.places, &total, SiteCount::Sites);
        // Parts are of the same sequences, so that their errors may add up.
        let of_sites = |of: &dyn Fn(&Identification) -> Measured| {
            let shares = parts.identifications.iter().map(|part| (part.estimate.rows as f64 / sites, part));
            shares.fold([0.0; 2], |[value, error], (share, part)| {
                let Measured { value: own, standard_error, .. } = of(part);
                [value + share * own, error + share * standard_error]
            })
        };
        let [gain, gain_error] = of_sites(&|part| part.gain);
        let gain = Measured {
            value: gain,
            standard_error: gain_error,
            interval: Interval::around(gain, reach, gain_error).within(-1.0, 1.0),
        };
        let token_error = |[labelled, error]: [f64; 2], [all, belief]: [Count; 2], sites_wrong: SiteCount| {
            let per_site = of_parts(&sums.places, &total, sites_wrong) / sites;
            let (plain, all_tokens) = (count(all) / count(Count::Tokens), count(Count::Tokens));
            let correction = labelled - per_site;
            let value = plain + taken(correction, error) * correction;
            let interval = Interval::around(value, reach, error);
            TokenError {
                estimate: Measured { value, standard_error: error, interval }.share(),
                belief: count(belief) / all_tokens,
            }
        };
        let viterbi_error = token_error(
            of_sites(&|part| part.errors[0]),
            [Count::ViterbiError, Count::ViterbiBelief],
            SiteCount::ViterbiError,
        );
        let posterior_error = token_error(
            of_sites(&|part| part.errors[1]),
            [Count::PosteriorError, Count::PosteriorBelief],
            SiteCount::PosteriorError,
        );
        let mut alarms = of_positions(&parts.identifications);
        alarms.extend(impossible(&risk, &reading.measure(Quantities::FORBIDDEN, reach)));
        Self {
            risk_per_token,
            log_partition: reading.value(Quantities::LOG_Z),
            emission: reading.measure(Quantities::EMISSION, reach),
            transition: reading.measure(Quantities::TRANSITION, reach),
            level: parts.level,
            states: chain.states().to_vec(),
            pooled: Vec::new(),
            sequences: census.sequences,
            tokens: census.tokens,
            too_short: census.too_short,
            lengths: census.lengths,
            identified: parts.identified,
            state_prior: at.prior().map(share).collect(),
            transition_matrix: matrix(at.transition().start),
            model_transition_matrix: chain.transition().chunks_exact(k).map(softmax).collect(),
            emission_confusion: matrix(at.confusion().start),
            model_emission_confusion: believed.chunks_exact(k).map(<[f64]>::to_vec).collect(),
            viterbi_error,
            posterior_error,
            identification: nearest_to_failing(parts.identifications),
            gain: parts.adapted.is_new().then_some(gain),
            adapted: parts.adapted,
            alarms,
            risk,
        }
        .where_identified(reach, &Belief::new(chain, sums))
    }
}

/// The identification whose test of independence came nearest to failing.
fn nearest_to_failing(identifications: Vec<Identification>) -> Estimate {
    let chance = |part: &Identification| part.estimate.independence.p_value.unwrap_or(2.0);
    let least = identifications.into_iter().min_by(|a, b| chance(a).total_cmp(&chance(b)));
    least.map_or_else(|| unreachable!("tokens are identified in one part or more"), |part| part.estimate)
}

/// What speaks against the identifications. Of alarms that are alike at several positions the first is shown.
fn of_positions(identifications: &[Identification]) -> Vec<Alarm> {
    let [_, _, ..] = identifications else {
        return identifications.iter().flat_map(|part| part.estimate.alarms.clone()).collect();
    };
    let mut alike: Vec<(usize, Alarm, usize)> = Vec::new();
    for (at, part) in identifications.iter().enumerate() {
        for alarm in &part.estimate.alarms {
            match alike.iter_mut().find(|(_, other, _)| other.remedy() == alarm.remedy()) {
                Some((_, _, others)) => *others += 1,
                None => alike.push((at + 2, alarm.clone(), 0)),
            }
        }
    }
    let told = |(position, alarm, more): (usize, Alarm, usize)| Alarm::AtToken {
        position,
        alarm: Box::new(alarm),
        more,
    };
    alike.into_iter().map(told).collect()
}

/// What no labelling can have.
fn impossible(risk: &Measured, forbidden: &Measured) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    if risk.value < -BEYOND_POSSIBLE * risk.standard_error {
        alarms.push(Alarm::NegativeRisk { risk: risk.value });
    }
    if forbidden.value > SOME && forbidden.value > BEYOND_POSSIBLE * forbidden.standard_error {
        alarms.push(Alarm::ForbiddenTransitions { share: forbidden.value });
    }
    alarms
}
