//! What a row costs for each class: the one place that knows a loss.
//!
//! A loss is one file that implements [`Loss`] and one line in [`named`].

mod ceilings;
mod exponential;
mod hinge;
mod judged;
mod log;
mod shared;
pub(crate) mod whole;
mod zero_one;

pub use ceilings::Ceilings;
pub use exponential::ExponentialLoss;
pub use hinge::HingeLoss;
pub use log::LogLoss;
pub use shared::SharedLoss;
pub use whole::Whole;
pub use zero_one::ZeroOneLoss;

use crate::data::Batch;
use crate::error::{Error, Result};
use faer::Mat;

/// How the terms of the views make a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `L(x, y) = A(x) - sum_v f_v(x_v, y)` (assumption 1 of the paper): one term a view and class. Views that are
    /// grouped keep their terms.
    Sum,
    /// `L(x, y) = A(x) + sum_i prod_v f_i^v(x_v, y)` with so many products (extension 2): each of them has one factor
    /// a view and class. A group of views has the products of its views' factors, row by row, for terms: only the factors
    /// of different groups are independent given the class.
    Products(usize),
}

impl Form {
    /// How many terms a view has for each class.
    pub fn terms(self) -> usize {
        match self {
            Form::Sum => 1,
            Form::Products(products) => products,
        }
    }
}

/// A loss that is made of terms of one view each, which is what the views' independence can be used on.
///
/// Scores and terms lie in columns of `rows` numbers. The terms of a view are those of the first product for every
/// class, then those of the second, and so on; a sum has one term a class.
pub trait Loss: Send + Sync {
    /// Its name on the command line and in files.
    fn name(&self) -> &'static str;

    /// How its terms make the loss.
    fn form(&self) -> Form {
        Form::Sum
    }

    /// Whether its terms may be enormous for classes that a row is not of, and are to be cut at [`Ceilings`].
    fn heavy_tailed(&self) -> bool {
        false
    }

    /// The views that the prediction is made of, ascending, where these are not all: the others only identify.
    fn judged(&self) -> Option<&[usize]> {
        None
    }

    /// Whether the prediction is made of this view.
    fn judges(&self, view: usize) -> bool {
        self.judged().is_none_or(|views| views.contains(&view))
    }

    /// The smallest and the largest that it can be, of so many views.
    fn range(&self, _views: usize) -> [f64; 2] {
        [0.0, f64::INFINITY]
    }

    /// Writes the terms `f_v(x_v, i)` of a view for each row and class.
    fn terms(&self, view: usize, rows: usize, scores: &[f64], terms: &mut [f64]);

    /// The terms of a view that is missing in a row: they add nothing to a sum, and change no product.
    fn absent(&self) -> f64 {
        match self.form() {
            Form::Sum => 0.0,
            Form::Products(_) => 1.0,
        }
    }

    /// What `A` has for each view, which a view that is missing in a row has no part in.
    fn share(&self) -> f64 {
        0.0
    }

