//! What sums over sequences say: under the adapted posterior, and by surrogate labels.
//!
//! With `w` the surrogate labels, `E[w_a(x_1 .. x_{t-1}) w_b(x_t .. x_T)] = P(y_{t-1} = a, y_t = b)`, because past and future are
//! independent given the pair. So the pair marginal takes no decomposition over pairs of states, and
//! `E[log f(y_{t-1}, y_t)] = sum_ab P_ab log f_ab`. Labels of the present from past and future give `E[log g(y_t, x_t)]`.
//!
//! Every quantity is read twice. Under the adapted posterior it has little noise, and is right as far as the posterior is. The
//! labels are right whatever the posterior is, and noisy: they correct it as far as they are sure.

use super::chain::Chain;
use super::sums::{ChainSums, Count, Places};
use crate::interval::{Deviations, Interval};
use crate::linalg::from_rows;
use crate::metrics::Measured;
use crate::moments::Moments;
use crate::solution::Solution;
use crate::surrogate::Kind;
use crate::views::VIEWS;
use faer::MatRef;
use std::ops::Range;

/// How wrong the posterior of unlikely states may be, as a share: what rests on it alone is in doubt by as much.
const DOUBT: f64 = 0.2;

/// Labels correct the posterior where they differ from it by more than so many standard errors of the difference.
const SURE: f64 = 3.0;

/// The view of the token itself.
const PRESENT: usize = 1;

/// Where each quantity lies among those of one way of reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantities {
    k: usize,
}

impl Quantities {
    /// Of a sequence: `log Z`, the scores of its emissions and of its transitions (with its first state).
    pub(crate) const LOG_Z: usize = 0;
    pub(crate) const EMISSION: usize = 1;
    pub(crate) const TRANSITION: usize = 2;
    /// Tokens of a sequence.
    pub(crate) const TOKENS: usize = 3;
    /// The share of transitions that the model forbids.
    pub(crate) const FORBIDDEN: usize = 4;

    pub(crate) fn prior(self) -> Range<usize> {
        5..5 + self.k
    }

    pub(crate) fn first(self) -> Range<usize> {
        self.prior().end..self.prior().end + self.k
    }

    /// Row by row, the state before, then the state after.
    pub(crate) fn transition(self) -> Range<usize> {
        self.first().end..self.first().end + self.k * self.k
    }

    /// Row `i`, column `j`: of the tokens in state `j`, the share whose largest emission score is that of `i`.
    pub(crate) fn confusion(self) -> Range<usize> {
        self.transition().end..self.transition().end + self.k * self.k
    }

    fn len(self) -> usize {
        self.confusion().end
    }
}

/// The quantities of both ways of reading, and what each block adds to their error.
pub(crate) struct Reading {
    pub(crate) places: Quantities,
    /// Corrected by labels, then under the posterior.
    values: Vec<f64>,
    deviations: Deviations,
    /// The share of the labels' correction of emissions and transitions that is taken.
    share: f64,
    /// Of the emissions of a sequence, beside the error of sampling.
    doubt: f64,
}

/// The share of a correction by labels that is taken: next to all of one that is far beyond its error, and none of one that is not.
pub(crate) fn taken(correction: f64, error: f64) -> f64 {
    match correction == 0.0 {
        true => 0.0,
        false => (1.0 - (SURE * error / correction).powi(2)).max(0.0),
    }
}

