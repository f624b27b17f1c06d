//! The views' hard predictions, and what a class prior and confusion matrices say of the rows.

use super::{Said, Unsuited, judged, mean, predictions};
use crate::data::Batch;
use crate::loss::{self, Loss};
use crate::numeric::argmax;
use crate::votes::{Crowd, Vote, Votes};

const TOO_MANY: Unsuited = "these are too many classes for confusion matrices";

/// The class with the largest score of a view in each row; none where the view is missing.
pub(super) fn predictions_of(rows: &Batch, view: usize) -> Vec<Option<usize>> {
    let predicted = |row: usize| {
        let scores = (0..rows.k()).map(|class| rows.column(view, class)[row]);
        (!rows.is_missing(view, row)).then(|| argmax(scores))
    };
    (0..rows.rows()).map(predicted).collect()
}

/// The same of every view.
pub(super) fn all_predictions(rows: &Batch) -> Vec<Vec<Option<usize>>> {
    (0..rows.views()).map(|view| predictions_of(rows, view)).collect()
}

/// The views' predictions as votes, one annotator a view.
pub(super) fn cast(predictions: &[Vec<Option<usize>>], k: usize) -> Result<Votes, Unsuited> {
    let mut votes = Vec::new();
    for (annotator, predictions) in predictions.iter().enumerate() {
        let cast = predictions.iter().enumerate().filter_map(|(item, class)| Some((item, (*class)?)));
        votes.extend(cast.map(|(item, class)| Vote {
            item: item as u32,
            annotator: annotator as u32,
            class: class as u32,
        }));
    }
    Votes::new(k, predictions.len(), predictions[0].len(), &votes).map_err(|_| TOO_MANY)
}

/// What a crowd says of the rows it voted on: the views' errors, and the loss and error of the summed scores under the posterior of
/// the votes.
pub(super) fn said(rows: &Batch, crowd: &Crowd, votes: &Votes, loss: &dyn Loss) -> Said {
    let (n, k) = (rows.rows(), rows.k());
    let terms: Vec<Vec<f64>> = (0..rows.views()).map(|view| loss::terms_of(loss, rows, view)).collect();
    let (losses, predicted) = (loss::all_losses(loss, rows, &terms), predictions(&judged(rows, loss)));
    let posteriors = crowd.posteriors(votes);
    let p = |row: usize, class: usize| posteriors[row * k + class];
    let imputed = |row: usize| (0..k).map(|class| p(row, class) * losses[class * n + row]).sum();
    let right = |view: usize| {
        let confusion = crowd.of_annotator(view);
        (0..k).map(|j| crowd.prior[j] * confusion[j * k + j]).sum::<f64>()
    };
    Said {
        risk: Some(mean((0..n).map(imputed))),
        error_rate: Some(mean((0..n).map(|row| 1.0 - p(row, predicted[row])))),
        view_error: Some((0..rows.views()).map(|view| 1.0 - right(view)).collect()),
    }
}
