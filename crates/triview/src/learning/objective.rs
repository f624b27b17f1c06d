//! The risk of logistic regression as a function of its parameters (eq. 7): `E[A(theta; x)] - theta . phi-bar`.

use super::linear::Shape;
use super::rows::{FeatureBatch, FeatureSource};
use crate::data::Batch;
use crate::error::Result;
use crate::estimator::Labeller;
use crate::numeric::linalg::log_sum_exp;

/// The estimate of `phi-bar = sum_v E[phi_v(x_v, y)]`, in the order of the parameters: for each view
/// `E[x_v W_-v,j]`, its features times the labels that the other views give, and for the biases `E[W_j]`, the mean over
/// views. A row costs `d k` multiplications; nothing of the size of the features squared is formed.
#[derive(Debug, Clone)]
pub(crate) struct PhiBar {
    shape: Shape,
    sums: Vec<f64>,
    rows: f64,
}

impl PhiBar {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { sums: vec![0.0; shape.len()], shape, rows: 0.0 }
    }

    /// Adds rows, which are labelled by their scores under the seed model; those whose class is known by that.
    pub(crate) fn update(&mut self, rows: &FeatureBatch, labeller: &Labeller, scores: &Batch) -> Result<()> {
        let labels = labeller.label(scores)?;
        self.update_by(rows, |view, row, class| labels.column(labeller.group_of(view), class)[row]);
        Ok(())
    }

    /// Adds rows that the seed model labels itself: each with what it believes of its class.
    pub(crate) fn update_by_belief(&mut self, rows: &FeatureBatch, scores: &Batch) {
        let k = self.shape.classes;
        let mut belief = Vec::with_capacity(rows.rows() * k);
        for row in 0..rows.rows() {
            let sum = |class: usize| (0..scores.views()).map(|view| scores.column(view, class)[row]).sum();
            let of_row: Vec<f64> = (0..k).map(sum).collect();
            let total = log_sum_exp(&of_row);
            belief.extend(of_row.iter().map(|score| (score - total).exp()));
        }
        self.update_by(rows, |_, row, class| belief[row * k + class]);
    }

    /// Adds rows with a label for each view, row and class; those whose class is known are labelled by that.
    fn update_by(&mut self, rows: &FeatureBatch, label: impl Fn(usize, usize, usize) -> f64) {
        let (k, views) = (self.shape.classes, rows.views());
        let of_view: Vec<Vec<f64>> = (0..views)
            .map(|view| {
                let label = |row: usize, class: usize| match rows.label(row) {
                    Some(known) => f64::from(u8::from(known == class)),
                    None => label(view, row, class),
                };
                (0..rows.rows() * k).map(|at| label(at / k, at % k)).collect()
            })
            .collect();
        let mut sums = self.shape.products(rows, &of_view);
        for labels in &of_view {
            for of_row in labels.chunks_exact(k) {
                let bias = sums[self.shape.bias()].iter_mut();
                bias.zip(of_row).for_each(|(sum, label)| *sum += label / views as f64);
            }
        }
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
        self.rows += rows.rows() as f64;
    }

    /// The mean over rows.
    pub(crate) fn mean(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.rows).collect()
    }
}

/// `phi-bar` of rows that all have a label, `E[phi(x, y)]`: with it the risk is the log loss of the labels.
pub(crate) fn labelled_phi(shape: &Shape, rows: &FeatureBatch) -> Vec<f64> {
    let k = shape.classes;
    let labels: Vec<f64> =
        (0..rows.rows() * k).map(|at| f64::from(u8::from(rows.label(at / k) == Some(at % k)))).collect();
    let mut sums = shape.products(rows, &vec![labels.clone(); rows.views()]);
    for of_row in labels.chunks_exact(k) {
        sums[shape.bias()].iter_mut().zip(of_row).for_each(|(sum, label)| *sum += label);
    }
    sums.iter().map(|sum| sum / rows.rows() as f64).collect()
}

/// `E[A(theta; x)] - theta . phi` over the rows of a source, and its gradient `E[d A / d theta] - phi`. The features should be
/// standardised ([`Standard`](super::units::Standard)): products with them are in single precision.
///
/// # Errors
/// Those of the source.
pub(crate) fn value_and_gradient<S: FeatureSource>(
    source: &S,
    shape: &Shape,
    phi: &[f64],
    theta: &[f64],
) -> Result<(f64, Vec<f64>), S::Error> {
    let (mut sums, mut rows) = (vec![0.0; shape.len() + 1], 0.0);
    for batch in source.batches()? {
        let batch = batch?;
        let more = shape.pass(&batch, theta, 1, |scores, offset| {
            // The scores become the posterior, whose products with the features are the gradient.
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
            let total: f64 = scores.iter().sum();
            scores.iter_mut().for_each(|p| *p /= total);
            offset[0] += largest + total.ln();
        });
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        rows += batch.rows() as f64;
    }
    let mut value = sums[shape.len()] / rows;
    sums.truncate(shape.len());
    for ((gradient, phi), theta) in sums.iter_mut().zip(phi).zip(theta) {
        value -= theta * phi;
        *gradient = *gradient / rows - phi;
    }
    Ok((value, sums))
}

