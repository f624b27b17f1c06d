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
//! 1. [`data`]: a [`Source`](data::Source) gives batches of scores; [`loss`] says what they mean.
//! 2. [`features`]: functions `u_v` of each view alone, with a leading one. Any will do; good ones leave little
//!    noise.
//! 3. [`moments`]: sums over rows, in blocks. By independence the third moment is a sum over classes,
//!    `E[u_1 (x) u_2 (x) u_3] = sum_j pi_j U_1j (x) U_2j (x) U_3j` with `U_v = E[u_v | y]`. From here on no row is
//!    needed: states are small, add up, and are resampled for the standard error.
//! 4. Decomposition and refinement: the tensor power method and the model's own posterior start, L-BFGS and
//!    Newton's method finish.
//! 5. Surrogate labels: `w_v = pinv(U_v) u_v` has `E[w_v | y = j] = e_j`, an unbiased label made of view `v`
//!    alone, so that `E[f_v w_a^T] = M_v diag(pi)` for any other view `a`.
//! 6. Matching: the order of the classes is the one with the smallest risk.
//! 7. [`estimator`]: all of it, and the [`Estimate`](estimator::Estimate).
//!
//! ```
//! use rand::SeedableRng;
//! use triview::estimator::Params;
//! use triview::lab::{Population, Preset};
//! use triview::data::InMemory;
//!
//! let population = Population::draw(&Preset::Three.setting(), 7)?;
//! let (scores, _) = population.rows(4_000, &mut rand_pcg::Pcg64::seed_from_u64(7));
//! let source = InMemory::new(population.schema().clone(), vec![scores]);
//! let estimate = Params::new().check()?.estimate(&source)?;
//! assert_eq!(estimate.class_prior.len(), 3);
//! # Ok::<(), triview::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod error;

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

pub mod planning;

pub mod estimator;

pub mod baselines;
pub mod lab;
pub mod learning;
pub mod sequences;
pub mod votes;

pub use error::{Error, Result};

/// The README's own example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
