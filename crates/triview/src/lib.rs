//! Estimate a classifier's risk from unlabelled scores.
//!
//! A model scores an example view by view: `f_v(x_v, i)` is what view `v` says for class `i`, and the loss is
//! `L(x, y) = A(x) - f_1(x_1, y) - f_2(x_2, y) - f_3(x_3, y)`. Given the class, the three views are independent.
//! Nothing else is assumed of the data. Following Steinhardt and Liang (2016), this is enough to recover from
//! rows without labels the class prior `pi`, the conditional risk matrices `M_v[i, j] = E[f_v(x_v, i) | y = j]`
//! (eq. 2), and with them the risk (eq. 3)
//!
//! ```text
//!     E[L] = E[A] - sum_j pi_j sum_v M_v[j, j].
//! ```
//!
//! # The way of the data
//!
//! Each module uses only those above it in this list.
//!
//! 1. [`data`]: a [`Source`](data::Source) gives [batches](data::Batch) of scores; [`loss`] says what they mean.
//! 2. [`features`]: functions `u_v` of each view alone, with a leading one. Any will do; good ones leave little
//!    noise. With more [`latent`] states than classes they tell these apart.
//! 3. [`moments`]: by a [`Plan`], sums over rows, in blocks. By independence the third moment is a sum over classes,
//!    `E[u_1 (x) u_2 (x) u_3] = sum_j pi_j U_1j (x) U_2j (x) U_3j` with `U_v = E[u_v | y]`. From here on no row is
//!    needed: [`Moments`] are small, add up, and are resampled for the standard error.
//! 4. `fit`: the tensor power method and the model's own posterior start, L-BFGS and Newton's method finish.
//! 5. [`answer`]: surrogate labels `w_v = pinv(U_v) u_v` have `E[w_v | y = j] = e_j`, an unbiased label made of view `v`
//!    alone, so that `E[f_v w_a^T] = M_v diag(pi)` for any other view `a`. The order of the classes is the one with the smallest risk.
//!    The variants of the answer are averaged, and the mean is shrunk towards the fitted posterior's.
//! 6. [`diagnostics`]: a test of the assumption, and what else speaks against the answer.
//! 7. [`metrics`]: the error rate, and any loss of the whole prediction.
//! 8. `planning`: from a sample of the rows to the plan.
//! 9. [`estimator`]: all of it, and the [`Estimate`].
//!
//! [`sequences`], [`votes`], [`learning`] and [`baselines`] are consumers of these stages; [`lab`] has data with known truth.
//!
//! # In one call
//!
//! ```
//! use triview::data::{Rows, Schema};
//! use triview::Params;
//!
//! # let hash = |x: u64| (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
//! # let noise = |at: u64| hash(at) as f32 / (1 << 24) as f32 - 0.5;
//! # let score = |at: u64| 2.0 * noise(at) + if hash(at / 9 + 7_777_777) % 3 == at % 3 { 1.5 } else { 0.0 };
//! # let scores: Vec<f32> = (0..4_000 * 9).map(score).collect();
//! // Scores of three views for three classes, row by row: a `Vec<f32>` or `Vec<f64>`.
//! let source = Rows::new(Schema::numbered(3, 3)?, &scores)?;
//! let estimate = Params::new().check()?.estimate(&source)?;
//! assert_eq!(estimate.class_prior.len(), 3);
//! # Ok::<(), triview::Error>(())
//! ```
//!
//! # In parts
//!
//! ```
//! use triview::data::{Batch, Sample, Schema};
//! use triview::{Moments, Params, Plan};
//!
//! # let hash = |x: u64| (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
//! # let noise = |at: u64| hash(at) as f32 / (1 << 24) as f32 - 0.5;
//! # let score = |at: u64| 2.0 * noise(at) + if hash(at / 9 + 7_777_777) % 3 == at % 3 { 1.5 } else { 0.0 };
//! # let scores: Vec<f32> = (0..4_000 * 9).map(score).collect();
//! # let rows = |from: usize, to: usize| &scores[from * 9..to * 9];
//! // The plan is made once, from a sample of the rows, and travels as bytes.
//! let sample = Sample::new(Schema::numbered(3, 3)?, Batch::from_rows(rows(0, 2_000), 3, 3)?);
//! let plan = Params::new().check()?.plan(&sample)?.to_bytes()?;
//!
//! // Each part of the rows becomes moments wherever it is; so do they.
//! let mut parts = Vec::new();
//! for from in [0, 1_000, 2_000, 3_000] {
//!     let mut sums = Plan::from_bytes(&plan)?.accumulator()?.starting_at(from as u64);
//!     sums.update(&Batch::from_rows(rows(from, from + 1_000), 3, 3)?)?;
//!     parts.push(sums.finish()?.to_bytes()?);
//! }
//!
//! // In any order they add up to the moments of the whole.
//! let mut whole = Moments::from_bytes(&parts[0])?;
//! for part in &parts[1..] {
//!     whole = whole.merge(&Moments::from_bytes(part)?)?;
//! }
//! let estimate = whole.solve(0.95, 0)?.estimate();
//! assert_eq!(estimate.rows, 4_000);
//! # Ok::<(), triview::Error>(())
//! ```
#![forbid(unsafe_code)]

// The layers, from the top: a module may use those above it, never one below (`tests/layers.rs`).

pub mod error;

pub mod interrupt;

mod settings;

pub mod numeric;

pub mod data;

pub mod loss;

pub mod features;

pub mod latent;

pub mod moments;

mod fit;

pub mod answer;

pub mod diagnostics;

pub mod metrics;

mod planning;

pub mod estimator;

pub mod monitoring;

pub mod sequences;

pub mod votes;

pub mod learning;

pub mod baselines;

pub mod lab;

pub use error::{Error, Result};
pub use estimator::{Estimate, Estimator, Params, Solved};
pub use moments::{Accumulator, Moments, Plan};
