//! Sequences: the risk of hidden Markov models and linear conditional random fields (extension 1 of the paper).
//!
//! A labelling `y` of a sequence `x` has the risk
//!
//! ```text
//!     -log p(y | x) = log Z(x) - sum_t log g(y_t, x_t) - sum_t log f(y_{t-1}, y_t).
//! ```
//!
//! 1. [`Chain`]: the potentials `f`; forward-backward and the Viterbi algorithm, without underflow.
//! 2. A token is a row of three views: the message from what is before it, its own emission scores, the message from what is
//!    after it. Given its state they are independent, and the stages of a table identify the states.
//! 3. [`Adapted`]: emissions and transitions re-estimated without labels; its messages are better features, and its posterior
//!    has little noise.
//! 4. Surrogate labels from past and future correct what the adapted posterior says of `E[log g]`, and labels of a token from its
//!    past and of the next from its future what it says of the pair marginals that `E[log f]` needs.
//! 5. [`SequenceEstimator`]: all of it, and the [`SequenceEstimate`]; where some whole sequences have labels, what these say whatever the
//!    chain does, the [`SequenceLabels`].

mod adapted;
mod belief;
mod chain;
mod estimate;
mod estimator;
mod imputed;
mod kernel;
mod labelled;
mod likelihood;
mod messages;
mod pooled;
mod reading;
mod sample;
#[allow(clippy::module_inception, reason = "the sequences themselves")]
mod sequences;
mod sites;
mod sums;

pub use adapted::Adapted;
pub use chain::{Chain, Paths};
pub use estimate::{SequenceEstimate, TokenError};
pub use estimator::{SequenceEstimator, SequenceParams, SequenceTask};
pub use labelled::{Imputer, SequenceLabels};
pub use messages::Messages;
pub use sequences::{SequenceSource, Sequences};
pub use sites::{Decoding, Identified};