#[cfg(test)]
mod tests {
    use super::super::example::{CLASSES, WIDTHS, rows, score_schema, unlabelled};
    use super::super::parts::Scored;
    use super::super::{LogisticModel, LogisticParams, train_by_lbfgs};
    use super::*;
    use crate::data::{Sample, Source};
    use crate::estimator::Params;

    fn shape() -> Shape {
        Shape { widths: WIDTHS.to_vec(), classes: CLASSES }
    }

    #[test]
    fn gradient_is_that_of_the_value() -> Result<()> {
        let (shape, rows) = (shape(), rows(300, 0.2, 1));
        let source = unlabelled(&rows);
        let phi = labelled_phi(&shape, &rows);
        let theta: Vec<f64> = (0..shape.len()).map(|at| 0.3 * (at as f64).sin()).collect();
        let (_, gradient) = value_and_gradient(&source, &shape, &phi, &theta)?;
        for (at, exact) in gradient.iter().enumerate() {
            let moved = |by: f64| -> Result<f64> {
                let mut theta = theta.clone();
                theta[at] += by;
                Ok(value_and_gradient(&source, &shape, &phi, &theta)?.0)
            };
            let difference = (moved(1e-2)? - moved(-1e-2)?) / 2e-2;
            // Truncation is of order h^2, rounding in single precision of order 1e-7 / h.
            assert!((difference - exact).abs() < 1e-4, "{at}: {difference} {exact}");
        }
        Ok(())
    }

    /// What labels the rows that a model scores.
    fn labeller(
        source: &impl FeatureSource<Error = crate::Error>,
        model: &LogisticModel,
    ) -> Result<Labeller> {
        let scores = |rows: &FeatureBatch| model.scores(rows);
        let scored = Scored { source, scores, schema: score_schema() };
        let estimator = Params::new().check()?;
        let plan = estimator.plan(&Sample::of(&scored)?)?;
        estimator.solve(&estimator.moments(&scored, &plan)?)?.labeller()
    }

    /// The distance of `phi-bar` without labels from that of the same rows' labels.
    fn error(count: usize, seed: u64) -> Result<f64> {
        let (shape, rows) = (shape(), rows(count, 0.0, seed));
        let model =
            LogisticParams::default().check()?.train(&super::super::example::rows(500, 0.0, 999), CLASSES);
        let source = unlabelled(&rows);
        let labeller = labeller(&source, &model)?;
        let mut phi = PhiBar::new(shape.clone());
        for batch in source.batches()? {
            let batch = batch?;
            phi.update(&batch, &labeller, &model.scores(&batch)?)?;
        }
        let truth = labelled_phi(&shape, &rows);
        Ok(phi.mean().iter().zip(truth).map(|(phi, truth)| (phi - truth).powi(2)).sum::<f64>().sqrt())
    }

    #[test]
    fn the_error_of_phi_bar_falls_as_one_over_the_root_of_the_rows() -> Result<()> {
        let mean = |count: usize| -> Result<f64> {
            let squares = (0..6).map(|seed| Ok(error(count, seed)?.powi(2))).collect::<Result<Vec<f64>>>()?;
            Ok((squares.iter().sum::<f64>() / 6.0).sqrt())
        };
        let (few, many) = (mean(2_000)?, mean(32_000)?);
        // Sixteen times the rows, a quarter of the error; of six draws each root mean square is known to some 20%.
        assert!((2.2..7.5).contains(&(few / many)), "{few} {many}");
        Ok(())
    }

    #[test]
    fn known_labels_replace_the_surrogates() -> Result<()> {
        let (shape, rows) = (shape(), rows(2_000, 0.0, 3));
        let model = train_by_lbfgs(&rows, CLASSES, 0.01)?;
        let labeller = labeller(&unlabelled(&rows), &model)?;
        let mut phi = PhiBar::new(shape.clone());
        phi.update(&rows, &labeller, &model.scores(&rows)?)?;
        for (phi, truth) in phi.mean().iter().zip(labelled_phi(&shape, &rows)) {
            assert!((phi - truth).abs() < 1e-9, "{phi} {truth}");
        }
        Ok(())
    }
}
