//! The compiled module `triview._core`, over which the package `triview` lies.
//!
//! It knows four things: tables that Python holds ([`Records`]), questions about them ([`call`]), moments that add up
//! ([`Plan`](moments::Plan), [`Moments`](moments::Moments)), and the command line ([`main`]). Words, defaults and shapes are the package's.

mod call;
mod moments;
mod records;
mod work;

use pyo3::prelude::*;
use std::ffi::OsString;

/// As in the binary: the system's allocator costs a sixth of the time of an estimate from few rows.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Answers a command line, the program's name first, and returns the status to exit with.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| triview_cli::main(arguments))
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::call::{Outcome, call, options, write};
    #[pymodule_export]
    use crate::main;
    #[pymodule_export]
    use crate::moments::{Accumulator, Labeller, Moments, Plan, plan, schema};
    #[pymodule_export]
    use crate::records::{Records, read_arrow};
    #[pymodule_export]
    use crate::work::TriviewError;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's own name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
