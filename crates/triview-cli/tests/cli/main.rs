//! The command line from the outside: what is printed, written and refused.

mod attacks;
mod bad_input;
mod compare;
mod demo;
mod diagnose;
mod estimate;
mod features;
mod groups;
mod hmm;
mod labels;
mod latent;
mod learning;
mod missing;
mod models;
mod monitor;
mod pages;
mod prediction;
mod segments;
mod simulate;
mod states;
mod support;
mod tables;
mod tasks;
mod terminal;
mod votes;
mod witness;
