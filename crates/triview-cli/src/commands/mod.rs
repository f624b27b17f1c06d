//! One file a verb; each has a `run` that ends in an answer.

pub(crate) mod adapt;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diagnose;
pub(crate) mod estimate;
mod few_labels;
pub(crate) mod hmm;
pub(crate) mod inspect;
pub(crate) mod label;
pub(crate) mod man;
pub(crate) mod moments;
pub(crate) mod monitor;
mod remedies;
pub(crate) mod reproduce;
pub(crate) mod score;
pub(crate) mod simulate;
mod simulate_chains;
mod simulate_crowd;
pub(crate) mod train;
mod votes;
