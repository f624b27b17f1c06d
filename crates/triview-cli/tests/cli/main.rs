//! The command line from the outside: what is printed, written and refused.

mod bad_input;
mod demo;
mod estimate;
mod simulate;
mod states;
mod support;
