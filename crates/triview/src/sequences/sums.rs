//! Sums over sequences, in blocks that hold whole ones: what the risk of a labelling needs beyond the moments of its tokens.

use super::chain::Chain;
use super::sites::{Decoding, Identified, Track, sites};
use crate::data::{BlockSums, block_count};
use crate::features::Evaluated;
use crate::interrupt;
use crate::moments::Plan;
use crate::numeric::{argmax, hash, kernel};
use crate::settings::chain_labels::UNLIKELY;
use rayon::prelude::*;
use std::ops::Range;

/// Numbers that are counted over all tokens, one place each.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Count {
    Sequences,
    Tokens,
    /// Pairs of neighbours.
    Edges,
    LogZ,
    /// Tokens that a decoding has wrong, under the adapted posterior and under the model's own.
    ViterbiError,
    ViterbiBelief,
    PosteriorError,
    PosteriorBelief,
    /// `sum_t sum_j p_j g(j, x_t)` under the adapted posterior, and under the model's own.
    Emission,
    BelievedEmission,
    /// What the best labelling costs: no labelling costs less.
    Least,
}

const COUNTS: usize = 11;

/// Numbers that are counted over the tokens that a part identifies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SiteCount {
    Sites,
    /// Those of which the token before is identified as well.
    Edges,
    /// As over all tokens.
    ViterbiError,
    PosteriorError,
    Emission,
    /// What of the emission scores does not hang on labels from past and future.
    EmissionBase,
    /// What of that rests on the posterior of the token alone.
    EmissionTail,
}

const SITE_COUNTS: usize = 7;

/// Where each sum lies in a block: those over all tokens, then those of each part.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) k: usize,
    /// Features of a view, the leading one included.
    q: usize,
    pub(crate) parts: usize,
}

impl Places {
    /// What labels are made of, for two views: the features of both, and the posterior given both.
    pub(crate) fn width(&self) -> usize {
        2 * self.q + self.k
    }

    fn whole(&self, at: usize) -> Range<usize> {
        let k = self.k;
        cut(&[COUNTS, k, k, k * k, k * k, k, k, k * k, 0], at, 0)
    }

    fn of_part(&self, part: usize, at: usize) -> Range<usize> {
        let (k, width) = (self.k, self.width());
        let sizes = [SITE_COUNTS, k, k * k, k * k, width * width, k * width, k * width];
        cut(&sizes, at, self.whole(8).end + part * sizes.iter().sum::<usize>())
    }

    /// The adapted posterior of first tokens.
    pub(crate) fn first(&self) -> Range<usize> {
        self.whole(1)
    }

    /// The adapted posterior of all tokens.
    pub(crate) fn states(&self) -> Range<usize> {
        self.whole(2)
    }

    /// That of pairs of neighbours.
    pub(crate) fn pairs(&self) -> Range<usize> {
        self.whole(3)
    }

    /// The state with the largest emission score, times the model's own posterior.
    pub(crate) fn believed_confusion(&self) -> Range<usize> {
        self.whole(4)
    }

    /// The model's own posterior of first tokens.
    pub(crate) fn believed_first(&self) -> Range<usize> {
        self.whole(5)
    }

    /// That of all tokens.
    pub(crate) fn believed_states(&self) -> Range<usize> {
        self.whole(6)
    }

    /// That of pairs of neighbours.
    pub(crate) fn believed_pairs(&self) -> Range<usize> {
        self.whole(7)
    }

    /// The [`SiteCount`]s.
    pub(crate) fn counts(&self, part: usize) -> Range<usize> {
        self.of_part(part, 0)
    }

    /// The adapted posterior of the part's tokens.
    pub(crate) fn site_states(&self, part: usize) -> Range<usize> {
        self.of_part(part, 1)
    }

    /// That of their pairs with the token before, where that is identified as well.
    pub(crate) fn site_pairs(&self, part: usize) -> Range<usize> {
        self.of_part(part, 2)
    }

    /// The state with the largest emission score, times the adapted posterior.
    pub(crate) fn confusion(&self, part: usize) -> Range<usize> {
        self.of_part(part, 3)
    }

    /// What labels of the token before from its past and itself are made of, times what labels of the token from itself and its
    /// future are.
    pub(crate) fn pair_labels(&self, part: usize) -> Range<usize> {
        self.of_part(part, 4)
    }

