//! Votes: hard predictions, or the labels of a crowd's annotators.
//!
//! Annotator `a` votes for class `c` on an item of class `j` with probability `C_a[c, j]`, independently of the others given the
//! class. From the votes alone come the confusion matrices, the class prior, a label for each item, and how often those are
//! wrong.
//!
//! 1. [`Votes`]: who voted for what, as whole numbers.
//! 2. Two starts: the majority, and the moments of three blocks of annotators, read off by surrogate labels (Zhang et al.
//!    2014).
//! 3. [`dawid_skene`]: EM from each; the more likely end counts. Classes have the names under which most votes are right.
//! 4. Posteriors with each item's own votes left out of the matrices, which do not confirm themselves.
//! 5. The items whose class is known, where there are some: how good those posteriors are ([`GoldReport`]).
//! 6. What annotators have in common: all at once ([`Omnibus`]), pair by pair ([`Pair`]), and with no assumption
//!    ([`Agreement`]).
//! 7. [`VoteEstimator`]: all of it, with intervals, and what speaks against the answer; and the [`VoteEstimate`].

mod agreement;
mod annotators;
mod cast;
mod dawid_skene;
mod estimate;
mod estimator;
mod expected;
mod gold;
mod jackknife;
mod labels;
mod left_out;
mod omnibus;
mod pairs;
mod spectral;

pub use crate::answer::Bound;
pub use agreement::Agreement;
pub use cast::{Vote, Votes};
pub use dawid_skene::{Crowd, Fitted, Smoothing, Stop, dawid_skene, majority, shares};
pub use estimate::{Annotator, VoteEstimate, VoteFit};
pub use estimator::{VoteEstimator, VoteParams, VoteStart, VoteTask, default_smoothing};
pub use gold::GoldReport;
pub use labels::{ItemLabel, Majority};
pub use omnibus::Omnibus;
pub use pairs::Pair;
pub use spectral::NoSpectralStart;
