//! What is asked of rows of which a few have labels.

use crate::data::Batch;
use crate::loss::{self, Loss, SharedLoss, Whole};
use crate::settings::metrics::SMALLEST_PROBABILITY;

/// Who is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// The prediction of the views that are judged.
    Model,
    /// A view as a model of its own.
    View(usize),
    /// The first of two views less the second, over the rows that have both.
    Pair([usize; 2]),
    /// The output of another model that rides along with the rows.
    Prediction,
}

/// By what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The loss that the risk is the mean of; of a prediction the log loss.
    Risk,
    /// A loss of the whole prediction.
    Whole(Whole),
}

/// What a mean may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    /// Anything.
    Any,
    /// From zero to this, which may be infinite.
    UpTo(f64),
    /// A share: of losses that are zero or one.
    Share,
}

impl Range {
    /// No less than zero.
    pub(crate) const POSITIVE: Self = Self::UpTo(f64::INFINITY);
}

/// A mean that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) judged: Judged,
    pub(super) by: By,
}

/// What rows cost for every class, and which of them count.
pub(super) struct Costs {
    /// One column a class.
    losses: Vec<f64>,
    rows: usize,
    /// The views that a row must have.
    needed: Vec<usize>,
}

impl Costs {
    /// What a row costs for each class.
    pub(super) fn of_row(&self, row: usize) -> Vec<f64> {
        of_row(&self.losses, self.rows, row)
    }

    /// Whether a row has what is judged.
    pub(super) fn counts(&self, batch: &Batch, row: usize) -> bool {
        let missing = batch.missing().map_or(0, |missing| missing[row]);
        self.needed.iter().all(|view| missing >> view & 1 == 0)
    }
}

/// All that is asked, of rows under one loss.
pub(super) struct Questions {
    loss: SharedLoss,
    /// The loss of the whole prediction that is the risk's instead, if one is.
    whole: Option<Whole>,
    pub(super) asked: Vec<Asked>,
}

impl Questions {
    /// The places of the risk and of the error rate of what is judged.
    pub(super) const RISK: usize = 0;
    pub(super) const ERROR_RATE: usize = 1;

    /// Of the model, of so many views by themselves and in pairs, and of a prediction, where these are asked for.
    pub(super) fn new(loss: &SharedLoss, whole: Option<Whole>, views: usize, prediction: bool) -> Self {
        let ways = || [By::Risk, By::Whole(Whole::Error), By::Whole(Whole::Brier)];
        let pairs = (0..views).flat_map(|a| (a + 1..views).map(move |b| [a, b]));
        // What is no sum over views has no loss of one of them.
        let alone = loss.form() == loss::Form::Sum || whole.is_some();
        let of_view = |by: &By| alone || *by != By::Risk;
        let models = std::iter::once(Judged::Model).flat_map(|judged| ways().map(|by| Asked { judged, by }));
        let views = (0..views).map(Judged::View);
        let views =
            views.flat_map(|judged| ways().into_iter().filter(of_view).map(move |by| Asked { judged, by }));
        let pairs = pairs.map(|pair| Asked { judged: Judged::Pair(pair), by: By::Whole(Whole::Error) });
        let predictions = prediction.then_some(Judged::Prediction);
        let predictions = predictions.into_iter().flat_map(|judged| ways().map(|by| Asked { judged, by }));
        let asked = models.chain(views).chain(pairs).chain(predictions).collect();
        Self { loss: loss.clone(), whole, asked }
    }

    /// What its mean may be.
    pub(super) fn range(&self, asked: Asked) -> Range {
        let whole = match (asked.by, asked.judged) {
            (_, Judged::Pair(_)) => return Range::Any,
            (By::Whole(whole), _) => Some(whole),
            (By::Risk, Judged::Prediction) => None,
            (By::Risk, _) => self.whole,
        };
        match whole {
            Some(Whole::Error) => Range::Share,
            Some(whole) => Range::UpTo(whole.largest()),
            None => Range::POSITIVE,
        }
    }

    /// What the rows of a batch cost by everything that is asked.
    pub(super) fn costs(&self, batch: &Batch) -> Vec<Costs> {
        self.asked.iter().map(|asked| self.of(*asked, batch)).collect()
    }

    fn of(&self, Asked { judged, by }: Asked, batch: &Batch) -> Costs {
        let (rows, k) = (batch.rows(), batch.k());
        let views = match judged {
            Judged::Model => (0..batch.views()).filter(|&view| self.loss.judges(view)).collect(),
            Judged::View(view) => vec![view],
            Judged::Pair(pair) => pair.to_vec(),
            Judged::Prediction => Vec::new(),
        };
        let needed = if judged == Judged::Model { Vec::new() } else { views.clone() };
        let whole = match (by, judged) {
            (By::Whole(whole), _) => Some(whole),
            (By::Risk, Judged::Prediction) => None,
            (By::Risk, _) => self.whole,
        };
        let losses = match (judged, whole) {
            (Judged::Pair([a, b]), Some(whole)) => {
                let [first, second] = [a, b].map(|view| of_whole(whole, batch.view(view), rows, k));
                first.into_iter().zip(second).map(|(first, second)| first - second).collect()
            }
            (Judged::Prediction, None) => logs(batch).into_iter().map(|log| -log).collect(),
            (Judged::Prediction, Some(whole)) => of_whole(whole, &logs(batch), rows, k),
            (_, Some(whole)) => of_whole(whole, &batch.sum(&views), rows, k),
            (Judged::Model, None) => all_losses(&*self.loss, batch),
            (_, None) => all_losses(&*self.loss.clone().of_views(views), batch),
        };
        Costs { losses, rows, needed }
    }
}

/// The logarithms of a prediction's probabilities, class by class; nothing where there is none.
fn logs(batch: &Batch) -> Vec<f64> {
    let probabilities = batch.prediction().unwrap_or_default();
    probabilities.iter().map(|p| p.max(SMALLEST_PROBABILITY).ln()).collect()
}

fn all_losses(loss: &dyn Loss, batch: &Batch) -> Vec<f64> {
    let terms: Vec<Vec<f64>> = (0..batch.views()).map(|view| loss::terms_of(loss, batch, view)).collect();
    loss::all_losses(loss, batch, &terms)
}

/// What summed scores cost for each class, one column a class.
fn of_whole(whole: Whole, scores: &[f64], rows: usize, k: usize) -> Vec<f64> {
    let mut losses = vec![0.0; rows * k];
    for row in 0..rows {
        let of_row = of_row(scores, rows, row);
        (0..k).for_each(|class| losses[class * rows + row] = whole.value(&of_row, class));
    }
    losses
}

/// What columns have in one row.
pub(super) fn of_row(columns: &[f64], rows: usize, row: usize) -> Vec<f64> {
    columns.iter().skip(row).step_by(rows).copied().collect()
}