    /// The state with the largest emission score, times what labels from past and future are made of.
    pub(crate) fn confusion_labels(&self, part: usize) -> Range<usize> {
        self.of_part(part, 5)
    }

    /// By how much the emission score of each state differs, where it matters, times what labels from past and future are
    /// made of.
    pub(crate) fn differences(&self, part: usize) -> Range<usize> {
        self.of_part(part, 6)
    }

    fn len(&self) -> usize {
        self.differences(self.parts - 1).end
    }
}

/// Where one of some sums lies that begin at a place.
fn cut(sizes: &[usize], at: usize, begin: usize) -> Range<usize> {
    let from = begin + sizes[..at].iter().sum::<usize>();
    from..from + sizes[at]
}

/// The sums of each block.
pub(crate) struct ChainSums {
    pub(crate) places: Places,
    pub(crate) blocks: BlockSums,
}

impl ChainSums {
    pub(crate) fn new(plan: &Plan, identified: Identified) -> Self {
        let k = plan.schema.k();
        let places = Places { k, q: plan.features.dimension(0, k), parts: identified.parts() };
        Self { blocks: BlockSums::new(block_count(k), places.len()), places }
    }

    /// Adds sequences; each block by one thread, in order. A sequence goes to the block that its tokens go to.
    pub(crate) fn update(
        &mut self,
        plan: &Plan,
        [chain, adapted]: [&Chain; 2],
        tracks: &[Track<'_>],
        identified: Identified,
    ) {
        let count = self.blocks.count() as u64;
        let mut of_block: Vec<Vec<&Track<'_>>> = vec![Vec::new(); self.blocks.count()];
        for track in tracks {
            of_block[(hash(track.key) % count) as usize].push(track);
        }
        let places = &self.places;
        let length = places.len();
        self.blocks.blocks_mut().par_iter_mut().zip(of_block).for_each(|(block, tracks)| {
            for track in tracks {
                interrupt::check();
                BlockSums::fill(block, length);
                let mut sequence = Sequence { places, track, identified, block };
                sequence.add_posteriors(adapted);
                sequence.add_beliefs(chain);
                sequence.add_labels(plan);
            }
        });
    }

    /// The sums over all blocks.
    pub(crate) fn total(&self) -> Vec<f64> {
        self.blocks.total()
    }
}

/// One sequence and the block it is added to.
struct Sequence<'a> {
    places: &'a Places,
    track: &'a Track<'a>,
    identified: Identified,
    block: &'a mut [f64],
}

