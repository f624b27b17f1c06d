//! Covariates of views, where scores alone cannot tell the states apart.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::diagnostics::Verdict;
use triview::estimator::{Estimate, Params};
use triview::latent::Latent;
use triview::learning::log_loss;
use triview::metrics;
use triview::{Error, Plan};

const ROWS: usize = 12_000;

/// Two classes of two kinds each. A view votes for a class, and is right more often about one kind than about the other: given the
/// class the votes depend on each other. Two covariates of each view show the kind, through noise.
struct Votes {
    schema: Schema,
    batch: Batch,
    covariates: Vec<Vec<f64>>,
    labels: Vec<usize>,
}

fn votes(seed: u64) -> Votes {
    let mut rng = Pcg64::seed_from_u64(seed);
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let schema = Schema::new(names(&["a", "b", "c"]), names(&["x", "y"])).unwrap();
    let mut scores = vec![vec![0.0; 2 * ROWS]; 3];
    let mut covariates = vec![vec![0.0; 2 * ROWS]; 3];
    let mut labels = Vec::with_capacity(ROWS);
    for row in 0..ROWS {
        let state = rng.random_range(0..4_usize);
        let (class, kind) = (state / 2, state % 2);
        labels.push(class);
        for view in 0..3 {
            let right = rng.random::<f64>() < [0.95, 0.65][kind];
            let voted = if right { class } else { 1 - class };
            scores[view][voted * ROWS + row] = 1.0;
            // The four states lie at the corners of a square.
            for (covariate, side) in [class, kind].into_iter().enumerate() {
                let noise: f64 = StandardNormal.sample(&mut rng);
                covariates[view][covariate * ROWS + row] = 1.5 * (2.0 * side as f64 - 1.0) + noise;
            }
        }
    }
    Votes { schema, batch: Batch::new(ROWS, scores).unwrap(), covariates, labels }
}

/// The same with the covariates.
fn with_covariates(votes: &Votes) -> (Schema, Batch) {
    let names = vec![vec!["u".to_owned(), "v".to_owned()]; 3];
    let schema = votes.schema.clone().with_covariates(names).unwrap();
    (schema, votes.batch.clone().with_covariates(votes.covariates.clone()).unwrap())
}

fn estimate(schema: &Schema, batch: &Batch, latent: Latent) -> triview::Result<Estimate> {
    let source = InMemory::new(schema.clone(), [batch.clone()]);
    Params::new().seed(1).latent(latent).check()?.estimate(&source)
}

#[test]
fn covariates_tell_apart_what_scores_do_not() {
    let votes = votes(5);
    let truth = log_loss(&votes.batch, &votes.labels);
    let off = |estimate: &Estimate| (estimate.risk - truth.value).abs() / truth.standard_error;
    // Votes alone: too few directions for four states, and one state a class is wrong.
    let refused = estimate(&votes.schema, &votes.batch, Latent::States(4)).unwrap_err();
    assert!(matches!(refused, Error::TooManyStates { rank: 1, states: 4, .. }), "{refused}");
    assert!(refused.to_string().contains("give it covariates"), "{refused}");
    let plain = estimate(&votes.schema, &votes.batch, Latent::Classes).unwrap();
    assert!(off(&plain) > 5.0, "{}", off(&plain));

    let (schema, batch) = with_covariates(&votes);
    let given = "x=2,y=2".parse().unwrap();
    for latent in [Latent::States(4), given, Latent::Auto] {
        let mended = estimate(&schema, &batch, latent.clone()).unwrap();
        assert_eq!(mended.independence.verdict, Verdict::Pass, "{latent}: {:?}", mended.independence);
        let joint = mended.standard_error.hypot(truth.standard_error);
        let z = (mended.risk - truth.value) / joint;
        assert!(z.abs() < 3.3 && off(&mended) < 5.0, "{latent}: {z} {}", off(&mended));
        assert!(mended.trusted(), "{latent}: {:?}", mended.alarms);
        let states = mended.latent.unwrap();
        assert_eq!(states.map, [0, 0, 1, 1]);
        assert_eq!(states.rank, [4; 3]);
        assert_eq!(mended.covariates, ["a:u", "a:v", "b:u", "b:v", "c:u", "c:v"]);
        let error_rate = mended.metrics.unwrap().error_rate.estimate;
        let [wrong, ..] = metrics::labelled(&votes.batch, &votes.labels);
        assert!((error_rate.value - wrong).abs() < 3.3 * error_rate.standard_error, "{error_rate:?} {wrong}");
    }
}

