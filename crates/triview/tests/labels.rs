//! Surrogate labels are one-hot on average, and what is linear in them has the mean that true labels give.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::estimator::{Labeller, Params};
use triview::lab::{Population, Preset};
use triview::learning::log_loss;
use triview::{Error, Result};

/// What labels rows, fitted to these.
fn labeller(schema: &Schema, rows: Batch) -> Result<Labeller> {
    let (source, estimator) = (InMemory::new(schema.clone(), [rows]), Params::new().check()?);
    let moments = estimator.moments(&source, &estimator.plan(&Sample::of(&source)?)?)?;
    estimator.solve(&moments)?.labeller()
}

#[test]
fn surrogates_are_one_hot_on_average_in_every_class() -> Result<()> {
    for preset in [Preset::Two, Preset::Three] {
        let population = Population::draw(&preset.setting(), 11)?;
        let k = population.prior().len();
        // The labels' maps are fitted to a hundred times the rows that the means are taken over: their own error, some three
        // labelled standard errors of those rows, is a third of the means'.
        let (rows, _) = population.rows(400_000, &mut Pcg64::seed_from_u64(12));
        let labeller = labeller(population.schema(), rows)?;
        let (rows, classes) = population.rows(4_000, &mut Pcg64::seed_from_u64(13));
        let labels = labeller.label(&rows)?;
        let mut squares = Vec::new();
        for (group, i, j) in (0..3 * k * k).map(|at| (at / k / k, at / k % k, at % k)) {
            let of_class: Vec<f64> = (0..rows.rows())
                .filter(|&row| classes[row] == j)
                .map(|row| labels.column(group, i)[row])
                .collect();
            let n = of_class.len() as f64;
            let mean = of_class.iter().sum::<f64>() / n;
            let variance = of_class.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let z = (mean - f64::from(u8::from(i == j))) / (variance / n).sqrt();
            // Of 27 or 12 means one is beyond 4 once in 600 times.
            assert!(
                z.abs() < 4.0,
                "{preset}, view {group}: E[W_{i} | y = {j}] is {mean}, {z} standard errors off"
            );
            squares.push(z * z);
        }
        // The labels of a row sum to one, so about two thirds of the squares are independent.
        let root = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        assert!(root < 1.6, "{preset}: {root}");
    }
    Ok(())
}

#[test]
fn the_loss_of_surrogates_is_that_of_labels() -> Result<()> {
    let population = Population::draw(&Preset::Three.setting(), 11)?;
    let (rows, _) = population.rows(60_000, &mut Pcg64::seed_from_u64(12));
    let labeller = labeller(population.schema(), rows)?;
    let (rows, classes) = population.rows(8_000, &mut Pcg64::seed_from_u64(14));
    let labels = labeller.label(&rows)?;
    // Any function of a view and a class: here one that no model is made of.
    let function = |view: usize, class: usize, row: usize| (rows.column(view, class)[row] / 2.0).tanh();
    let differences: Vec<f64> = (0..rows.rows())
        .map(|row| {
            let of_view = |view: usize| {
                let group = labeller.group_of(view);
                let surrogate: f64 =
                    (0..3).map(|class| labels.column(group, class)[row] * function(view, class, row)).sum();
                surrogate - function(view, classes[row], row)
            };
            (0..3).map(of_view).sum()
        })
        .collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let error = (differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n / n).sqrt();
    // Once in a thousand times beyond 3.3; the fit's own error, of 60,000 rows, adds less than a tenth.
    assert!(mean.abs() < 3.5 * error, "{mean} against {error}");
    Ok(())
}

#[test]
fn posteriors_are_calibrated() -> Result<()> {
    let population = Population::draw(&Preset::Three.setting(), 11)?;
    let (rows, classes) = population.rows(20_000, &mut Pcg64::seed_from_u64(15));
    for features in ["posterior", "softmax"] {
        let source = InMemory::new(population.schema().clone(), [rows.clone()]);
        let estimator = Params::new().features(features.parse()?).check()?;
        let moments = estimator.moments(&source, &estimator.plan(&Sample::of(&source)?)?)?;
        let posterior = estimator.solve(&moments)?.labeller()?.posterior(&rows)?;
        let n = rows.rows();
        for row in 0..n {
            let sum: f64 = (0..3).map(|class| posterior[class * n + row]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
        let log_likelihood: f64 =
            (0..n).map(|row| posterior[classes[row] * n + row].ln()).sum::<f64>() / n as f64;
        // The model is wrong, and the posterior knows better.
        let model = log_loss(&rows, &classes).value;
        assert!(-log_likelihood < model, "{features}: {log_likelihood} against {model}");
    }
    Ok(())
}

#[test]
fn rows_of_other_views_classes_or_covariates_are_refused() -> Result<()> {
    let population = Population::draw(&Preset::Three.setting(), 11)?;
    let (rows, _) = population.rows(2_000, &mut Pcg64::seed_from_u64(16));
    let squares =
        (0..3).map(|view| rows.column(view, 0).iter().map(|score| score * score).collect()).collect();
    let schema = population.schema().clone().with_covariates(vec![vec!["square".into()]; 3])?;
    let with = rows.clone().with_covariates(squares)?;
    let plan = Params::new().check()?.plan(&Sample::new(schema.clone(), with.clone()))?;
    let labeller = labeller(&schema, with.clone())?;
    let other = |views, classes| Batch::from_rows(&vec![0.5; 2 * views * classes], views, classes);
    for (other, what, given, needed) in
        [(other(4, 3)?, "views", 4, 3), (other(3, 2)?, "classes", 2, 3), (rows, "covariates of a view", 0, 1)]
    {
        let refused = Some(Error::Shape { what, given, needed });
        assert_eq!(labeller.label(&other).err(), refused);
        assert_eq!(labeller.posterior(&other).err(), refused);
        assert_eq!(labeller.state_posterior(&other).err(), refused);
        assert_eq!(plan.accumulator()?.update(&other).err(), refused);
    }
    // No rows have no labels.
    let none = Batch::from_rows::<f64>(&[], 3, 3)?;
    assert!(labeller.posterior(&none)?.is_empty() && labeller.label(&none)?.column(2, 2).is_empty());
    assert_eq!(labeller.posterior(&with)?.len(), 3 * 2_000);
    Ok(())
}
