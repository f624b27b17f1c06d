//! More latent states than classes (extension 3 of the paper).
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Error;
use triview::data::{Batch, InMemory, Schema};
use triview::diagnostics::Verdict;
use triview::estimator::{Estimate, Params};
use triview::features::FeatureChoice;
use triview::lab::{Population, Preset};
use triview::latent::Latent;
use triview::learning::log_loss;
use triview::loss;
use triview::metrics;

/// Rows of three classes of two subclasses each, and their classes.
fn rows(seed: u64, rows: usize) -> (Schema, Batch, Vec<usize>) {
    let population = Population::draw(&Preset::Subclasses.setting(), seed).unwrap();
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(seed + 500));
    (population.schema().clone(), batch, labels)
}

fn estimate(schema: &Schema, batch: &Batch, params: Params) -> triview::Result<Estimate> {
    params.seed(1).check()?.estimate(&InMemory::new(schema.clone(), [batch.clone()]))
}

#[test]
fn subclasses_break_the_plain_estimate_and_states_mend_it() {
    let (schema, batch, labels) = rows(101, 12_000);
    let truth = log_loss(&batch, &labels);
    let off = |estimate: &Estimate| (estimate.risk - truth.value).abs();
    let plain = estimate(&schema, &batch, Params::new()).unwrap();
    assert_eq!(plain.independence.verdict, Verdict::Fail);
    assert!(off(&plain) > 5.0 * truth.standard_error, "{} {}", plain.risk, truth.value);
    assert!(plain.latent.is_none());

    let mended = estimate(&schema, &batch, Params::new().latent(Latent::States(6))).unwrap();
    assert_eq!(mended.independence.verdict, Verdict::Pass, "{:?}", mended.independence.p_value);
    // Three standard errors of an estimate and of a risk by labels, of the same rows.
    let joint = mended.standard_error.hypot(truth.standard_error);
    assert!(off(&mended) < 3.0 * joint, "{} {} {joint}", mended.risk, truth.value);
    assert!(mended.trusted(), "{:?}", mended.alarms);
    let latent = mended.latent.unwrap();
    assert_eq!(latent.map, [0, 0, 1, 1, 2, 2]);
    // Each subclass has a sixth of 12,000 rows: a standard error of 0.0034 by labels, several times that without.
    assert!(latent.prior.iter().all(|p| (p - 1.0 / 6.0).abs() < 0.04), "{:?}", latent.prior);
    for (class, prior) in mended.class_prior.iter().enumerate() {
        let states = latent.map.iter().zip(&latent.prior).filter(|(of, _)| **of == class);
        assert!((states.map(|(_, p)| p).sum::<f64>() - prior).abs() < 1e-9);
    }
    assert_eq!(
        mended.conditional_risk.iter().map(|m| (m.len(), m[0].len())).collect::<Vec<_>>(),
        [(3, 3); 3]
    );

    let error_rate = mended.metrics.unwrap().error_rate.estimate;
    let [true_rate, ..] = metrics::labelled(&batch, &labels);
    let labelled = (true_rate * (1.0 - true_rate) / 12_000.0).sqrt();
    let joint = error_rate.standard_error.hypot(labelled);
    assert!((error_rate.value - true_rate).abs() < 3.0 * joint, "{error_rate:?} {true_rate}");
}

