//! Every loss against its labelled value, and what no loss may do.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Error;
use triview::data::{Batch, InMemory, Schema};
use triview::diagnostics::Alarm;
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};
use triview::learning::mean_loss;
use triview::loss::{Form, Loss, SharedLoss, named};

/// Rows of five classes with the scores of a wrong model, centred in each view and halved twice.
fn draw(rows: usize, seed: u64) -> (Schema, Batch, Vec<usize>) {
    let setting = Setting { classes: 5, separation: 1.25, ..Preset::Three.setting() };
    let population = Population::draw(&setting, 100 + seed).unwrap();
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(seed));
    let scores = [0, 1, 2].map(|v| {
        let view = batch.view(v);
        let mean = |row: usize| view[row..].iter().step_by(rows).sum::<f64>() / 5.0;
        view.iter().enumerate().map(|(at, score)| 0.25 * (score - mean(at % rows))).collect()
    });
    (population.schema().clone(), Batch::new(rows, scores).unwrap(), labels)
}

/// `L(x, y) = (1 - prod_v g_v(y))^2` with `g_v` the logistic function of the score, multiplied out: one, and two
/// products with factors that differ between them.
struct Products;

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// The factor `-2` of the first product goes with the last view.
fn factor(view: usize) -> f64 {
    if view == 2 { -2.0 } else { 1.0 }
}

impl Loss for Products {
    fn name(&self) -> &'static str {
        "products"
    }

    fn form(&self) -> Form {
        Form::Products(2)
    }

    fn terms(&self, view: usize, _rows: usize, scores: &[f64], terms: &mut [f64]) {
        let (plain, squares) = terms.split_at_mut(scores.len());
        for (at, score) in scores.iter().enumerate() {
            let g = logistic(*score);
            plain[at] = factor(view) * g;
            squares[at] = g * g;
        }
    }

    fn offset(&self, _rows: usize, _scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(1.0);
    }

    fn term_gradient(&self, view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        let class = term % scores.len();
        let g = logistic(scores[class]);
        let outer = if term < scores.len() { factor(view) } else { 2.0 * g };
        gradient[class] = outer * g * (1.0 - g);
    }

    fn offset_gradient(&self, _scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }
}

#[test]
fn every_loss_is_near_its_labelled_value() {
    let own = || SharedLoss::new(Products);
    for loss in named().into_iter().chain([own()]) {
        // Three draws: the sum of squares of three standard normals exceeds 16.3 once in a thousand times.
        let mut sum = 0.0;
        for seed in 0..3 {
            let (schema, batch, labels) = draw(10_000, seed);
            let truth = mean_loss(&*loss, &batch, &labels);
            let params = match loss.name() {
                "products" => Params::new().own_loss(Products),
                name => Params::new().loss(name),
            };
            let source = InMemory::new(schema, [batch]);
            let estimate = params.check().unwrap().estimate(&source).unwrap();
            let error = estimate.standard_error.hypot(truth.standard_error);
            assert!(estimate.standard_error < 6.0 * truth.standard_error, "{}", loss.name());
            assert_eq!(estimate.conditional_risk[0].len(), 5 * loss.form().terms());
            sum += ((estimate.risk - truth.value) / error).powi(2);
        }
        assert!(sum < 16.3, "{}: sum of squared errors {sum}", loss.name());
    }
}

#[test]
fn a_loss_of_products_has_the_gradient_of_its_value() {
    let scores = [[0.3, -1.1, 0.7], [1.4, 0.2, -0.6], [-0.5, 0.9, 0.1]];
    let value =
        |scores: &[[f64; 3]; 3]| (1.0 - scores.iter().map(|view| logistic(view[1])).product::<f64>()).powi(2);
    let views: Vec<&[f64]> = scores.iter().map(<[f64; 3]>::as_slice).collect();
    let gradient = Products.gradient(&views, 1);
    for (view, i) in (0..9).map(|at| (at / 3, at % 3)) {
        let moved = |step: f64| {
            let mut scores = scores;
            scores[view][i] += step;
            value(&scores)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((slope - gradient[view][i]).abs() < 1e-8, "view {view}, class {i}: {slope}");
    }
}

#[test]
fn a_loss_whose_variance_is_infinite_is_not_trusted() {
    let alarms = |scale: f64| {
        let (schema, batch, _) = draw(10_000, 0);
        let scores = [0, 1, 2].map(|v| batch.view(v).iter().map(|score| scale * score).collect());
        let source = InMemory::new(schema, [Batch::new(10_000, scores).unwrap()]);
        let estimate = Params::new().loss("exponential").check().unwrap().estimate(&source).unwrap();
        let heavy = estimate.alarms.iter().any(|alarm| matches!(alarm, Alarm::HeavyTail { .. }));
        (heavy, estimate.trusted())
    };
    // The exponential of Laplace noise has a tail that falls with a power, which is four times smaller for scores of full size.
    assert_eq!(alarms(1.0), (false, true));
    assert_eq!(alarms(4.0), (true, false));
}

#[test]
fn scores_whose_exponential_overflows_are_named() {
    let (schema, batch, _) = draw(1_000, 0);
    let mut scores = [0, 1, 2].map(|v| batch.view(v).to_vec());
    scores[1][2 * 1_000 + 345] = -800.0;
    let source = InMemory::new(schema, [Batch::new(1_000, scores).unwrap()]);
    let refused = Params::new().loss("exponential").check().unwrap().estimate(&source).unwrap_err();
    let named = Error::LossNotFinite {
        loss: "exponential".into(),
        row: 345,
        view: "b".into(),
        class: "2".into(),
        value: f64::INFINITY,
    };
    assert_eq!(refused, named);
    assert!(refused.to_string().contains("row 346"), "{refused}");
}

/// A product whose second view has no factor.
struct Missing;

impl Loss for Missing {
    fn name(&self) -> &'static str {
        "missing"
    }

    fn form(&self) -> Form {
        Form::Products(1)
    }

    fn terms(&self, view: usize, _rows: usize, scores: &[f64], terms: &mut [f64]) {
        if view != 1 {
            terms.copy_from_slice(scores);
        }
    }

    fn offset(&self, _rows: usize, _scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(0.0);
    }

    fn term_gradient(&self, _view: usize, _scores: &[f64], _term: usize, _gradient: &mut [f64]) {}

    fn offset_gradient(&self, _scores: &[&[f64]], _gradient: &mut [Vec<f64>]) {}
}

#[test]
fn a_product_with_a_missing_factor_is_refused() {
    let (schema, batch, _) = draw(1_000, 0);
    let source = InMemory::new(schema, [batch]);
    let refused = Params::new().own_loss(Missing).check().unwrap().estimate(&source);
    assert!(
        matches!(&refused, Err(Error::LossNotFinite { view, value, .. }) if view == "b" && value.is_nan()),
        "{refused:?}"
    );
}
