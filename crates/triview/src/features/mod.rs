//! What each view is identified by.
//!
//! Any features of a view alone will do: with a leading one, their third moment decomposes over the classes
//! whatever they are. So they are chosen for how little noise they leave, and the risk is read off
//! afterwards.

mod basis;
mod bins;
mod choice;
pub(crate) mod fit;
mod map;
mod posterior;
mod softmax;

pub(crate) use basis::Basis;
pub use bins::Bins;
pub use choice::FeatureChoice;
pub(crate) use map::Evaluated;
pub use map::FeatureMap;
pub use posterior::{Posterior, Way};
pub use softmax::Softmax;
