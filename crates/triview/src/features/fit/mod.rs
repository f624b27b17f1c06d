//! How feature maps are fitted to rows without labels.

mod calibrated;
pub(crate) mod sieve;
pub(crate) mod states;

pub(crate) use calibrated::calibrated;
