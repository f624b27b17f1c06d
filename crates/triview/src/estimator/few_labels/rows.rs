//! What is kept of rows of which a few have labels.

use super::asked::{Asked, Questions, of_row};
use super::powered::Imputed;
use super::recalibrated::{Recalibration, Sums, mean_logs};
use crate::data::{Batch, block_of};
use crate::error::Result;
use crate::estimator::Labeller;
use crate::interrupt;
use crate::settings::few_labels::BLOCKS;
use std::collections::BTreeMap;

/// The risk and the error rate of a segment's rows.
const OF_SEGMENT: [usize; 2] = [Questions::RISK, Questions::ERROR_RATE];

/// Sums over all rows, and the labelled rows themselves.
pub(super) struct Rows {
    pub(super) questions: Questions,
    k: usize,
    states: usize,
    seen: u64,
    /// For each question.
    imputed: Vec<Imputed>,
    /// The same of each segment's rows, for the risk and the error rate.
    segments: BTreeMap<u64, [Imputed; 2]>,
    /// Over all rows the sum of each class's posterior, and of its square.
    posterior: Vec<[f64; 2]>,
    /// Over all rows, state by state, the sums of the state's posterior times the loss for each class.
    pub(super) state_losses: Vec<f64>,
    /// Of the labelled rows: their classes, what each counts for, posteriors of classes and of states, and clusters.
    pub(super) classes: Vec<usize>,
    pub(super) weights: Vec<f64>,
    pub(super) posteriors: Vec<f64>,
    pub(super) state_posteriors: Vec<f64>,
    /// The means of their views' logarithms of probabilities.
    pub(super) mean_logs: Vec<f64>,
    clusters: Option<Vec<u64>>,
}

/// Sums by a recalibrated posterior: for each question, and for the risk and the error rate of each segment.
pub(super) struct AllSums {
    pub(super) of_all: Vec<Sums>,
    pub(super) of_segments: BTreeMap<u64, [Sums; 2]>,
}

impl Rows {
    pub(super) fn new(labeller: &Labeller, questions: Questions) -> Self {
        let (k, states) = (labeller.schema().k(), labeller.states());
        Self {
            imputed: questions.asked.iter().map(|_| Imputed::new(BLOCKS)).collect(),
            questions,
            k,
            states,
            seen: 0,
            segments: BTreeMap::new(),
            posterior: vec![[0.0; 2]; k],
            state_losses: vec![0.0; states * k],
            classes: Vec::new(),
            weights: Vec::new(),
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
        let costs = self.questions.costs(batch);
        for row in 0..rows {
            let p = of_row(&posterior, rows, row);
            let label = batch.weighted_label(row);
            let block = block_of(batch, self.seen, row, BLOCKS);
            let segment = batch.segments().map(|keys| {
                let new = || [Imputed::new(BLOCKS), Imputed::new(BLOCKS)];
                self.segments.entry(keys[row]).or_insert_with(new)
            });
            for (imputed, costs) in self.imputed.iter_mut().zip(&costs) {
                if costs.counts(batch, row) {
                    imputed.add(block, &p, &costs.of_row(row), label);
                }
            }
            if let Some(segment) = segment {
                for (imputed, at) in segment.iter_mut().zip(OF_SEGMENT) {
                    imputed.add(block, &p, &costs[at].of_row(row), label);
                }
            }
            for (sums, p) in self.posterior.iter_mut().zip(&p) {
                sums[0] += p;
                sums[1] += p * p;
            }
            if self.states > self.k {
                let loss = costs[Questions::RISK].of_row(row);
                for (state, sums) in self.state_losses.chunks_exact_mut(self.k).enumerate() {
                    let r = of_states[state * rows + row];
                    sums.iter_mut().zip(&loss).for_each(|(sum, loss)| *sum += r * loss);
                }
            }
            if let Some((class, weight)) = label {
                self.classes.push(class);
                self.weights.push(weight);
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

    /// Adds rows to the sums by a recalibrated posterior.
    pub(super) fn recalibrate(
        &self,
        labeller: &Labeller,
        batch: &Batch,
        recalibration: &Recalibration,
        sums: &mut AllSums,
    ) -> Result<()> {
        interrupt::check();
        if batch.rows() == 0 {
            return Ok(());
        }
        let costs = self.questions.costs(batch);
        for (row, z) in recalibration.logits(labeller, batch)?.iter().enumerate() {
            let p = recalibration.posterior(z);
            let label = batch.weighted_label(row);
            for (sums, costs) in sums.of_all.iter_mut().zip(&costs) {
                if costs.counts(batch, row) {
                    sums.add(recalibration, (z, &p), &costs.of_row(row), label);
                }
            }
            if let Some(keys) = batch.segments() {
                let new = || [Sums::new(self.k), Sums::new(self.k)];
                let segment = sums.of_segments.entry(keys[row]).or_insert_with(new);
                for (sums, at) in segment.iter_mut().zip(OF_SEGMENT) {
                    sums.add(recalibration, (z, &p), &costs[at].of_row(row), label);
                }
            }
        }
        Ok(())
    }

    /// Sums that nothing has been added to.
    pub(super) fn sums(&self) -> AllSums {
        let of_all = self.imputed.iter().map(|_| Sums::new(self.k)).collect();
        AllSums { of_all, of_segments: BTreeMap::new() }
    }

    /// Everything that is asked, with what is imputed for it.
    pub(super) fn asked(&self) -> impl Iterator<Item = (Asked, &Imputed)> {
        self.questions.asked.iter().copied().zip(&self.imputed)
    }

    /// What is imputed to each segment's rows, for the risk and the error rate.
    pub(super) fn segments(&self) -> impl Iterator<Item = (u64, &[Imputed; 2])> {
        self.segments.iter().map(|(key, imputed)| (*key, imputed))
    }

    /// What is imputed of the risk.
    pub(super) fn risk(&self) -> &Imputed {
        &self.imputed[Questions::RISK]
    }

    /// What is imputed of whether the prediction is wrong.
    pub(super) fn error_rate(&self) -> &Imputed {
        &self.imputed[Questions::ERROR_RATE]
    }

    /// All rows.
    pub(super) fn count(&self) -> u64 {
        self.seen
    }

    /// Those with a label.
    pub(super) fn labels(&self) -> usize {
        self.classes.len()
    }

    /// As many labels of rows that are all as likely to have one as would say as much of a mean.
    pub(super) fn labels_worth(&self) -> f64 {
        let sum: f64 = self.weights.iter().sum();
        sum * sum / self.weights.iter().map(|weight| weight * weight).sum::<f64>()
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
