//! Whether to trust the answer.

mod alarm;
mod alarms;
mod causes;
mod conditioning;
mod dependence;
mod independence;
mod pairs;
mod signs;
mod together;

pub use alarm::{Alarm, Given};
pub(crate) use alarms::{alarms, degeneracies, heavy_tail};
pub use causes::CommonCause;
pub use conditioning::Conditioning;
pub use dependence::Dependence;
pub(crate) use dependence::of_bins;
pub use independence::{Independence, LEVEL, Verdict};
pub(crate) use independence::{Tested, correct_for_each_other, test};
pub(crate) use together::together;
