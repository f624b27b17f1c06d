//! How a fit ended.

use serde::Serialize;

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// At a minimum, away from every border.
    Converged,
    /// The iterations ran out first.
    IterationLimit,
    /// At a minimum that identifies nothing: a class without rows, or a view that cannot tell two classes
    /// apart. The numbers are not to be trusted.
    Degenerate,
}
