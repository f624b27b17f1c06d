//! Sums over sequences, in blocks that hold whole ones: what the risk of a labelling needs beyond the moments of its tokens.

use super::chain::Chain;
use super::sites::{Decoding, Track, inner, sites};
use crate::features::Evaluated;
use crate::loss::best;
use crate::moments::{Header, block_count, kernel};
use crate::sample::hash;
use rayon::prelude::*;
use std::ops::Range;

/// States with a smaller posterior than this, by the token alone, count less than fully in what past and future have to label:
/// labels that are right on average only are noise there, and what they label is large.
const UNLIKELY: f64 = 0.03;

/// Numbers that are counted, one place each.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Count {
    Sequences,
    Tokens,
    /// Tokens that are identified by their views.
    Sites,
    /// Pairs of neighbours, and those that both are.
    Edges,
    SiteEdges,
    LogZ,
    /// Tokens that a decoding has wrong under the adapted posterior: all tokens, those identified, and all under the
    /// model's own posterior.
    ViterbiError,
    ViterbiSites,
    ViterbiBelief,
    PosteriorError,
    PosteriorSites,
    PosteriorBelief,
    /// `sum_t sum_j p_j g(j, x_t)` under the adapted posterior: all tokens, and those identified.
    Emission,
    EmissionSites,
    /// What of the emission scores of those does not hang on labels from past and future.
    EmissionBase,
    /// What of that rests on the posterior of the token alone.
    EmissionTail,
}

const COUNTS: usize = 16;

/// Where each sum lies in a block.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) k: usize,
    /// Features of a view, the leading one included.
    q: usize,
}

impl Places {
    fn cut(&self, part: usize) -> Range<usize> {
        let (k, q) = (self.k, self.q);
        let sizes = [
            COUNTS,
            k,
            k,
            k,
            k * k,
            k * k,
            4 * q * q,
            k * k,
            2 * k * q,
            k * k,
            k * k,
            k * k,
            2 * k * q,
            k * k,
        ];
        let from = sizes[..part].iter().sum();
        from..from + sizes[part]
    }

    /// The adapted posterior of first tokens, of all, and of those identified.
    pub(crate) fn first(&self) -> Range<usize> {
        self.cut(1)
    }

    pub(crate) fn states(&self) -> [Range<usize>; 2] {
        [self.cut(2), self.cut(3)]
    }

    /// The adapted posterior of pairs of neighbours: all, and those of which both are identified.
    pub(crate) fn pairs(&self) -> [Range<usize>; 2] {
        [self.cut(4), self.cut(5)]
    }

    /// What labels of a token from its past and itself are made of, times what labels of the next from itself and its future
    /// are: by features, and by posteriors.
    pub(crate) fn pair_labels(&self) -> [Range<usize>; 2] {
        [self.cut(6), self.cut(7)]
    }

    /// The state with the largest emission score, times what labels from past and future are made of: likewise.
    pub(crate) fn confusion_labels(&self) -> [Range<usize>; 2] {
        [self.cut(8), self.cut(9)]
    }

    /// The state with the largest emission score, times the adapted posterior of those tokens, and the model's of all.
    pub(crate) fn confusion(&self) -> [Range<usize>; 2] {
        [self.cut(10), self.cut(11)]
    }

    /// By how much the emission score of each state differs, where it matters, times what labels from past and future are
    /// made of: by features, and by posteriors.
    pub(crate) fn differences(&self) -> [Range<usize>; 2] {
        [self.cut(12), self.cut(13)]
    }

    fn len(&self) -> usize {
        self.differences()[1].end
    }
}

/// The sums of each block.
pub(crate) struct ChainSums {
    pub(crate) places: Places,
    pub(crate) blocks: Vec<Vec<f64>>,
}

impl ChainSums {
    pub(crate) fn new(header: &Header) -> Self {
        let k = header.schema.k();
        let places = Places { k, q: header.features.dimension(k, k) };
        Self { blocks: vec![vec![0.0; places.len()]; block_count(k)], places }
    }

    /// Adds sequences; each block by one thread, in order. A sequence goes to the block that its tokens go to.
    pub(crate) fn update(&mut self, header: &Header, chain: &Chain, tracks: &[Track<'_>], margin: usize) {
        let count = self.blocks.len() as u64;
        let mut of_block: Vec<Vec<&Track<'_>>> = vec![Vec::new(); self.blocks.len()];
        for track in tracks {
            of_block[(hash(track.key) % count) as usize].push(track);
        }
        let places = &self.places;
        self.blocks.par_iter_mut().zip(of_block).for_each(|(block, tracks)| {
            for track in tracks {
                let mut sequence = Sequence { places, track, margin, block };
                sequence.add_posteriors(chain);
                sequence.add_labels(header);
            }
        });
    }

    /// The sums over all blocks.
    pub(crate) fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.places.len()];
        for block in &self.blocks {
            total.iter_mut().zip(block).for_each(|(total, sum)| *total += sum);
        }
        total
    }
}

/// One sequence and the block it is added to.
struct Sequence<'a> {
    places: &'a Places,
    track: &'a Track<'a>,
    margin: usize,
    block: &'a mut [f64],
}