impl Reading {
    pub(crate) fn new(chain: &Chain, moments: &Moments, solution: &Solution, sums: &ChainSums) -> Self {
        let k = chain.k();
        let labels = &solution.main.labels;
        let prior = &solution.main.mixture.prior;
        let read = |prior: &[f64], maps: &[f64], sums_of: &[f64]| {
            Sums { chain, places: &sums.places, prior, labels: (labels.kind, maps), sums: sums_of }.read()
        };
        let total = sums.total();
        let values = read(prior, &labels.maps, &total);
        let (rows, n, count) = (&moments.layout().rows, moments.rows() as f64, labels.moved.count());
        // The blocks that the fit was repeated without.
        let used = moments.blocks().iter().zip(&sums.blocks).filter(|(block, _)| {
            let own = rows.of(block)[0];
            own > 0.0 && own < n
        });
        let without: Vec<Vec<f64>> = used
            .enumerate()
            .map(|(b, (_, block))| {
                let left: Vec<f64> = total.iter().zip(block).map(|(total, block)| total - block).collect();
                let prior = labels.moved_prior.without(prior, b, count);
                read(&prior, &labels.moved.without(&labels.maps, b, count), &left)
            })
            .collect();
        let count = |what: Count| total[what as usize];
        let tail = count(Count::EmissionTail) * count(Count::Tokens) / count(Count::Sites);
        let places = Quantities { k };
        let deviations = Deviations::of_left_out(&values, &without);
        // Errors of emissions and transitions make up for each other, so that labels correct both or neither.
        let correction = |row: &[f64]| {
            let of = |at: usize| row[at] - row[places.len() + at];
            of(Quantities::EMISSION) + of(Quantities::TRANSITION)
        };
        let share = taken(correction(&values), deviations.standard_error(correction));
        Self { places, deviations, share, doubt: DOUBT * tail / count(Count::Sequences), values }
    }

    /// One quantity.
    pub(crate) fn measure(&self, at: usize, reach: f64) -> Measured {
        self.measure_sum(&[(at, 1.0)], reach)
    }

    /// A quantity's value under the posterior, corrected by the labels as far as they are sure.
    pub(crate) fn value(&self, at: usize) -> f64 {
        let posterior = self.places.len() + at;
        let correction = self.values[at] - self.values[posterior];
        let error = || self.deviations.standard_error(|row| row[at] - row[posterior]);
        let share = match at {
            Quantities::EMISSION | Quantities::TRANSITION => self.share,
            _ => taken(correction, error()),
        };
        self.values[posterior] + share * correction
    }

    /// A sum of quantities with some weights. Its standard error is that of the labels, since a posterior can be checked no better
    /// than they allow, and the doubt of what they do not label.
    pub(crate) fn measure_sum(&self, parts: &[(usize, f64)], reach: f64) -> Measured {
        let value = parts.iter().map(|(at, weight)| weight * self.value(*at)).sum();
        let sampling =
            self.deviations.standard_error(|row| parts.iter().map(|(at, weight)| weight * row[*at]).sum());
        let emission = parts.iter().find(|(at, _)| *at == Quantities::EMISSION);
        let error = sampling.hypot(emission.map_or(0.0, |(_, weight)| weight * self.doubt));
        Measured { value, standard_error: error, interval: Interval::around(value, reach, error) }
    }

    /// Probabilities: no less than zero, and scaled to a sum of one.
    pub(crate) fn shares(&self, range: Range<usize>) -> Vec<f64> {
        let values: Vec<f64> = range.map(|at| self.value(at).max(0.0)).collect();
        let total: f64 = values.iter().sum();
        values.iter().map(|value| value / total.max(f64::MIN_POSITIVE)).collect()
    }
}

fn matrix(cells: &[f64], rows: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(cells, rows, cells.len() / rows)
}

/// What is read: the prior of the inner tokens, the maps that make labels `W` for each view, and the sums.
struct Sums<'a> {
    chain: &'a Chain,
    places: &'a Places,
    prior: &'a [f64],
    labels: (Kind, &'a [f64]),
    sums: &'a [f64],
}