#[test]
fn covariates_of_some_views_and_rows_are_enough() {
    let votes = votes(6);
    let (schema, batch) = with_covariates(&votes);
    // A tenth of the rows lacks the first view, and what its covariates were there is forgotten, whatever they were.
    let missing: Vec<u64> = (0..ROWS as u64).map(|row| u64::from(row % 10 == 0)).collect();
    let mut covariates = votes.covariates.clone();
    (0..ROWS).filter(|row| row % 10 == 0).for_each(|row| covariates[0][row] = f64::NAN);
    let lacking = votes.batch.clone().with_missing(missing.clone()).unwrap();
    let lacking = lacking.with_covariates(covariates).unwrap();
    assert_eq!(lacking, batch.with_missing(missing).unwrap());
    let truth = log_loss(&lacking, &votes.labels);
    let mended = estimate(&schema, &lacking, Latent::States(4)).unwrap();
    let z = (mended.risk - truth.value) / mended.standard_error.hypot(truth.standard_error);
    assert!(z.abs() < 3.3, "{z}");
    assert_eq!(mended.missing, [1_200, 0, 0]);

    // Four views in three groups: the covariates of a group are those of its members.
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let schema = Schema::new(names, schema.classes().to_vec()).unwrap();
    let of_covariates = |names: [&[&str]; 4]| {
        names.map(|names| names.iter().map(|name| name.to_string()).collect::<Vec<_>>()).to_vec()
    };
    let schema = schema.with_covariates(of_covariates([&["u"], &["u", "v"], &["u", "v"], &["v"]])).unwrap();
    let view = |view: usize| votes.batch.view(view).to_vec();
    let half = |view: usize, covariate: usize| {
        votes.covariates[view][covariate * ROWS..(covariate + 1) * ROWS].to_vec()
    };
    let columns = vec![half(0, 0), votes.covariates[1].clone(), votes.covariates[2].clone(), half(0, 1)];
    let four = Batch::new(ROWS, vec![view(0), view(1), view(2), vec![0.0; 2 * ROWS]]).unwrap();
    let mut four = four.with_covariates(columns).unwrap();
    // The fourth view's votes are the first's in a few rows, and nothing otherwise.
    let copied: Vec<f64> = (0..2 * ROWS).map(|at| if at % 7 == 0 { view(0)[at] } else { 0.0 }).collect();
    let covariates: Vec<Vec<f64>> = (0..4).map(|v| four.covariates(v).to_vec()).collect();
    four = Batch::new(ROWS, vec![view(0), view(1), view(2), copied])
        .unwrap()
        .with_covariates(covariates)
        .unwrap();
    let truth = log_loss(&four, &votes.labels);
    let source = InMemory::new(schema, [four]);
    let params = Params::new().seed(1).group("a+d,b,c").latent(Latent::States(4));
    let grouped = params.check().unwrap().estimate(&source).unwrap();
    let z = (grouped.risk - truth.value) / grouped.standard_error.hypot(truth.standard_error);
    assert!(z.abs() < 3.3, "{z}");
    assert_eq!(grouped.groups, ["a+d", "b", "c"]);
}

#[test]
fn plans_know_their_covariates() {
    let votes = votes(7);
    let (schema, batch) = with_covariates(&votes);
    let source = InMemory::new(schema, [batch]);
    let estimator = Params::new().seed(1).latent(Latent::States(4)).check().unwrap();
    let plan = estimator.plan(&Sample::of(&source).unwrap()).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    let moments = estimator.moments(&source, &plan).unwrap();
    let once = estimator.estimate(&source).unwrap();
    assert_eq!(estimator.answer(&moments, None).unwrap().risk, once.risk);
    let bare = InMemory::new(votes.schema.clone(), [votes.batch.clone()]);
    let refused = estimator.moments(&bare, &plan).unwrap_err().to_string();
    assert!(
        refused.contains("the list of covariates is a:u, a:v, b:u, b:v, c:u, c:v in one and empty"),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_used_is_refused() {
    let votes = votes(8);
    let mut covariates = votes.covariates.clone();
    covariates[1][ROWS + 3] = f64::INFINITY;
    let refused = votes.batch.clone().with_covariates(covariates).unwrap_err();
    assert!(matches!(refused, Error::CovariateNotFinite { row: 3, view: 1, covariate: 1, .. }), "{refused}");
    let twice = vec![vec!["u".to_owned(), "u".to_owned()], Vec::new(), Vec::new()];
    let refused = votes.schema.clone().with_covariates(twice).unwrap_err();
    assert_eq!(refused, Error::DuplicateName { kind: "covariate", name: "u".into() });
    let many: Vec<String> = (0..33).map(|name| name.to_string()).collect();
    let schema = votes.schema.clone().with_covariates(vec![many, Vec::new(), Vec::new()]).unwrap();
    let columns = vec![vec![0.0; 33 * ROWS], Vec::new(), Vec::new()];
    let batch = votes.batch.clone().with_covariates(columns).unwrap();
    let refused = estimate(&schema, &batch, Latent::Classes).unwrap_err();
    assert_eq!(refused, Error::TooManyCovariates { view: "a".into(), covariates: 33, most: 32 });
}