#[test]
fn as_few_states_as_the_test_accepts() {
    let (schema, batch, _) = rows(101, 12_000);
    let found = estimate(&schema, &batch, Params::new().latent(Latent::Auto)).unwrap();
    let latent = found.latent.unwrap();
    assert_eq!(latent.map, [0, 0, 1, 1, 2, 2]);
    assert_eq!(latent.tried.iter().map(|tried| tried.states).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert!(latent.tried[..3].iter().all(|tried| tried.p_value < Some(0.05)), "{:?}", latent.tried);
    assert!(latent.tried[3].p_value >= Some(0.05), "{:?}", latent.tried);
}

#[test]
fn a_known_map_is_kept_to() {
    let (schema, batch, labels) = rows(101, 12_000);
    let truth = log_loss(&batch, &labels);
    let free = estimate(&schema, &batch, Params::new().latent(Latent::States(6))).unwrap();
    let known = Latent::map(["0", "0", "1", "1", "2", "2"]);
    let given = estimate(&schema, &batch, Params::new().latent(known)).unwrap();
    let [free_states, states] = [&free, &given].map(|of| of.latent.clone().unwrap());
    assert_eq!((states.given, free_states.given), (true, false));
    assert_eq!(states.map, [0, 0, 1, 1, 2, 2]);
    assert_eq!(states.rank, [6; 3]);
    let joint = given.standard_error.hypot(truth.standard_error);
    assert!((given.risk - truth.value).abs() < 3.0 * joint, "{} {}", given.risk, truth.value);
    assert!(given.trusted(), "{:?}", given.alarms);

    assert_eq!(states.overruled, 0);

    // A map that the scores speak against is kept to all the same, and it is said that they do.
    let wrong = "0=3,1=2".parse().unwrap();
    let wrong = estimate(&schema, &batch, Params::new().latent(wrong)).unwrap();
    assert_eq!(wrong.latent.as_ref().unwrap().map, [0, 0, 0, 1, 1, 2]);
    assert_eq!(wrong.latent.as_ref().unwrap().overruled, 1);
    assert!((wrong.risk - truth.value).abs() > 5.0 * truth.standard_error, "{}", wrong.risk);

    // One state of each class is the plain estimate, whoever says it.
    let one = estimate(&schema, &batch, Params::new().latent("2=1".parse().unwrap())).unwrap();
    assert_eq!(one.risk, estimate(&schema, &batch, Params::new()).unwrap().risk);
    let unknown = estimate(&schema, &batch, Params::new().latent("9=2".parse().unwrap())).unwrap_err();
    assert!(matches!(unknown, Error::UnknownClass { .. }), "{unknown}");
}

#[test]
fn one_state_a_class_is_the_plain_estimate() {
    let population = Population::draw(&Preset::Three.setting(), 7).unwrap();
    let (batch, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(9));
    let plain = estimate(population.schema(), &batch, Params::new()).unwrap();
    for latent in [Latent::States(3), Latent::Auto] {
        let mut asked = estimate(population.schema(), &batch, Params::new().latent(latent.clone())).unwrap();
        let states = asked.latent.take().unwrap();
        assert_eq!((states.map, &states.prior), (vec![0, 1, 2], &plain.class_prior));
        assert_eq!(asked, plain, "{latent}");
    }
}

#[test]
fn other_losses_have_the_same_states() {
    let (schema, batch, labels) = rows(101, 12_000);
    for name in ["zero-one", "exponential"] {
        let loss = loss::by_name(name).unwrap();
        let found = estimate(&schema, &batch, Params::new().loss(name).latent(Latent::States(6))).unwrap();
        let terms: Vec<Vec<f64>> = (0..3).map(|view| loss::terms_of(&*loss, &batch, view)).collect();
        let terms: Vec<&[f64]> = terms.iter().map(Vec::as_slice).collect();
        let offset = loss::offsets(&*loss, &batch);
        let by_class: Vec<Vec<f64>> = (0..3)
            .map(|class| {
                let mut losses = vec![0.0; batch.rows()];
                loss.losses(batch.rows(), &offset, &terms, class, &mut losses);
                losses
            })
            .collect();
        let truth: Vec<f64> = labels.iter().enumerate().map(|(row, &label)| by_class[label][row]).collect();
        let n = truth.len() as f64;
        let mean = truth.iter().sum::<f64>() / n;
        let error = (truth.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / n / n).sqrt();
        let joint = found.standard_error.hypot(error);
        assert!((found.risk - mean).abs() < 3.0 * joint, "{name}: {} {mean} {joint}", found.risk);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (schema, batch, _) = rows(101, 2_000);
    let refusal = |params: Params| estimate(&schema, &batch, params).unwrap_err().to_string();
    let latent = |states| refusal(Params::new().latent(Latent::States(states)));
    assert!(latent(2).contains("latent is 2: at least as many latent states as classes"), "{}", latent(2));
    assert!(latent(65).contains("latent is 65: at most 64"), "{}", latent(65));
    let scores = refusal(Params::new().features(FeatureChoice::Scores).latent(Latent::States(4)));
    assert!(scores.contains("feature map is scores: more latent states than classes"), "{scores}");
    assert!("many".parse::<Latent>().unwrap_err().to_string().contains("latent is many"));
    assert_eq!("12".parse(), Ok(Latent::States(12)));

    // Votes for three classes vary in two directions: no more than three states show in them.
    let votes = |view: usize| -> Vec<f64> {
        let best = |row: usize| {
            (0..3).max_by(|&a, &b| batch.column(view, a)[row].total_cmp(&batch.column(view, b)[row])).unwrap()
        };
        (0..3 * 2_000).map(|at| f64::from(u8::from(best(at % 2_000) == at / 2_000))).collect()
    };
    let votes = Batch::new(2_000, [0, 1, 2].map(votes)).unwrap();
    let refused = estimate(&schema, &votes, Params::new().latent(Latent::States(5))).unwrap_err();
    assert!(matches!(refused, Error::TooManyStates { rank: 2, states: 5, .. }), "{refused}");
}
