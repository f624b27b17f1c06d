//! The command line from the outside: what is printed, written and refused.

mod bad_input;
mod demo;
mod diagnose;
mod estimate;
mod groups;
mod hmm;
mod latent;
mod missing;
mod segments;
mod simulate;
mod states;
mod support;
