//! What is kept of rows of which a few have labels.

use super::powered::Imputed;
use super::recalibrated::{Recalibration, Sums, mean_logs};
use crate::data::{Batch, block_of};
use crate::error::Result;
use crate::estimator::Labeller;
use crate::interrupt;
use crate::loss::{self, Loss, SharedLoss, Whole};
use crate::numeric::argmax;
use crate::settings::few_labels::BLOCKS;

/// Sums over all rows, and the labelled rows themselves.
pub(super) struct Rows {
    loss: SharedLoss,
    whole: Option<Whole>,
    k: usize,
    states: usize,
    seen: u64,
    /// The loss that the risk is the mean of.
    pub(super) risk: Imputed,
    /// Whether the prediction is wrong.
    pub(super) error: Imputed,
    /// Over all rows the sum of each class's posterior, and of its square.
    posterior: Vec<[f64; 2]>,
    /// Over all rows, state by state, the sums of the state's posterior times the loss for each class.
    pub(super) state_losses: Vec<f64>,
    /// Of the labelled rows: their classes, posteriors of classes and of states, and clusters.
    pub(super) classes: Vec<usize>,
    pub(super) posteriors: Vec<f64>,
    pub(super) state_posteriors: Vec<f64>,
    /// The means of their views' logarithms of probabilities.
    pub(super) mean_logs: Vec<f64>,
    clusters: Option<Vec<u64>>,
}

impl Rows {
    pub(super) fn new(labeller: &Labeller, loss: &SharedLoss, whole: Option<Whole>) -> Self {
        let (k, states) = (labeller.schema().k(), labeller.states());
        Self {
            loss: loss.clone(),
            whole,
            k,
            states,
            seen: 0,
            risk: Imputed::new(BLOCKS),
            error: Imputed::new(BLOCKS),
            posterior: vec![[0.0; 2]; k],
            state_losses: vec![0.0; states * k],
            classes: Vec::new(),
            posteriors: Vec::new(),
            state_posteriors: Vec::new(),
            mean_logs: Vec::new(),
            clusters: None,
        }
    }

    /// Adds rows.
    pub(super) fn update(&mut self, labeller: &Labeller, batch: &Batch) -> Result<()> {
        interrupt::check();
        let rows = batch.rows();
        if rows == 0 {
            return Ok(());
        }
        let of_states = labeller.state_posterior(batch)?;
        let posterior = labeller.class_posterior(rows, &of_states);
        let (total, losses) = self.losses(batch);
        for row in 0..rows {
            let (p, loss) = (of_row(&posterior, rows, row), of_row(&losses, rows, row));
            let predicted = argmax((0..self.k).map(|class| total[class * rows + row]));
            let label = batch.label(row);
            let block = block_of(batch, self.seen, row, BLOCKS);
            self.risk.add(block, &p, |class| loss[class], label);
            self.error.add(block, &p, |class| f64::from(u8::from(class != predicted)), label);
            for (sums, p) in self.posterior.iter_mut().zip(&p) {
                sums[0] += p;
                sums[1] += p * p;
            }
            if self.states > self.k {
                for (state, sums) in self.state_losses.chunks_exact_mut(self.k).enumerate() {
                    let r = of_states[state * rows + row];
                    sums.iter_mut().zip(&loss).for_each(|(sum, loss)| *sum += r * loss);
                }
            }
            if let Some(class) = label {
                self.classes.push(class);
                self.posteriors.extend(p);
                self.mean_logs.extend(mean_logs(batch, row));
                if self.states > self.k {
                    self.state_posteriors.extend(of_row(&of_states, rows, row));
                }
                if let Some(clusters) = batch.clusters() {
                    self.clusters.get_or_insert_default().push(clusters[row]);
                }
            }
        }
        self.seen += rows as u64;
        Ok(())
    }

    /// The summed scores of a batch's rows, and what each costs for each class.
    fn losses(&self, batch: &Batch) -> (Vec<f64>, Vec<f64>) {
        let (rows, total) = (batch.rows(), batch.total());
        let losses = match self.whole {
            None => {
                let terms: Vec<Vec<f64>> =
                    (0..batch.views()).map(|view| loss::terms_of(&*self.loss, batch, view)).collect();
                loss::all_losses(&*self.loss as &dyn Loss, batch, &terms)
            }
            Some(whole) => {
                let mut losses = vec![0.0; rows * self.k];
                for row in 0..rows {
                    let scores = of_row(&total, rows, row);
                    (0..self.k).for_each(|class| losses[class * rows + row] = whole.value(&scores, class));
                }
                losses
            }
        };
        (total, losses)
    }

    /// Adds rows to the sums of the risk and of the error rate by a recalibrated posterior.
    pub(super) fn recalibrate(
        &self,
        labeller: &Labeller,
        batch: &Batch,
        recalibration: &Recalibration,
        [risk, error]: &mut [Sums; 2],
    ) -> Result<()> {
        interrupt::check();
        let rows = batch.rows();
        if rows == 0 {
            return Ok(());
        }
        let (total, losses) = self.losses(batch);
        for (row, z) in recalibration.logits(labeller, batch)?.iter().enumerate() {
            let p = recalibration.posterior(z);
            let loss = of_row(&losses, rows, row);
            let predicted = argmax(of_row(&total, rows, row).into_iter());
            let label = batch.label(row);
            risk.add(recalibration, (z, &p), |class| loss[class], label);
            error.add(recalibration, (z, &p), |class| f64::from(u8::from(class != predicted)), label);
        }
        Ok(())
    }

    /// All rows.
    pub(super) fn count(&self) -> u64 {
        self.seen
    }

    /// Those with a label.
    pub(super) fn labels(&self) -> usize {
        self.classes.len()
    }

    /// The number of classes, and of latent states.
    pub(super) fn dimensions(&self) -> [usize; 2] {
        [self.k, self.states]
    }

    /// The groups of the labelled rows that depend on each other, where there are such.
    pub(super) fn clusters(&self) -> Option<&[u64]> {
        self.clusters.as_deref()
    }

    /// Mean and variance of a class's posterior over all rows.
    pub(super) fn posterior(&self, class: usize) -> (f64, f64) {
        let [sum, squares] = self.posterior[class].map(|sum| sum / self.seen as f64);
        (sum, (squares - sum * sum).max(0.0))
    }
}

/// What columns have in one row.
pub(super) fn of_row(columns: &[f64], rows: usize, row: usize) -> Vec<f64> {
    columns.iter().skip(row).step_by(rows).copied().collect()
}