    /// Writes `A(x)` for each row, given the scores of each view; those of a missing view are zero.
    fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]);

    /// Writes `A(x)` of the prediction that one view makes by itself, given its scores.
    fn offset_alone(&self, rows: usize, scores: &[f64], offset: &mut [f64]) {
        self.offset(rows, &[scores], offset);
    }

    /// For one row, writes the derivatives of one of a view's terms in that view's scores. `term` counts as terms
    /// lie: the product times the number of classes, plus the class.
    fn term_gradient(&self, view: usize, scores: &[f64], term: usize, gradient: &mut [f64]);

    /// For one row, writes the derivatives of `A(x)` in the scores of each view.
    fn offset_gradient(&self, scores: &[&[f64]], gradient: &mut [Vec<f64>]);

    /// Writes `L(x, class)` for each row, from what [`Loss::offset`] and [`Loss::terms`] wrote.
    fn losses(&self, rows: usize, offset: &[f64], terms: &[&[f64]], class: usize, losses: &mut [f64]) {
        losses.copy_from_slice(offset);
        let column = |view: usize, at: usize| &terms[view][at * rows..(at + 1) * rows];
        match self.form() {
            Form::Sum => {
                for view in 0..terms.len() {
                    losses.iter_mut().zip(column(view, class)).for_each(|(loss, term)| *loss -= term);
                }
            }
            Form::Products(products) => {
                let k = terms[0].len() / (rows * products);
                for at in (0..products).map(|product| product * k + class) {
                    for row in 0..rows {
                        losses[row] += (0..terms.len()).map(|view| column(view, at)[row]).product::<f64>();
                    }
                }
            }
        }
    }

    /// For one row, the derivatives of `L(x, class)` in the scores of each view.
    fn gradient(&self, scores: &[&[f64]], class: usize) -> Vec<Vec<f64>> {
        let k = scores[0].len();
        let mut gradient = vec![vec![0.0; k]; scores.len()];
        self.offset_gradient(scores, &mut gradient);
        let mut of_term = vec![0.0; k];
        let values: Vec<Vec<f64>> = scores
            .iter()
            .enumerate()
            .map(|(view, scores)| {
                let mut terms = vec![0.0; k * self.form().terms()];
                self.terms(view, 1, scores, &mut terms);
                terms
            })
            .collect();
        for term in (0..self.form().terms()).map(|product| product * k + class) {
            for (view, gradient) in gradient.iter_mut().enumerate() {
                let scale = match self.form() {
                    Form::Sum => -1.0,
                    Form::Products(_) => {
                        let others = values.iter().enumerate().filter(|(other, _)| *other != view);
                        others.map(|(_, values)| values[term]).product()
                    }
                };
                self.term_gradient(view, scores[view], term, &mut of_term);
                gradient.iter_mut().zip(&of_term).for_each(|(sum, g)| *sum += scale * g);
            }
        }
        gradient
    }

    /// The risk from the mean of `A`, the prior of the latent classes, the conditional risk matrices and the name of each
    /// latent class (eq. 3, or that of extensions 2 and 3).
    fn risk(&self, mean_offset: f64, prior: &[f64], conditional: &[Mat<f64>], names: &[usize]) -> f64 {
        let gain = |(z, (p, &name)): (usize, (&f64, &usize))| p * self.gain(conditional, name, z);
        mean_offset - prior.iter().zip(names).enumerate().map(gain).sum::<f64>()
    }

    /// How much it lowers the risk, for each row of latent class `column`, to call it class `row`: `sum_v M_v[row,
    /// column]`, or the products of these, negative.
    fn gain(&self, conditional: &[Mat<f64>], row: usize, column: usize) -> f64 {
        match self.form() {
            Form::Sum => conditional.iter().map(|m| m[(row, column)]).sum(),
            Form::Products(products) => {
                let k = conditional[0].nrows() / products;
                let product =
                    |i: usize| conditional.iter().map(|m| m[(i * k + row, column)]).product::<f64>();
                -(0..products).map(product).sum::<f64>()
            }
        }
    }
}

/// Every loss that has a name.
pub fn named() -> [SharedLoss; 4] {
    [
        SharedLoss::new(LogLoss),
        SharedLoss::new(HingeLoss),
        SharedLoss::new(ZeroOneLoss),
        SharedLoss::new(ExponentialLoss),
    ]
}

/// The names of all losses, those of the whole prediction last.
pub fn names() -> Vec<&'static str> {
    let of_views = named();
    of_views.iter().map(|loss| loss.name()).chain(Whole::ALL.map(Whole::name)).collect()
}

/// The loss of this name, of those that are made of terms of one view each.
///
/// # Errors
/// [`Error::UnknownLoss`].
pub fn by_name(name: &str) -> Result<SharedLoss> {
    let known = || named().iter().map(|loss| loss.name()).collect();
    named()
        .into_iter()
        .find(|loss| loss.name() == name)
        .ok_or_else(|| Error::UnknownLoss { name: name.into(), known: known() })
}

/// `A(x)` of each row of a batch, over the views that are there.
pub fn offsets(loss: &dyn Loss, batch: &Batch) -> Vec<f64> {
    let views: Vec<&[f64]> = (0..batch.views()).map(|view| batch.view(view)).collect();
    let mut offset = vec![0.0; batch.rows()];
    loss.offset(batch.rows(), &views, &mut offset);
    let judged =
        (0..batch.views()).filter(|&view| loss.judges(view)).fold(0_u64, |bits, view| bits | 1 << view);
    for (offset, missing) in offset.iter_mut().zip(batch.missing().unwrap_or_default()) {
        *offset -= loss.share() * f64::from((missing & judged).count_ones());
    }
    offset
}

/// The terms of a view of a batch, as [`Loss::terms`] writes them; nothing where the view is missing.
pub fn terms_of(loss: &dyn Loss, batch: &Batch, view: usize) -> Vec<f64> {
    let mut terms = Vec::new();
    write_terms(loss, view, batch.rows(), batch.view(view), &batch.without(&[view]), &mut terms);
    terms
}

/// The same from the scores of a view, and the rows in which it is missing.
pub(crate) fn write_terms(
    loss: &dyn Loss,
    view: usize,
    rows: usize,
    scores: &[f64],
    missing: &[usize],
    terms: &mut Vec<f64>,
) {
    // A term that a loss forgets to write is seen to be missing.
    terms.clear();
    terms.resize(scores.len() * loss.form().terms(), f64::NAN);
    loss.terms(view, rows, scores, terms);
    for &row in missing {
        terms.iter_mut().skip(row).step_by(rows).for_each(|term| *term = loss.absent());
    }
}

