//! Any model and any loss without labels: dual averaging with estimated gradients (algorithm 2 of the paper).
//!
//! The model gives each view's scores and pulls gradients in them back to its parameters; the loss gives gradients in the
//! scores. Labels are made once, from the seed's scores `theta_0`, so that the names of the classes stay the seed's, and
//!
//! ```text
//!     d R / d theta = E[d A / d theta] - sum_v sum_j E[W_-v,j d f_v(theta; x_v, j) / d theta]
//! ```
//!
//! (for a product of views the terms of one view are weighed by the conditional means of the others). Errors of a gradient
//! that is wrong in the same way at each step do not add up over the steps of dual averaging.

use super::ball::norm;
use super::linear::Shape;
use super::logistic::LogisticModel;
use super::parts::Scored;
use super::rows::{FeatureBatch, FeatureSource};
use super::units::Units;
use crate::data::{Batch, Sample, Schema, VIEWS};
use crate::error::{Error, Result};
use crate::estimator::{Estimate, Estimator};
use crate::estimator::{Labeller, SurrogateLabels};
use crate::interrupt;
use crate::loss::{Form, Loss, SharedLoss, offsets, terms_of};

/// A model that scores each view on its own and knows the gradients of its scores.
pub trait ViewModel {
    /// The number of its parameters.
    fn parameters(&self) -> usize;

    /// What each view says of each class.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when a score is not a number.
    fn scores(&self, theta: &[f64], rows: &FeatureBatch) -> Result<Batch>;

    /// Adds to `gradient`, for every parameter, the sum over rows, views and classes of
    /// `weights[view][class * rows + row]` times the derivative of that score.
    fn pull_back(&self, theta: &[f64], rows: &FeatureBatch, weights: &[Vec<f64>], gradient: &mut [f64]);
}

/// Linear scores of standardised features, as a [`ViewModel`].
#[derive(Debug, Clone)]
pub struct LinearScores {
    pub(crate) shape: Shape,
    pub(crate) units: Units,
}

impl LinearScores {
    /// Standardises by the rows of a source, which is read once. A feature that few of them show counts as if it varied more, for it may in
    /// new rows.
    ///
    /// # Errors
    /// Those of the source.
    pub fn of<S: FeatureSource>(source: &S, classes: usize) -> Result<Self, S::Error> {
        let shape = Shape { widths: source.schema().widths(), classes };
        Ok(Self { units: Units::cautious(source, classes)?, shape })
    }

    /// The parameters of a model.
    pub fn parameters_of(&self, model: &LogisticModel) -> Vec<f64> {
        let bias = |class: usize| (0..model.views()).map(|view| model.bias(view)[class]).sum::<f64>();
        let weights = (0..model.views()).flat_map(|view| model.weights(view).iter().copied());
        self.units.standard(&weights.chain((0..model.classes()).map(bias)).collect::<Vec<f64>>())
    }

    /// The model of these parameters.
    pub fn model(&self, theta: &[f64]) -> LogisticModel {
        LogisticModel::of_theta(&self.shape, &self.units.plain(theta))
    }
}

impl ViewModel for LinearScores {
    fn parameters(&self) -> usize {
        self.shape.len()
    }

    fn scores(&self, theta: &[f64], rows: &FeatureBatch) -> Result<Batch> {
        self.model(theta).scores(rows)
    }

    fn pull_back(&self, _: &[f64], rows: &FeatureBatch, weights: &[Vec<f64>], gradient: &mut [f64]) {
        let (m, k, views) = (rows.rows(), self.shape.classes, rows.views());
        let by_row = |of_view: &Vec<f64>| (0..m * k).map(|at| of_view[at % k * m + at / k]).collect();
        let by_row: Vec<Vec<f64>> = weights.iter().map(by_row).collect();
        let mut sums = self.shape.products(rows, &by_row);
        for of_row in by_row.iter().flat_map(|view| view.chunks_exact(k)) {
            // Each view has an equal part of the bias.
            sums[self.shape.bias()].iter_mut().zip(of_row).for_each(|(sum, w)| *sum += w / views as f64);
        }
        let sums = self.units.gradient(&sums);
        gradient.iter_mut().zip(sums).for_each(|(gradient, sum)| *gradient += sum);
    }
}

/// Dual averaging (algorithm 2).
#[derive(Debug, Clone)]
pub struct DualAveraging {
    /// The loss.
    pub loss: SharedLoss,
    /// The step size, `eta`.
    pub step: f64,
    /// The number of steps, `T`.
    pub steps: usize,
    /// What labels the rows: its own loss says which class is which.
    pub estimator: Estimator,
}

/// The step size of dual averaging.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// As it is.
    Plain(f64),
    /// So large that the first step is this share of the length of `theta_0`.
    Relative(f64),
}

