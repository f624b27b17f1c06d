//! Whether to trust the answer.

mod alarms;
mod conditioning;
mod independence;

pub use alarms::Alarm;
pub(crate) use alarms::{alarms, degeneracies};
pub use conditioning::Conditioning;
pub use independence::{Dependence, Independence, LEVEL, Verdict};
pub(crate) use independence::{Tested, test};
