//! The risk over time: what each period says, whether it has become worse since what is normal, and whether the inputs have changed.
//!
//! A period is answered by itself, from its own moments: [`PeriodAnswer`]. Many of them are looked at together, again and again as they come:
//! [`Watch`]. What is said of a change holds however often one looks ([`evidence`]): an alarm that is raised at 5% is raised in at most
//! 5% of all series in which nothing changes, over all periods that will ever come.

mod change;
mod inputs;
mod kept_rows;
mod limit;
mod period;
mod watch;

pub use change::{Evidence, evidence};
pub use inputs::{InputChange, Inputs};
pub use kept_rows::KeptRows;
pub use limit::{Against, Limit, NoLimit, Quantity, Rule};
pub use period::{Measure, PeriodAnswer, ViewAnswer};
pub use watch::{Baseline, Judged, Passed, Watch};