impl Sequence<'_> {
    fn count(&mut self, what: Count, by: f64) {
        self.block[what as usize] += by;
    }

    fn count_site(&mut self, part: usize, what: SiteCount, by: f64) {
        self.block[self.places.counts(part).start + what as usize] += by;
    }

    fn add(&mut self, range: Range<usize>, cells: &[f64]) {
        self.block[range].iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
    }

    /// What posteriors say: the model's own, and the adapted model's.
    fn add_posteriors(&mut self, chain: &Chain) {
        let (places, track, k) = (self.places, self.track, self.places.k);
        let (identified, length) = (self.identified, track.path.len());
        let inner = identified.inner(length);
        self.count(Count::Sequences, 1.0);
        self.count(Count::Tokens, length as f64);
        self.count(Count::Edges, (length - 1) as f64);
        self.count(Count::LogZ, track.own.log_z);
        let own = track.own.posteriors();
        let adapted = track.adapted.posteriors();
        let decodings = [
            (Decoding::Viterbi, Count::ViterbiError, SiteCount::ViterbiError, Count::ViterbiBelief),
            (Decoding::Posterior, Count::PosteriorError, SiteCount::PosteriorError, Count::PosteriorBelief),
        ];
        for (decoding, all, sites, belief) in decodings {
            for (t, label) in track.labels(decoding).into_iter().enumerate() {
                let wrong = 1.0 - adapted[t * k + label];
                self.count(all, wrong);
                self.count(belief, 1.0 - own[t * k + label]);
                if inner.contains(&t) {
                    self.count_site(identified.part(t), sites, wrong);
                }
            }
        }
        self.add(places.first(), &adapted[..k]);
        let row = |range: Range<usize>, row: usize| range.start + row * k..range.start + (row + 1) * k;
        for t in 0..length {
            let (posterior, scores) = (&adapted[t * k..(t + 1) * k], &track.emission[t * k..(t + 1) * k]);
            let mean = posterior.iter().zip(scores).map(|(p, g)| p * g).sum();
            let said = argmax(scores.iter().copied());
            self.count(Count::Emission, mean);
            self.add(places.states(), posterior);
            self.add(row(places.believed_confusion(), said), &own[t * k..(t + 1) * k]);
            if inner.contains(&t) {
                let part = identified.part(t);
                self.count_site(part, SiteCount::Sites, 1.0);
                self.count_site(part, SiteCount::Emission, mean);
                self.add(places.site_states(part), posterior);
                self.add(row(places.confusion(part), said), posterior);
            }
        }
        track.adapted.pairs(chain, |t, pairs| {
            self.add(places.pairs(), pairs);
            if inner.contains(&t) && inner.contains(&(t - 1)) {
                self.count_site(identified.part(t), SiteCount::Edges, 1.0);
                self.add(places.site_pairs(identified.part(t)), pairs);
            }
        });
    }

    /// What the model believes of itself.
    fn add_beliefs(&mut self, chain: &Chain) {
        let (places, track, k) = (self.places, self.track, self.places.k);
        let own = track.own.posteriors();
        self.count(Count::BelievedEmission, own.iter().zip(track.emission).map(|(p, g)| p * g).sum());
        self.count(Count::Least, track.own.log_z - chain.score(track.emission, &track.path));
        self.add(places.believed_first(), &own[..k]);
        own.chunks_exact(k).for_each(|posterior| self.add(places.believed_states(), posterior));
        track.own.pairs(chain, |_, pairs| self.add(places.believed_pairs(), pairs));
    }

    /// What surrogate labels are made of, times what they label.
    fn add_labels(&mut self, plan: &Plan) {
        let (places, track, k) = (self.places, self.track, self.places.k);
        let (identified, length) = (self.identified, track.path.len());
        let inner = identified.inner(length);
        let n = inner.len();
        if n == 0 {
            return;
        }
        let rows = sites(k, std::slice::from_ref(track), identified);
        let [past, own, future] = [0, 1, 2].map(|view| plan.evaluate(&rows, view));
        let joint = |views: [&Evaluated; 2]| {
            let mut posterior = Vec::new();
            plan.features.combine(n, &views.map(|view| view.posterior.as_slice()), &mut posterior);
            [views[0].features.as_slice(), &views[1].features, &posterior].concat()
        };
        let (before, after, around) = (joint([&past, &own]), joint([&own, &future]), joint([&past, &future]));
        let mut said = vec![0.0; k * n];
        let mut differences = vec![0.0; k * n];
        for (row, t) in inner.clone().enumerate() {
            let (g, alone) = (&track.emission[t * k..(t + 1) * k], &track.alone[t * k..(t + 1) * k]);
            said[argmax(g.iter().copied()) * n + row] = 1.0;
            let top = argmax(alone.iter().copied());
            let (mut base, mut tail) = (g[top], 0.0);
            for j in (0..k).filter(|&j| j != top) {
                let share = (alone[j] / UNLIKELY).min(1.0);
                let rest = (1.0 - share) * alone[j] * (g[j] - g[top]);
                base += rest;
                tail += rest.abs();
                differences[j * n + row] = share * (g[j] - g[top]);
            }
            self.count_site(identified.part(t), SiteCount::EmissionBase, base);
            self.count_site(identified.part(t), SiteCount::EmissionTail, tail);
        }
        let width = places.width();
        let rows_of = |columns: &[f64], rows: Range<usize>| -> Vec<f64> {
            columns.chunks_exact(n).flat_map(|column| column[rows.clone()].iter().copied()).collect()
        };
        for part in identified.part(inner.start)..=identified.part(inner.end - 1) {
            let tokens = identified.of_part(part, length);
            let rows = tokens.start - inner.start..tokens.end - inner.start;
            let later = rows.start.max(1)..rows.end;
            if !later.is_empty() {
                let left = rows_of(&before, later.start - 1..later.end - 1);
                let right = rows_of(&after, later.clone());
                let out = &mut self.block[places.pair_labels(part)];
                kernel::cross(&left, &right, later.len(), width, width, out);
            }
            let around = rows_of(&around, rows.clone());
            for (labelled, range) in
                [(&said, places.confusion_labels(part)), (&differences, places.differences(part))]
            {
                let labelled = rows_of(labelled, rows.clone());
                kernel::cross(&labelled, &around, rows.len(), k, width, &mut self.block[range]);
            }
        }
    }
}
