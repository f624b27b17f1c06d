//! What sums over sequences say: under the adapted posterior, and by surrogate labels.
//!
//! With `w` the surrogate labels, `E[w_a(x_1 .. x_{t-1}) w_b(x_t .. x_T)] = P(y_{t-1} = a, y_t = b)`, because past and future are
//! independent given the pair. So the pair marginal takes no decomposition over pairs of states, and
//! `E[log f(y_{t-1}, y_t)] = sum_ab P_ab log f_ab`. Labels of the present from past and future give `E[log g(y_t, x_t)]`.
//!
//! Every quantity is read twice. Under the adapted posterior it has little noise, and is right as far as the posterior is. The
//! labels are right whatever the posterior is, and noisy: they correct it as far as they are sure.

use super::chain::Chain;
use super::likelihood::Start;
use super::sites::Identified;
use super::sums::{ChainSums, Count, Places, SiteCount};
use crate::answer::{Blended, Deviations, Interval, Kind, LabelMaps, share_believed};
use crate::metrics::Measured;
use crate::moments::Moments;
use crate::settings::chain_labels::{CAUTION, DOUBT, SURE};
use faer::MatRef;
use std::ops::Range;

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
    deviations: Deviations<Vec<f64>>,
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

/// What was made of the tokens of one part.
pub(crate) struct SolvedPart {
    pub(crate) moments: Moments,
    pub(crate) solved: Blended,
}

impl SolvedPart {
    /// For each block of sequences, its place among those that the fit was repeated without.
    fn used(&self) -> Vec<Option<usize>> {
        let (rows, n) = (&self.moments.layout().rows, self.moments.rows() as f64);
        let mut used = vec![None; self.moments.sums().count()];
        let fewer = self.moments.sums().filled().filter(|(_, block)| rows.scalar(block) < n);
        fewer.enumerate().for_each(|(place, (block, _))| used[block] = Some(place));
        used
    }

    /// The fit, or to first order that without one of those blocks.
    fn labels(&self, without: Option<usize>) -> PartLabels {
        let (labels, prior) = (&self.solved.main().labels, &self.solved.main().mixture.prior);
        let count = labels.moved.count();
        let (maps, prior) = match without {
            None => (labels.maps.clone(), prior.clone()),
            Some(block) => (
                labels.moved.without(&labels.maps, block, count),
                labels.moved_prior.without(prior, block, count),
            ),
        };
        PartLabels { prior, kind: labels.kind, maps }
    }
}

