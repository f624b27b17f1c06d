//! From the third moment to the class prior and the class means of the features, up to the order of the
//! classes.

mod mixture;
mod power;
pub(crate) mod refinement;
mod whitening;

pub(crate) use mixture::Mixture;
pub(crate) use power::power_method;
pub(crate) use whitening::{Whitened, Whitening, slice, whiten};
