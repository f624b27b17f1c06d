//! Votes as whole numbers: some eight bytes each.

use crate::error::{Error, Result};

/// Confusion matrices may have so many cells in all: two gigabytes of them.
const MOST_CELLS: usize = 1 << 28;

/// One vote: an annotator says that an item is of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vote {
    /// The item.
    pub item: u32,
    /// The annotator.
    pub annotator: u32,
    /// The class.
    pub class: u32,
}

/// The votes of a crowd, each item with any number of them, each annotator with at most one an item.
///
/// A *ballot* is an annotator and a class, `annotator * k + class`. Votes are kept by item, as the ballots that were cast for
/// it: four bytes a vote, and four an item.
///
/// *Gold* are the items whose class is known, drawn at random from all: [`Votes::with_gold`].
#[derive(Debug, Clone)]
pub struct Votes {
    k: usize,
    annotators: usize,
    starts: Vec<u32>,
    ballots: Vec<u32>,
    /// The known class of each item, or [`UNKNOWN`]; empty where none is known.
    gold: Vec<u32>,
}

/// What stands for a class that is not known.
const UNKNOWN: u32 = u32::MAX;

/// The same votes by ballot: the items that each was cast for.
#[derive(Debug, Clone)]
pub(crate) struct ByBallot {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl ByBallot {
    /// The items of a ballot, in their order.
    pub(crate) fn of(&self, ballot: usize) -> &[u32] {
        &self.items[self.starts[ballot] as usize..self.starts[ballot + 1] as usize]
    }
}

impl Votes {
    /// From votes in any order. Items without a vote are allowed, annotators without one as well.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a number that is out of range, [`Error::TooManyBallots`] where the confusion matrices
    /// would not fit in memory, [`Error::DuplicateVote`] for an annotator who votes twice on an item.
    pub fn new(k: usize, annotators: usize, items: usize, votes: &[Vote]) -> Result<Self> {
        let cells = annotators.checked_mul(k * k).filter(|cells| *cells <= MOST_CELLS);
        if cells.is_none() || items > u32::MAX as usize - 1 || votes.len() > u32::MAX as usize - 1 {
            return Err(Error::TooManyBallots { annotators, k, votes: votes.len() });
        }
        let outside = |vote: &&Vote| {
            vote.item as usize >= items || vote.annotator as usize >= annotators || vote.class as usize >= k
        };
        if let Some(vote) = votes.iter().find(outside) {
            return Err(Error::InvalidParameter {
                name: "vote",
                value: format!("{vote:?}"),
                expected: "items, annotators and classes are counted from 0 and below their numbers",
            });
        }
        let ballot = |vote: &Vote| vote.annotator * k as u32 + vote.class;
        let (starts, mut ballots) = dealt(votes, items, |vote| vote.item as usize, ballot);
        for item in 0..items {
            // Votes of an item come in the order of their annotators, whatever order they were given in.
            let own = &mut ballots[starts[item] as usize..starts[item + 1] as usize];
            own.sort_unstable();
            if let Some(pair) = own.windows(2).find(|pair| pair[0] / k as u32 == pair[1] / k as u32) {
                return Err(Error::DuplicateVote { item, annotator: pair[0] as usize / k });
            }
        }
        Ok(Self { k, annotators, starts, ballots, gold: Vec::new() })
    }

    /// The same votes with the class of some items, each an item and its class.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a number that is out of range, or an item with two classes.
    pub fn with_gold(mut self, gold: &[[usize; 2]]) -> Result<Self> {
        let refuse = |item: usize, class: usize, expected| {
            let value = format!("class {class} of item {item}");
            Err(Error::InvalidParameter { name: "gold", value, expected })
        };
        let mut known = vec![UNKNOWN; self.items()];
        for &[item, class] in gold {
            if item >= self.items() || class >= self.k {
                return refuse(item, class, "items and classes are counted from 0 and below their numbers");
            }
            if known[item] != UNKNOWN && known[item] != class as u32 {
                return refuse(item, class, "an item has one class");
            }
            known[item] = class as u32;
        }
        self.gold = if gold.is_empty() { Vec::new() } else { known };
        Ok(self)
    }

    /// The class of an item, where it is known.
    #[inline]
    pub fn gold(&self, item: usize) -> Option<usize> {
        self.gold.get(item).filter(|class| **class != UNKNOWN).map(|class| *class as usize)
    }

    /// Every item whose class is known, and the class.
    pub fn golds(&self) -> impl Iterator<Item = [usize; 2]> {
        let known = self.gold.iter().enumerate().filter(|(_, class)| **class != UNKNOWN);
        known.map(|(item, class)| [item, *class as usize])
    }

    /// The votes on one item in so many.
    pub(crate) fn every(&self, stride: usize) -> Self {
        let items = (0..self.items()).step_by(stride);
        let mut starts = vec![0];
        let mut ballots = Vec::new();
        for item in items {
            ballots.extend_from_slice(self.of_item(item));
            starts.push(ballots.len() as u32);
        }
        let gold = self.gold.iter().step_by(stride).copied().collect();
        Self { k: self.k, annotators: self.annotators, starts, ballots, gold }
    }

    /// The same annotators voting on the same items, for other classes: of an item's ballots, those that the function puts there.
    pub(crate) fn recast(&self, mut cast: impl FnMut(usize, &mut [u32])) -> Self {
        let mut votes = self.clone();
        for item in 0..self.items() {
            cast(item, &mut votes.ballots[self.starts[item] as usize..self.starts[item + 1] as usize]);
        }
        votes
    }