/// What each row of a batch costs for its own class, from the terms of each view as [`terms_of`] has them.
///
/// # Panics
/// When a label is not below the number of classes, or there are fewer labels than rows.
pub fn losses_of(
    loss: &dyn Loss,
    batch: &Batch,
    terms: &[Vec<f64>],
    labels: &[impl Copy + Into<usize>],
) -> Vec<f64> {
    let (rows, losses) = (batch.rows(), all_losses(loss, batch, terms));
    (0..rows).map(|row| losses[labels[row].into() * rows + row]).collect()
}

/// What each row of a batch costs for every class, one column a class.
pub(crate) fn all_losses(loss: &dyn Loss, batch: &Batch, terms: &[Vec<f64>]) -> Vec<f64> {
    let (rows, offset) = (batch.rows(), offsets(loss, batch));
    let terms: Vec<&[f64]> = terms.iter().map(Vec::as_slice).collect();
    let mut losses = vec![0.0; rows * batch.k()];
    for (class, losses) in losses.chunks_exact_mut(rows.max(1)).enumerate() {
        loss.losses(rows, &offset, &terms, class, losses);
    }
    losses
}

/// What a row costs whose scores say nothing, over classes that are all as likely.
pub(crate) fn of_guessing(loss: &dyn Loss, views: usize, k: usize) -> Result<f64> {
    let batch = Batch::new(1, vec![vec![0.0; k]; views])?;
    let terms: Vec<Vec<f64>> = (0..views).map(|view| terms_of(loss, &batch, view)).collect();
    let of_class = |class: usize| losses_of(loss, &batch, &terms, &[class])[0];
    Ok((0..k).map(of_class).sum::<f64>() / k as f64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    const SCORES: [[f64; 3]; 3] = [[0.3, -1.1, 0.7], [1.4, 0.2, -0.6], [-0.5, 0.9, 0.1]];

    fn value(loss: &dyn Loss, scores: &[[f64; 3]; 3], class: usize) -> f64 {
        let views: Vec<&[f64]> = scores.iter().map(<[f64; 3]>::as_slice).collect();
        let mut offset = [0.0];
        loss.offset(1, &views, &mut offset);
        let mut terms = vec![vec![0.0; 3 * loss.form().terms()]; 3];
        for (view, terms) in terms.iter_mut().enumerate() {
            loss.terms(view, 1, views[view], terms);
        }
        let terms: Vec<&[f64]> = terms.iter().map(Vec::as_slice).collect();
        let mut losses = [0.0];
        loss.losses(1, &offset, &terms, class, &mut losses);
        losses[0]
    }

    #[test]
    fn values_by_hand() {
        let [log, hinge, zero_one, exponential] = named();
        // Summed scores 1.2, 0, 0.2.
        let total: f64 = (1.2f64.exp() + 1.0 + 0.2f64.exp()).ln();
        assert!((value(&*log, &SCORES, 2) - (total - 0.2)).abs() < 1e-12);
        // 1 + max of the others - own: 1 + 0.3 - 0.7, 1 + 1.4 + 0.6, 1 + 0.9 - 0.1.
        assert!((value(&*hinge, &SCORES, 2) - (0.6 + 3.0 + 1.8)).abs() < 1e-12);
        assert!((value(&*hinge, &SCORES, 0) - (1.4 + 0.0 + 2.4)).abs() < 1e-12);
        // The views predict 2, 0, 1.
        assert_eq!([0, 1, 2].map(|class| value(&*zero_one, &SCORES, class)), [2.0; 3]);
        assert!((value(&*exponential, &SCORES, 0) - (-1.2f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn guessing_costs_what_it_does() {
        let cost = |name: &str| of_guessing(&*by_name(name).unwrap(), 3, 4).unwrap();
        assert!((cost("log") - 4f64.ln()).abs() < 1e-12);
        assert!((cost("zero-one") - 3.0 * 0.75).abs() < 1e-12);
        assert!(named().iter().all(|loss| of_guessing(&**loss, 3, 4).unwrap() > 0.0));
        assert_eq!(ZeroOneLoss.range(5), [0.0, 5.0]);
    }

    #[test]
    fn gradients_match_finite_differences() {
        for loss in named() {
            for class in 0..3 {
                let views: Vec<&[f64]> = SCORES.iter().map(<[f64; 3]>::as_slice).collect();
                let gradient = loss.gradient(&views, class);
                for (view, i) in (0..9).map(|at| (at / 3, at % 3)) {
                    let moved = |step: f64| {
                        let mut scores = SCORES;
                        scores[view][i] += step;
                        value(&*loss, &scores, class)
                    };
                    let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                    assert!((slope - gradient[view][i]).abs() < 1e-8, "{}: {slope}", loss.name());
                }
            }
        }
    }
}