impl Reading {
    pub(crate) fn new(chain: &Chain, identified: Identified, parts: &[SolvedPart], sums: &ChainSums) -> Self {
        let k = chain.k();
        let read = |fits: &[PartLabels], sums_of: &[f64]| {
            Sums { chain, identified, places: &sums.places, fits, sums: sums_of }.read()
        };
        let total = sums.total();
        let fits: Vec<PartLabels> = parts.iter().map(|part| part.labels(None)).collect();
        let values = read(&fits, &total);
        let used: Vec<Vec<Option<usize>>> = parts.iter().map(SolvedPart::used).collect();
        let without: Vec<Vec<f64>> = sums
            .blocks
            .filled()
            .filter(|(b, _)| used.iter().any(|used| used[*b].is_some()))
            .map(|(b, block)| {
                let left: Vec<f64> = total.iter().zip(block).map(|(total, block)| total - block).collect();
                let fits: Vec<PartLabels> =
                    parts.iter().zip(&used).map(|(part, used)| part.labels(used[b])).collect();
                read(&fits, &left)
            })
            .collect();
        let of_parts = |what: SiteCount| of_parts(&sums.places, &total, what);
        let count = |what: Count| total[what as usize];
        let tail = of_parts(SiteCount::EmissionTail) * count(Count::Tokens) / of_parts(SiteCount::Sites);
        let places = Quantities { k };
        let deviations = Deviations::of_left_out(&values, &without);
        // Errors of emissions and transitions make up for each other, so that labels correct both or neither.
        let correction = |row: &Vec<f64>| {
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

    /// A quantity's value under the posterior, corrected by the labels where they are sure.
    pub(crate) fn value(&self, at: usize) -> f64 {
        self.corrected(at, |correction, error| match at {
            Quantities::EMISSION | Quantities::TRANSITION => self.share,
            _ => taken(correction, error),
        })
    }

    /// The value under the posterior and so much of the labels' correction, given it and its error.
    fn corrected(&self, at: usize, share: impl Fn(f64, f64) -> f64) -> f64 {
        let posterior = self.places.len() + at;
        let correction = self.values[at] - self.values[posterior];
        let error = self.deviations.standard_error(|row| row[at] - row[posterior]);
        self.values[posterior] + share(correction, error) * correction
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

    /// Where to begin to adapt a model: first states and transitions corrected where labels are sure, and as far as they stand out of
    /// their error at all. The second is noisier, and knows of what the model holds to be impossible.
    pub(crate) fn starts(&self) -> [Start; 2] {
        let (at, k) = (self.places, self.places.k);
        let start = |share: fn(f64, f64) -> f64| {
            let shares = |range: Range<usize>| -> Vec<f64> {
                let values: Vec<f64> = range.map(|at| self.corrected(at, share).max(0.0)).collect();
                let total: f64 = values.iter().sum();
                values.iter().map(|value| value / total.max(f64::MIN_POSITIVE)).collect()
            };
            let row = |a: usize| at.transition().start + a * k..at.transition().start + (a + 1) * k;
            Start { first: shares(at.first()), transition: (0..k).flat_map(|a| shares(row(a))).collect() }
        };
        [start(taken), start(believed)]
    }
}

/// The share of a correction that stands out of its error.
fn believed(correction: f64, error: f64) -> f64 {
    share_believed(correction * correction, CAUTION * error * error)
}

fn matrix(cells: &[f64], rows: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(cells, rows, cells.len() / rows)
}

/// A count over the tokens of all parts.
pub(crate) fn of_parts(places: &Places, sums: &[f64], what: SiteCount) -> f64 {
    (0..places.parts).map(|part| sums[places.counts(part).start + what as usize]).sum()
}

/// The prior of a part's tokens, and the maps that make labels `W` for each view.
struct PartLabels {
    prior: Vec<f64>,
    kind: Kind,
    maps: LabelMaps,
}

impl PartLabels {
    /// The map for a view, and where what it is applied to lies among the features of two views and the posterior given both.
    fn label(&self, view: usize, all: usize) -> (MatRef<'_, f64>, Range<usize>) {
        let k = self.prior.len();
        let width = self.maps[view].len() / k;
        let from = if self.kind == Kind::Pair { all - width } else { 0 };
        (matrix(&self.maps[view], k), from..from + width)
    }
}

/// What is read: the fit of each part, and the sums.
struct Sums<'a> {
    chain: &'a Chain,
    identified: Identified,
    places: &'a Places,
    fits: &'a [PartLabels],
    sums: &'a [f64],
}

/// By how much labels differ from the posterior, over the tokens that they label.
struct Corrections {
    emission: f64,
    states: Vec<f64>,
    pairs: Vec<f64>,
    /// The state with the largest emission score by the true state, by labels, and how often each state is the true one.
    confusion: Vec<f64>,
    prior: Vec<f64>,
}

impl Sums<'_> {
    fn count(&self, what: Count) -> f64 {
        self.sums[what as usize]
    }

    fn of(&self, range: Range<usize>) -> &[f64] {
        &self.sums[range]
    }

    fn corrections(&self) -> Corrections {
        let (k, width) = (self.places.k, self.places.width());
        let mut sum = Corrections {
            emission: 0.0,
            states: vec![0.0; k],
            pairs: vec![0.0; k * k],
            confusion: vec![0.0; k * k],
            prior: vec![0.0; k],
        };
        for (part, fit) in self.fits.iter().enumerate() {
            let site = |what: SiteCount| self.sums[self.places.counts(part).start + what as usize];
            let (present, columns) = fit.label(PRESENT, width);
            let columns_of =
                |cells: Range<usize>| matrix(self.of(cells), k).submatrix(0, columns.start, k, columns.len());
            let differences = columns_of(self.places.differences(part));
            let labelled: f64 = (0..k)
                .flat_map(|j| (0..columns.len()).map(move |c| (j, c)))
                .map(|at| differences[at] * present[at])
                .sum();
            sum.emission += site(SiteCount::EmissionBase) + labelled - site(SiteCount::Emission);
            let by_label = columns_of(self.places.confusion_labels(part)) * present.transpose();
            (0..k * k).for_each(|c| sum.confusion[c] += by_label[(c / k, c % k)]);
            for (j, state) in self.of(self.places.site_states(part)).iter().enumerate() {
                let labelled = site(SiteCount::Sites) * fit.prior[j];
                sum.prior[j] += labelled;
                sum.states[j] += labelled - state;
            }
            let (before, rows) = self.fits[self.identified.before(part)].label(2, width);
            let (after, columns) = fit.label(0, width);
            let products = matrix(self.of(self.places.pair_labels(part)), width);
            let products = products.submatrix(rows.start, columns.start, rows.len(), columns.len());
            let by_label = before * products * after.transpose();
            for (c, pair) in self.of(self.places.site_pairs(part)).iter().enumerate() {
                sum.pairs[c] += by_label[(c / k, c % k)] - pair;
            }
        }
        sum
    }

    /// Corrected, then under the posterior: each is what the posterior says of all tokens, and by how much the labels differ
    /// from it where there are some.
    fn read(&self) -> Vec<f64> {
        let (k, places) = (self.places.k, self.places);
        let of_parts = |what: SiteCount| of_parts(places, self.sums, what);
        let tokens_a_site = self.count(Count::Tokens) / of_parts(SiteCount::Sites);
        let edges_a_site = self.count(Count::Edges) / of_parts(SiteCount::Edges).max(1.0);
        let by = self.corrections();
        let plus = |plain: &[f64], more: &[f64], times: f64| -> [Vec<f64>; 2] {
            [plain.iter().zip(more).map(|(plain, more)| plain + times * more).collect(), plain.to_vec()]
        };
        let emission = [tokens_a_site * by.emission, 0.0].map(|more| self.count(Count::Emission) + more);
        let states = plus(self.of(places.states()), &by.states, tokens_a_site);
        let pairs = plus(self.of(places.pairs()), &by.pairs, edges_a_site);
        let mut confusion = vec![0.0; k * k];
        for part in 0..places.parts {
            confusion.iter_mut().zip(self.of(places.confusion(part))).for_each(|(sum, cell)| *sum += cell);
        }
        let confusion = [
            by.confusion.iter().enumerate().map(|(c, cell)| cell / by.prior[c % k]).collect(),
            by_column(&confusion),
        ];
        let first = self.of(places.first());
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
pub(crate) fn by_row(cells: &[f64], k: usize) -> Vec<f64> {
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