    /// The same votes by ballot.
    pub(crate) fn by_ballot(&self) -> ByBallot {
        let item = |item: usize| self.of_item(item).iter().map(move |&ballot| (ballot, item as u32));
        let votes: Vec<(u32, u32)> = (0..self.items()).flat_map(item).collect();
        let (starts, items) = dealt(&votes, self.annotators * self.k, |vote| vote.0 as usize, |vote| vote.1);
        ByBallot { starts, items }
    }

    /// The number of classes.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of annotators.
    pub fn annotators(&self) -> usize {
        self.annotators
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of votes.
    pub fn len(&self) -> usize {
        self.ballots.len()
    }

    /// Whether nobody voted.
    pub fn is_empty(&self) -> bool {
        self.ballots.is_empty()
    }

    /// The ballots that were cast for an item, in the order of the annotators.
    pub(crate) fn of_item(&self, item: usize) -> &[u32] {
        &self.ballots[self.starts[item] as usize..self.starts[item + 1] as usize]
    }

    /// The item, the annotator and the class of every vote, item by item.
    pub fn iter(&self) -> impl Iterator<Item = [usize; 3]> {
        let vote = |item: usize, ballot: usize| [item, ballot / self.k, ballot % self.k];
        (0..self.items())
            .flat_map(move |item| self.of_item(item).iter().map(move |b| vote(item, *b as usize)))
    }

    /// How many votes each ballot has.
    pub(crate) fn cast(&self) -> Vec<u32> {
        let mut cast = vec![0; self.annotators * self.k];
        self.ballots.iter().for_each(|&ballot| cast[ballot as usize] += 1);
        cast
    }

    /// How many votes each class has.
    pub(crate) fn by_class(&self) -> Vec<u64> {
        let mut classes = vec![0; self.k];
        self.ballots.iter().for_each(|&ballot| classes[ballot as usize % self.k] += 1);
        classes
    }

    /// How many votes each annotator cast.
    pub fn by_annotator(&self) -> Vec<u32> {
        self.cast().chunks_exact(self.k).map(|of_annotator| of_annotator.iter().sum()).collect()
    }
}

/// Sorts by a place below `places`, equal ones in the order given: where each place begins, and what is kept of each.
fn dealt<T, O: Copy>(
    all: &[T],
    places: usize,
    place: impl Fn(&T) -> usize,
    keep: impl Fn(&T) -> O,
) -> (Vec<u32>, Vec<O>) {
    let mut starts = vec![0_u32; places + 1];
    all.iter().for_each(|one| starts[place(one) + 1] += 1);
    for at in 0..places {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut out: Vec<O> = Vec::new();
    if let Some(first) = all.first() {
        out.resize(all.len(), keep(first));
    }
    for one in all {
        let at = &mut next[place(one)];
        out[*at as usize] = keep(one);
        *at += 1;
    }
    (starts, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote([item, annotator, class]: [u32; 3]) -> Vote {
        Vote { item, annotator, class }
    }

    #[test]
    fn votes_are_found_by_item_and_by_ballot() -> Result<()> {
        let given = [[2, 1, 0], [0, 1, 1], [0, 0, 1], [2, 0, 1], [3, 2, 0]].map(vote);
        let votes = Votes::new(2, 4, 5, &given)?;
        assert_eq!((votes.items(), votes.len(), votes.annotators()), (5, 5, 4));
        assert_eq!(votes.of_item(0), [1, 3]);
        assert_eq!(votes.of_item(1), [0_u32; 0]);
        assert_eq!(votes.of_item(2), [1, 2]);
        let by_ballot = votes.by_ballot();
        assert_eq!(by_ballot.of(1), [0, 2]);
        assert_eq!(by_ballot.of(4), [3]);
        assert_eq!(votes.by_annotator(), [2, 2, 1, 0]);
        Ok(())
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let twice = [[0, 1, 0], [1, 1, 0], [0, 1, 1]].map(vote);
        assert!(matches!(Votes::new(2, 2, 2, &twice), Err(Error::DuplicateVote { item: 0, annotator: 1 })));
        for outside in [[2, 0, 0], [0, 2, 0], [0, 0, 2]] {
            let refused = Votes::new(2, 2, 2, &[vote(outside)]);
            assert!(matches!(refused, Err(Error::InvalidParameter { name: "vote", .. })), "{outside:?}");
        }
        assert!(matches!(Votes::new(1000, 1000, 1, &[]), Err(Error::TooManyBallots { .. })));
    }

    #[test]
    fn gold_is_kept_with_its_items() -> Result<()> {
        let votes = Votes::new(2, 1, 5, &[[0, 0, 1], [2, 0, 0], [4, 0, 1]].map(vote))?;
        assert_eq!(votes.gold(2), None);
        let votes = votes.with_gold(&[[2, 1], [4, 0], [2, 1]])?;
        assert_eq!((votes.gold(2), votes.gold(3)), (Some(1), None));
        assert_eq!(votes.golds().collect::<Vec<_>>(), [[2, 1], [4, 0]]);
        let some = votes.every(2);
        assert_eq!((some.items(), some.len(), some.gold(1)), (3, 3, Some(1)));
        for wrong in [[[5, 0], [0, 0]], [[0, 2], [1, 0]], [[0, 0], [0, 1]]] {
            let refused = votes.clone().with_gold(&wrong);
            assert!(matches!(refused, Err(Error::InvalidParameter { name: "gold", .. })), "{wrong:?}");
        }
        Ok(())
    }
}
