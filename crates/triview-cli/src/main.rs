//! The command line `triview`.

mod chart;

fn main() {}
