//! The MNIST reader that the examples share, as a test: Cargo runs no tests of examples.

#[path = "../examples/mnist/mod.rs"]
mod mnist;