impl Sums<'_> {
    fn count(&self, what: Count) -> f64 {
        self.sums[what as usize]
    }

    /// Corrected, then under the posterior.
    fn read(&self) -> Vec<f64> {
        let k = self.places.k;
        let (kind, maps) = self.labels;
        let at = usize::from(kind == Kind::Pair);
        let width = maps.len() / (VIEWS * k);
        let label = |v: usize| matrix(&maps[v * k * width..(v + 1) * k * width], k);
        let cells = |range: &Range<usize>, rows: usize| {
            from_rows(&self.sums[range.clone()], rows, range.len() / rows)
        };
        let sums = |range: &Range<usize>| &self.sums[range.clone()];
        let tokens_a_site = self.count(Count::Tokens) / self.count(Count::Sites);
        let edges_a_site = self.count(Count::Edges) / self.count(Count::SiteEdges).max(1.0);

        // Each is what the posterior says of all tokens, and by how much the labels differ from it where there are some.
        let differences = cells(&self.places.differences()[at], k);
        let labelled: f64 = (0..k * width)
            .map(|c| differences[(c / width, c % width)] * label(PRESENT)[(c / width, c % width)])
            .sum();
        let labelled = self.count(Count::EmissionBase) + labelled - self.count(Count::EmissionSites);
        let emission = [tokens_a_site * labelled, 0.0].map(|more| self.count(Count::Emission) + more);

        let [states, site_states] = self.places.states().map(|range| sums(&range).to_vec());
        let sites = self.count(Count::Sites);
        let corrected =
            (0..k).map(|j| states[j] + tokens_a_site * (sites * self.prior[j] - site_states[j])).collect();
        let states: [Vec<f64>; 2] = [corrected, states];

        let by_label = label(2) * cells(&self.places.pair_labels()[at], width) * label(0).transpose();
        let [pairs, site_pairs] = self.places.pairs().map(|range| sums(&range).to_vec());
        let corrected = (0..k * k)
            .map(|c| pairs[c] + edges_a_site * (by_label[(c / k, c % k)] - site_pairs[c]))
            .collect();
        let pairs: [Vec<f64>; 2] = [corrected, pairs];

        let by_label = cells(&self.places.confusion_labels()[at], k) * label(PRESENT).transpose();
        let confusion = [
            (0..k * k).map(|c| by_label[(c / k, c % k)] / (sites * self.prior[c % k])).collect(),
            by_column(sums(&self.places.confusion()[0])),
        ];
        let first = sums(&self.places.first());
        let mut out = Vec::new();
        for way in 0..2 {
            out.extend(self.totals(emission[way], &pairs[way], first));
            let tokens = self.count(Count::Tokens);
            out.extend(states[way].iter().map(|sum| sum / tokens));
            out.extend(first.iter().map(|sum| sum / self.count(Count::Sequences)));
            out.extend(by_row(&pairs[way], k));
            out.extend::<&Vec<f64>>(&confusion[way]);
        }
        out
    }

    /// Per sequence: `log Z`, emissions, transitions, tokens; and the share of forbidden transitions. What the model forbids
    /// counts as nothing here.
    fn totals(&self, emission: f64, pairs: &[f64], first: &[f64]) -> [f64; 5] {
        let scored = |log: &f64| if log.is_finite() { *log } else { 0.0 };
        let potentials = || self.chain.transition().iter();
        let transition = potentials().zip(pairs).map(|(f, p)| scored(f) * p).sum::<f64>()
            + self.chain.initial().iter().zip(first).map(|(f, p)| scored(f) * p).sum::<f64>();
        let forbidden: f64 = potentials().zip(pairs).filter(|(f, _)| !f.is_finite()).map(|(_, p)| p).sum();
        let n = self.count(Count::Sequences);
        [
            self.count(Count::LogZ) / n,
            emission / n,
            transition / n,
            self.count(Count::Tokens) / n,
            forbidden / self.count(Count::Edges),
        ]
    }
}

/// A square matrix with every row divided by its sum.
fn by_row(cells: &[f64], k: usize) -> Vec<f64> {
    cells
        .chunks_exact(k)
        .flat_map(|row| {
            let total: f64 = row.iter().sum();
            row.iter().map(move |cell| cell / total)
        })
        .collect()
}

/// A square matrix with every column divided by its sum.
pub(crate) fn by_column(cells: &[f64]) -> Vec<f64> {
    let k = cells.len().isqrt();
    let total = |j: usize| cells[j..].iter().step_by(k).sum::<f64>().max(f64::MIN_POSITIVE);
    let totals: Vec<f64> = (0..k).map(total).collect();
    cells.iter().enumerate().map(|(c, cell)| cell / totals[c % k]).collect()
}
