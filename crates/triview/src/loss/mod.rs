//! What a row costs for each class: the one place that knows a loss.
//!
//! A loss is one file that implements [`Loss`] and one line in [`ALL`].

mod log;

pub use log::LogLoss;

use crate::error::{Error, Result};
use faer::Mat;

/// What the terms of a loss belong to, where views are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// Each view: the loss is a sum over views, and every view has a conditional risk matrix of its own.
    PerView,
    /// Each group, `f_g = prod of f_v` over its views, row by row: the loss is a product over views, of which only
    /// the factors of different groups are independent given the class.
    PerGroup,
}

impl Terms {
    /// The term of a view that is missing: it adds nothing to a sum, and changes no product.
    pub(crate) fn of_nothing(self) -> f64 {
        match self {
            Terms::PerView => 0.0,
            Terms::PerGroup => 1.0,
        }
    }
}

/// A loss that separates over the views: `L(x, y) = A(x) - sum_v f_v(x_v, y)` (assumption 1 of the paper).
///
/// A loss of another form overrides [`Loss::risk`] and [`Loss::gain`].
pub trait Loss: Send + Sync {
    /// Its name on the command line and in files.
    fn name(&self) -> &'static str;

    /// Writes `f_v(x_v, i)` for each row and class: `scores` and `terms` hold one column of `rows` numbers a
    /// class.
    fn terms(&self, rows: usize, scores: &[f64], terms: &mut [f64]);

    /// How the terms of views that are grouped into one go together.
    fn grouping(&self) -> Terms {
        Terms::PerView
    }

    /// Writes `A(x)` for each row, from the scores of every view; a view that is missing has scores of zero.
    fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]);

    /// Writes `L(x, class)` for each row, from what [`Loss::offset`] and [`Loss::terms`] wrote.
    fn losses(&self, rows: usize, offset: &[f64], terms: &[&[f64]], class: usize, losses: &mut [f64]) {
        losses.copy_from_slice(offset);
        for terms in terms {
            let of_class = &terms[class * rows..(class + 1) * rows];
            losses.iter_mut().zip(of_class).for_each(|(loss, term)| *loss -= term);
        }
    }

    /// The risk from the mean of `A`, the class prior and the conditional risk matrices (eq. 3).
    fn risk(&self, mean_offset: f64, prior: &[f64], conditional: &[Mat<f64>]) -> f64 {
        mean_offset - prior.iter().enumerate().map(|(j, p)| p * self.gain(conditional, j, j)).sum::<f64>()
    }

    /// How much it lowers the risk, for each row of latent class `column`, to call it class `row`:
    /// `sum_v M_v[row, column]`.
    fn gain(&self, conditional: &[Mat<f64>], row: usize, column: usize) -> f64 {
        conditional.iter().map(|m| m[(row, column)]).sum()
    }
}

/// Every loss there is.
pub const ALL: [&dyn Loss; 1] = [&LogLoss];

/// The loss of this name.
///
/// # Errors
/// [`Error::UnknownLoss`].
pub fn by_name(name: &str) -> Result<&'static dyn Loss> {
    let known = || ALL.iter().map(|loss| loss.name()).collect();
    ALL.into_iter()
        .find(|loss| loss.name() == name)
        .ok_or_else(|| Error::UnknownLoss { name: name.into(), known: known() })
}