impl Sequence<'_> {
    fn count(&mut self, what: Count, by: f64) {
        self.block[what as usize] += by;
    }

    fn add(&mut self, range: Range<usize>, cells: &[f64]) {
        self.block[range].iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
    }

    /// What posteriors say: the model's own, and the adapted model's.
    fn add_posteriors(&mut self, chain: &Chain) {
        let (places, track, k) = (self.places, self.track, self.places.k);
        let length = track.path.len();
        let inner = inner(length, self.margin);
        self.count(Count::Sequences, 1.0);
        self.count(Count::Tokens, length as f64);
        self.count(Count::Sites, inner.len() as f64);
        self.count(Count::Edges, (length - 1) as f64);
        self.count(Count::SiteEdges, inner.len().saturating_sub(1) as f64);
        self.count(Count::LogZ, track.own.log_z);
        let own = track.own.posteriors();
        let adapted = track.adapted.posteriors();
        let decodings = [
            (Decoding::Viterbi, Count::ViterbiError, Count::ViterbiSites, Count::ViterbiBelief),
            (Decoding::Posterior, Count::PosteriorError, Count::PosteriorSites, Count::PosteriorBelief),
        ];
        for (decoding, all, sites, belief) in decodings {
            for (t, label) in track.labels(decoding).into_iter().enumerate() {
                let wrong = 1.0 - adapted[t * k + label];
                self.count(all, wrong);
                self.count(belief, 1.0 - own[t * k + label]);
                if inner.contains(&t) {
                    self.count(sites, wrong);
                }
            }
        }
        self.add(places.first(), &adapted[..k]);
        for t in 0..length {
            let (posterior, scores) = (&adapted[t * k..(t + 1) * k], &track.emission[t * k..(t + 1) * k]);
            let mean = posterior.iter().zip(scores).map(|(p, g)| p * g).sum();
            let [all, sites] = places.states();
            let [confusion, believed] = places.confusion();
            let said = best(scores.iter().copied()) * k;
            self.count(Count::Emission, mean);
            self.add(all, posterior);
            self.add(believed.start + said..believed.start + said + k, &own[t * k..(t + 1) * k]);
            if inner.contains(&t) {
                self.count(Count::EmissionSites, mean);
                self.add(sites, posterior);
                self.add(confusion.start + said..confusion.start + said + k, posterior);
            }
        }
        track.adapted.pairs(chain, |t, pairs| {
            let [all, sites] = places.pairs();
            self.add(all, pairs);
            if inner.contains(&t) && inner.contains(&(t - 1)) {
                self.add(sites, pairs);
            }
        });
    }

    /// What surrogate labels are made of, times what they label.
    fn add_labels(&mut self, header: &Header) {
        let (places, track, k) = (self.places, self.track, self.places.k);
        let inner = inner(track.path.len(), self.margin);
        let n = inner.len();
        if n == 0 {
            return;
        }
        let rows = sites(k, std::slice::from_ref(track), self.margin);
        let [past, own, future] = [0, 1, 2].map(|view| header.evaluate(&rows, view));
        let joint = |views: [&Evaluated; 2]| {
            let mut posterior = Vec::new();
            header.features.combine(n, &views.map(|view| view.posterior.as_slice()), &mut posterior);
            [views.map(|view| view.features.as_slice()).concat(), posterior]
        };
        let (before, after, around) = (joint([&past, &own]), joint([&own, &future]), joint([&past, &future]));
        let mut said = vec![0.0; k * n];
        let mut differences = vec![0.0; k * n];
        for (row, t) in inner.enumerate() {
            let (g, alone) = (&track.emission[t * k..(t + 1) * k], &track.alone[t * k..(t + 1) * k]);
            said[best(g.iter().copied()) * n + row] = 1.0;
            let top = best(alone.iter().copied());
            let (mut base, mut tail) = (g[top], 0.0);
            for j in (0..k).filter(|&j| j != top) {
                let share = (alone[j] / UNLIKELY).min(1.0);
                let rest = (1.0 - share) * alone[j] * (g[j] - g[top]);
                base += rest;
                tail += rest.abs();
                differences[j * n + row] = share * (g[j] - g[top]);
            }
            self.count(Count::EmissionBase, base);
            self.count(Count::EmissionTail, tail);
        }
        for kind in 0..2 {
            let width = before[kind].len() / n;
            let shifted = |columns: &[f64], from: usize| -> Vec<f64> {
                columns
                    .chunks_exact(n)
                    .flat_map(|column| column[from..from + n - 1].iter().copied())
                    .collect()
            };
            if n > 1 {
                let (left, right) = (shifted(&before[kind], 0), shifted(&after[kind], 1));
                let out = &mut self.block[places.pair_labels()[kind].clone()];
                kernel::cross(&left, &right, n - 1, width, width, out);
            }
            let out = &mut self.block[places.confusion_labels()[kind].clone()];
            kernel::cross(&said, &around[kind], n, k, width, out);
            let out = &mut self.block[places.differences()[kind].clone()];
            kernel::cross(&differences, &around[kind], n, k, width, out);
        }
    }
}