/// What dual averaging ends with.
#[derive(Debug, Clone)]
pub struct Averaged {
    /// The mean of the parameters of all steps.
    pub theta: Vec<f64>,
    /// The estimated risk at each step, the seed's first.
    pub risks: Vec<f64>,
    /// What the rows say of the seed.
    pub seed: Estimate,
    /// No risk is smaller.
    pub least: f64,
}

impl Averaged {
    /// Whether there is reason to use these parameters in place of the seed's: what the rows say of the seed is to be trusted, the risk has fallen, and
    /// not below what is possible. Views that depend on each other make the estimated risk of a model fall without end.
    ///
    /// The risks are those of the rows that the parameters were fitted to: [`Adaptation`](super::Adaptation) judges linear models by others.
    pub fn supported(&self) -> bool {
        let fallen = self.risks.first().zip(self.risks.last()).is_some_and(|(first, last)| last < first);
        fallen && self.seed.trusted() && self.risks.iter().all(|risk| *risk >= self.least)
    }
}

impl DualAveraging {
    /// Runs from the seed's parameters `theta_0`; the rows are read once a step, twice where the loss is a product.
    ///
    /// # Errors
    /// Those of the source and of the model, [`Error::WeakSeed`], [`Error::InvalidParameter`] for a step that is not a
    /// positive number or no steps, and whatever keeps the rows from being answered.
    pub fn run<S: FeatureSource>(
        &self,
        source: &S,
        model: &impl ViewModel,
        start: &[f64],
        schema: &Schema,
    ) -> Result<Averaged, S::Error> {
        let refuse = |name, value: String, expected| Error::InvalidParameter { name, value, expected };
        if !(self.step.is_finite() && self.step > 0.0) {
            return Err(refuse("step", self.step.to_string(), "a positive number").into());
        }
        if self.steps == 0 {
            return Err(refuse("steps", "0".into(), "at least 1").into());
        }
        let scores = |rows: &FeatureBatch| model.scores(start, rows);
        let scored = Scored { source, scores, schema: schema.clone() };
        let plan = self.estimator.plan(&Sample::of(&scored)?)?;
        let moments = self.estimator.moments(&scored, &plan)?;
        let solved = self.estimator.solve(&moments)?;
        let (seed, labeller) = (solved.estimate(), solved.labeller()?);
        seed.expect_strong_seed()?;
        let risk = Risk { loss: &*self.loss, labeller: &labeller, model, source, start };
        let expected = "steps of this size lead to risks that are no numbers; take a smaller one";
        let diverged = || refuse("step", self.step.to_string(), expected);
        let (theta, risks) = risk.descend(Step::Plain(self.step), self.steps)?.ok_or_else(diverged)?;
        let [least, _] = self.loss.range(schema.views().len());
        Ok(Averaged { theta, risks, seed, least })
    }
}

/// The mean of the parameters of all steps, and the risk at each.
type Descended = (Vec<f64>, Vec<f64>);

/// The estimated risk as a function of the parameters. Labels are made from the scores of `start`.
pub(crate) struct Risk<'a, S, M> {
    pub(crate) loss: &'a dyn Loss,
    pub(crate) labeller: &'a Labeller,
    pub(crate) model: &'a M,
    pub(crate) source: &'a S,
    pub(crate) start: &'a [f64],
}

