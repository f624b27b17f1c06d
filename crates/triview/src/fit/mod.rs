//! From the third moment to the class prior and the class means of the features, up to the order of the
//! classes.

mod agreement;
#[cfg(test)]
pub(crate) mod exact;
mod mixture;
mod power;
pub(crate) mod refinement;
mod starts;
mod status;
mod target;
mod whitening;

pub(crate) use agreement::Agreement;
pub(crate) use mixture::Mixture;
pub(crate) use power::power_method;
pub(crate) use starts::Start;
pub use status::Status;
pub(crate) use target::{FromStarts, Target};
pub(crate) use whitening::{Whitened, Whitening, whiten};
