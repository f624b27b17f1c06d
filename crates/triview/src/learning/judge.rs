//! The log risk of a model on rows that it has not seen, by labels that were not made from them.
//!
//! The labels `W_-v` are linear in functions `b_v` of the other views, `W_-v = S_v b_v`, so the risk is linear in the maps `S_v`
//! (eq. 3):
//!
//! ```text
//!     E[A] - sum_v <S_v, C_v>,    C_v = E[f_v b_v^T],
//! ```
//!
//! and from the sums `C_v` of blocks of rows both errors are known: that of the rows, and that of maps which were fitted
//! to other rows.

use crate::interval::Deviations;
use crate::labelling::Labeller;
use crate::linalg::dot;
use crate::loss::{LogLoss, offsets};
use crate::moments::{block_count, block_of};
use crate::views::{Batch, VIEWS};

/// Sums over the rows of each block: how many, their `A`, and the cells of `C_v`, group by group.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    blocks: Vec<Vec<f64>>,
    position: u64,
}

impl Judged {
    pub(crate) fn new(classes: usize) -> Self {
        Self { blocks: vec![Vec::new(); block_count(classes)], position: 0 }
    }

    /// Adds rows: the scores of the model that is judged, and those that the labels are made from.
    pub(crate) fn update(&mut self, labeller: &Labeller, judged: &Batch, labelled_by: &Batch) {
        let (rows, k) = (judged.rows(), judged.k());
        if rows == 0 {
            return;
        }
        let bases = labeller.bases(labelled_by);
        let mut terms = vec![vec![0.0; k * rows]; VIEWS];
        for view in 0..judged.views() {
            let terms = terms[labeller.group_of(view)].iter_mut();
            terms.zip(judged.view(view)).for_each(|(sum, score)| *sum += score);
        }
        let widths = bases.each_ref().map(|basis| basis.len() / rows);
        let length = 2 + k * widths.iter().sum::<usize>();
        let offset = offsets(&LogLoss, judged);
        let count = self.blocks.len();
        for row in 0..rows {
            let sums = &mut self.blocks[block_of(judged, self.position, row, count)];
            sums.resize(length, 0.0);
            sums[0] += 1.0;
            sums[1] += offset[row];
            let mut at = 2;
            for (g, &width) in widths.iter().enumerate() {
                for class in 0..k {
                    let term = terms[g][class * rows + row];
                    for column in 0..width {
                        sums[at + column] += term * bases[g][column * rows + row];
                    }
                    at += width;
                }
            }
        }
        self.position += rows as u64;
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> f64 {
        self.filled().map(|block| block[0]).sum()
    }

    fn filled(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.blocks.iter().filter(|block| !block.is_empty())
    }

    /// The risk by these labels.
    pub(crate) fn risk(&self, labeller: &Labeller) -> f64 {
        let maps = labeller.maps().concat();
        self.filled().map(|block| block[1] - dot(&maps, &block[2..])).sum::<f64>() / self.rows()
    }

    /// What each block of rows adds to the error of the risk.
    fn row_deviations(&self, labeller: &Labeller) -> Vec<f64> {
        let (maps, mean, rows) = (labeller.maps().concat(), self.risk(labeller), self.rows());
        let count = self.filled().count() as f64;
        let scale = (count / (count - 1.0)).sqrt() / rows;
        self.filled().map(|block| scale * (block[1] - dot(&maps, &block[2..]) - block[0] * mean)).collect()
    }

    /// What each block of the rows that the maps were fitted to adds to the error of the risk.
    fn map_deviations(&self, moved: &Deviations) -> Vec<f64> {
        let rows = self.rows();
        let mut cross: Vec<f64> = Vec::new();
        for block in self.filled() {
            cross.resize(block.len() - 2, 0.0);
            cross.iter_mut().zip(&block[2..]).for_each(|(sum, cell)| *sum += cell / rows);
        }
        moved.of_blocks(|cells| -dot(cells, &cross))
    }

    /// The same of another model's judgement on the same rows by the same labels, subtracted.
    pub(crate) fn minus(&self, other: &Judged) -> Judged {
        let pairs = self.blocks.iter().zip(&other.blocks);
        let blocks = pairs.map(|(own, other)| {
            let mut difference: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
            // The rows are the same, and stay.
            if let (Some(rows), Some(own)) = (difference.first_mut(), own.first()) {
                *rows = *own;
            }
            difference
        });
        Judged { blocks: blocks.collect(), position: self.position }
    }
}

/// The risk over two halves of the rows, each judged by labels that the other half gave, and its standard error. A block
/// has part in the error twice: by its rows in its own half, and by the maps that it gave the other.
pub(crate) fn over_halves(halves: [(&Judged, &Labeller); 2]) -> (f64, f64) {
    let total: f64 = halves.iter().map(|(judged, _)| judged.rows()).sum();
    let risk = halves.iter().map(|(judged, labeller)| judged.rows() / total * judged.risk(labeller)).sum();
    let mut squares = 0.0;
    for half in [0, 1] {
        let ((own, labels), (other, given)) = (halves[half], halves[1 - half]);
        let by_rows = own.row_deviations(labels);
        let by_maps = other.map_deviations(given.moved());
        for block in 0..by_rows.len().max(by_maps.len()) {
            let part = |deviations: &[f64], judged: &Judged| {
                deviations.get(block).map_or(0.0, |deviation| deviation * judged.rows() / total)
            };
            squares += (part(&by_rows, own) + part(&by_maps, other)).powi(2);
        }
    }
    (risk, squares.sqrt())
}