impl<S: FeatureSource, M: ViewModel> Risk<'_, S, M> {
    /// The mean of the parameters of all steps from the start, and the risk at each; nothing where a step is so long that
    /// the risk or its gradient is no number.
    pub(crate) fn descend(&self, step: Step, steps: usize) -> Result<Option<Descended>, S::Error> {
        let start = self.start;
        let (mut theta, mut sum) = (start.to_vec(), vec![0.0; start.len()]);
        let (mut dual, mut risks) = (vec![0.0; start.len()], Vec::with_capacity(steps));
        let mut eta = None;
        for _ in 0..steps {
            interrupt::check();
            sum.iter_mut().zip(&theta).for_each(|(sum, theta)| *sum += theta);
            let (value, gradient) = self.at(&theta)?;
            // A sum of squares: finite where all are, and not too long to go on with.
            if !(value.is_finite() && norm(&gradient).is_finite()) {
                return Ok(None);
            }
            risks.push(value);
            let eta = *eta.get_or_insert_with(|| match step {
                Step::Plain(eta) => eta,
                Step::Relative(share) => share * norm(start) / norm(&gradient).max(f64::MIN_POSITIVE),
            });
            // theta = argmin |theta - theta_0|^2 / (2 eta) - theta . z.
            dual.iter_mut().zip(&gradient).for_each(|(z, g)| *z -= g);
            theta = start.iter().zip(&dual).map(|(start, z)| start + eta * z).collect();
        }
        sum.iter_mut().for_each(|sum| *sum /= steps as f64);
        Ok(Some((sum, risks)))
    }

    /// The risk and its gradient.
    fn at(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), S::Error> {
        let k = self.labeller.class_prior().len();
        // For each group the other groups' share in the weight of each of its terms.
        let (mut value, mut others) = (0.0, vec![vec![-1.0; k]; VIEWS]);
        if let Form::Products(products) = self.loss.form() {
            let means = self.class_means(theta, products)?;
            let product = |skip: Option<usize>, term: usize| {
                let groups = (0..VIEWS).filter(|group| Some(*group) != skip);
                groups.map(|group| means[group][term]).product::<f64>()
            };
            for (group, others) in others.iter_mut().enumerate() {
                *others = (0..k * products).map(|term| product(Some(group), term)).collect();
            }
            let prior = self.labeller.class_prior();
            value += (0..k * products).map(|term| prior[term % k] * product(None, term)).sum::<f64>();
        }
        let (mut gradient, mut rows) = (vec![0.0; self.model.parameters()], 0.0);
        let mut sum = 0.0;
        for batch in self.source.batches()? {
            let batch = batch?;
            let labels = self.labeller.label(&self.model.scores(self.start, &batch)?)?;
            let scores = self.model.scores(theta, &batch)?;
            let (weights, part) = self.weigh(&scores, &labels, &others);
            self.model.pull_back(theta, &batch, &weights, &mut gradient);
            sum += part;
            rows += batch.rows() as f64;
        }
        gradient.iter_mut().for_each(|g| *g /= rows);
        Ok((value + sum / rows, gradient))
    }

    /// The derivatives of the risk in every score, and what of the risk is a sum over rows.
    fn weigh(&self, scores: &Batch, labels: &SurrogateLabels, others: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
        let (rows, k, views) = (scores.rows(), scores.k(), scores.views());
        let is_sum = self.loss.form() == Form::Sum;
        let terms: Vec<Vec<f64>> = (0..views).map(|view| terms_of(self.loss, scores, view)).collect();
        let groups: Vec<usize> = (0..views).map(|view| self.labeller.group_of(view)).collect();
        let mut value: f64 = offsets(self.loss, scores).iter().sum();
        let mut weights = vec![vec![0.0; rows * k]; views];
        let (mut of_offset, mut of_term) = (vec![vec![0.0; k]; views], vec![0.0; k]);
        for row in 0..rows {
            let of_row: Vec<Vec<f64>> = (0..views)
                .map(|view| (0..k).map(|class| scores.column(view, class)[row]).collect())
                .collect();
            let views_of_row: Vec<&[f64]> = of_row.iter().map(Vec::as_slice).collect();
            of_offset.iter_mut().for_each(|view| view.fill(0.0));
            self.loss.offset_gradient(&views_of_row, &mut of_offset);
            for view in 0..views {
                for term in 0..k * self.loss.form().terms() {
                    let label = labels.column(groups[view], term % k)[row];
                    let mut weight = label * others[groups[view]][term];
                    if is_sum {
                        value -= label * terms[view][term * rows + row];
                    } else {
                        let same = (0..views).filter(|&other| other != view && groups[other] == groups[view]);
                        weight *= same.map(|other| terms[other][term * rows + row]).product::<f64>();
                    }
                    self.loss.term_gradient(view, views_of_row[view], term, &mut of_term);
                    of_offset[view].iter_mut().zip(&of_term).for_each(|(sum, g)| *sum += weight * g);
                }
                for (class, g) in of_offset[view].iter().enumerate() {
                    weights[view][class * rows + row] = *g;
                }
            }
        }
        (weights, value)
    }

    /// `M_g[j, j]` of each group and product: the class means of the products of its views' factors.
    fn class_means(&self, theta: &[f64], products: usize) -> Result<[Vec<f64>; VIEWS], S::Error> {
        let prior = self.labeller.class_prior();
        let k = prior.len();
        let mut sums = [0, 1, 2].map(|_| vec![0.0; k * products]);
        let mut count = 0.0;
        for batch in self.source.batches()? {
            let batch = batch?;
            let labels = self.labeller.label(&self.model.scores(self.start, &batch)?)?;
            let scores = self.model.scores(theta, &batch)?;
            let rows = scores.rows();
            let terms: Vec<Vec<f64>> =
                (0..scores.views()).map(|view| terms_of(self.loss, &scores, view)).collect();
            for (group, sums) in sums.iter_mut().enumerate() {
                let members: Vec<usize> =
                    (0..terms.len()).filter(|&view| self.labeller.group_of(view) == group).collect();
                for (term, sum) in sums.iter_mut().enumerate() {
                    for (row, label) in labels.column(group, term % k).iter().enumerate() {
                        *sum += label * members.iter().map(|&v| terms[v][term * rows + row]).product::<f64>();
                    }
                }
            }
            count += rows as f64;
        }
        for sums in &mut sums {
            sums.iter_mut().enumerate().for_each(|(term, sum)| *sum /= count * prior[term % k]);
        }
        Ok(sums)
    }
}
