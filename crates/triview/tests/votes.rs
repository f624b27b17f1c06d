//! Votes with known truth: who the annotators are, how often the labels are wrong, and whether the answer knows it.

use triview::Error;
use triview::diagnostics::Verdict;
use triview::lab::{CrowdSetting, SimulatedCrowd};
use triview::votes::{Smoothing, Stop, Vote, VoteEstimate, VoteParams, Votes, dawid_skene, majority, shares};

fn names(k: usize) -> Vec<String> {
    (0..k).map(|class| class.to_string()).collect()
}

fn estimate(crowd: &SimulatedCrowd) -> triview::Result<VoteEstimate> {
    VoteParams::new().check()?.estimate(&crowd.votes, &names(crowd.prior.len()))
}

fn wrong(labels: &[usize], classes: &[usize]) -> f64 {
    labels.iter().zip(classes).filter(|(a, b)| a != b).count() as f64 / classes.len() as f64
}

/// Draws that no constant was chosen on (those are from 1000 on).
const FIRST: u64 = 1;

#[test]
fn likelihood_never_goes_down_and_never_ends_below_the_majoritys() -> triview::Result<()> {
    for (seed, classes, annotators) in [(FIRST, 2, 20), (FIRST + 1, 4, 60), (FIRST + 2, 6, 40)] {
        let setting =
            CrowdSetting { classes, annotators, items: 2_000, spammers: 0.3, ..CrowdSetting::default() };
        let crowd = SimulatedCrowd::draw(&setting, seed)?;
        let votes = &crowd.votes;
        for smoothing in [Smoothing::none(classes), Smoothing::pooled(votes, 4.0)] {
            let mut last = f64::NEG_INFINITY;
            for iterations in 1..20 {
                let stop = Stop { iterations, tolerance: f64::NEG_INFINITY };
                let now = dawid_skene(votes, majority(votes, &smoothing), &smoothing, stop).objective;
                assert!(now >= last - 1e-9 * now.abs(), "{now} after {last}");
                last = now;
            }
        }
        for smoothing in [Some(0.0), None] {
            let estimator = VoteParams::new().smoothing(smoothing).check()?;
            let fit = estimator.estimate(votes, &names(classes))?.fit;
            assert!(fit.objective >= fit.majority_objective);
        }
    }
    Ok(())
}

#[test]
fn annotators_and_the_error_of_labels_are_found() -> triview::Result<()> {
    let (mut covered, mut cells, mut of_annotators, mut annotators) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..4 {
        let setting = CrowdSetting { classes: 3, annotators: 40, items: 4_000, ..CrowdSetting::default() };
        let crowd = SimulatedCrowd::draw(&setting, FIRST + 10 + seed)?;
        let estimate = estimate(&crowd)?;
        let truth = wrong(&estimate.labels(), &crowd.classes);
        let by_majority: Vec<usize> = shares(&crowd.votes)
            .chunks_exact(3)
            .map(|s| {
                if s[1] > s[0].max(s[2]) {
                    1
                } else if s[2] > s[0] {
                    2
                } else {
                    0
                }
            })
            .collect();
        assert!(truth < wrong(&by_majority, &crowd.classes), "{truth}");
        // Four standard errors: once in 16,000 times by chance.
        let off = (estimate.error_rate.value - truth) / estimate.error_rate.standard_error;
        assert!(off.abs() < 4.0, "{off} standard errors off");
        let inside = |low: f64, value: f64, high: f64| f64::from(u8::from(low <= value && value <= high));
        for (annotator, error) in crowd.errors().into_iter().enumerate() {
            let found = estimate.annotator(annotator);
            let interval = found.error.interval;
            of_annotators += inside(interval.low, error, interval.high);
            annotators += 1.0;
            for (at, cell) in found.confusion.iter().flatten().enumerate() {
                covered += inside(cell.interval.low, crowd.confusion[annotator][at], cell.interval.high);
                cells += 1.0;
            }
        }
    }
    // Of 160 annotators and 1,440 cells, three standard deviations of the binomial below 95% and the bias that is documented.
    assert!(of_annotators / annotators > 0.85, "{}", of_annotators / annotators);
    assert!(covered / cells > 0.88, "{}", covered / cells);
    Ok(())
}

#[test]
fn who_copies_is_found_and_who_does_not_is_left_alone() -> triview::Result<()> {
    let setting =
        CrowdSetting { classes: 3, annotators: 20, items: 4_000, copiers: 2, ..CrowdSetting::default() };
    let estimate = estimate(&SimulatedCrowd::draw(&setting, FIRST + 20)?)?;
    assert_eq!(estimate.verdict(), Verdict::Fail);
    assert!(!estimate.trusted());
    for copied in [[0, 1], [2, 3]] {
        assert!(estimate.dependent.iter().any(|pair| pair.annotators == copied), "{:?}", estimate.dependent);
    }
    let first = &estimate.dependent[0];
    assert!([[0, 1], [2, 3]].contains(&first.annotators) && first.agreement > first.expected);
    let setting = CrowdSetting { copiers: 0, ..setting };
    let estimate = self::estimate(&SimulatedCrowd::draw(&setting, FIRST + 21)?)?;
    assert!(estimate.pairs_tested > 100, "{}", estimate.pairs_tested);
    assert_eq!(estimate.verdict(), Verdict::Pass);
    Ok(())
}

#[test]
fn any_number_of_threads_gives_the_same_bits() -> triview::Result<()> {
    let crowd = SimulatedCrowd::draw(&CrowdSetting { items: 1_000, ..CrowdSetting::default() }, FIRST + 30)?;
    let with = |threads: usize| {
        let pool = rayon_pool(threads);
        pool.install(|| estimate(&crowd)).map(|estimate| (estimate.error_rate, estimate.crowd))
    };
    assert_eq!(with(1)?, with(3)?);
    Ok(())
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

#[test]
fn annotators_and_items_with_one_vote_are_taken_as_they_are() -> triview::Result<()> {
    let crowd = SimulatedCrowd::draw(&CrowdSetting { items: 1_000, ..CrowdSetting::default() }, FIRST + 40)?;
    let mut votes: Vec<Vote> = crowd
        .votes
        .iter()
        .map(|[item, annotator, class]| Vote {
            item: item as u32,
            annotator: annotator as u32,
            class: class as u32,
        })
        .collect();
    // One annotator with one vote, one without any, and one item with one vote.
    votes.push(Vote { item: 0, annotator: 50, class: 1 });
    votes.push(Vote { item: 1_000, annotator: 3, class: 2 });
    let estimate = VoteParams::new().check()?.estimate(&Votes::new(4, 52, 1_001, &votes)?, &names(4))?;
    assert_eq!(estimate.single_votes, 1);
    let once = estimate.annotator(50);
    assert_eq!((once.votes, estimate.annotator(51).votes), (1, 0));
    // One vote says next to nothing: no interval of the error is narrower than half of what is possible.
    assert!(once.error.interval.high - once.error.interval.low > 0.5, "{:?}", once.error);
    let posterior = &estimate.posteriors()[4_000..];
    assert!((posterior.iter().sum::<f64>() - 1.0).abs() < 1e-9 && posterior.iter().all(|p| *p > 0.0));
    Ok(())
}

#[test]
fn what_votes_cannot_tell_is_refused() -> triview::Result<()> {
    let vote = |item, annotator, class| Vote { item, annotator, class };
    let estimator = VoteParams::new().check()?;
    let two = Votes::new(2, 3, 2, &[vote(0, 0, 0), vote(0, 1, 1), vote(1, 0, 0)])?;
    assert!(matches!(estimator.estimate(&two, &names(2)), Err(Error::FewAnnotators { annotators: 2 })));
    let pairs = Votes::new(2, 3, 2, &[vote(0, 0, 0), vote(0, 1, 1), vote(1, 1, 0), vote(1, 2, 0)])?;
    assert!(matches!(estimator.estimate(&pairs, &names(2)), Err(Error::NoThreeVotes { items: 2 })));
    let one = Votes::new(2, 3, 1, &[vote(0, 0, 0), vote(0, 1, 0), vote(0, 2, 0)])?;
    assert!(
        matches!(estimator.estimate(&one, &names(2)), Err(Error::UnvotedClass { class }) if class == "1")
    );
    assert!(matches!(
        estimator.estimate(&one, &names(3)),
        Err(Error::InvalidParameter { name: "classes", .. })
    ));
    for level in [0.0, 1.0, f64::NAN] {
        assert!(VoteParams::new().level(level).check().is_err());
    }
    assert!(VoteParams::new().smoothing(Some(-1.0)).check().is_err());
    // Three votes are too few to trust, but they are answered.
    let few = Votes::new(2, 3, 2, &[vote(0, 0, 0), vote(0, 1, 0), vote(0, 2, 1), vote(1, 0, 1)])?;
    assert!(!estimator.estimate(&few, &names(2))?.trusted());
    Ok(())
}

#[test]
fn crowds_that_err_together_are_told_from_those_that_do_not() -> triview::Result<()> {
    let independent = CrowdSetting { items: 1_500, spammers: 0.3, ..CrowdSetting::default() };
    let rejected = |setting: &CrowdSetting, draws: u64| -> triview::Result<usize> {
        let mut rejected = 0;
        for seed in 0..draws {
            let estimate = estimate(&SimulatedCrowd::draw(setting, FIRST + 60 + seed)?)?;
            rejected += usize::from(estimate.omnibus.is_some_and(|omnibus| omnibus.p_value < 0.05));
        }
        Ok(rejected)
    };
    // Of 20 draws at 0.05, five or more are rejected once in four hundred times.
    assert!(rejected(&independent, 20)? < 5);
    let hard = CrowdSetting { items: 5_000, hard: 0.1, ..CrowdSetting::default() };
    assert_eq!(rejected(&hard, 5)?, 5);
    Ok(())
}

#[test]
fn gold_gives_an_honest_error_rate_where_annotators_err_together() -> triview::Result<()> {
    let setting = CrowdSetting { items: 1_000, hard: 0.3, ..CrowdSetting::default() };
    let (mut covered, mut wider, draws) = (0, 0.0, 20);
    for seed in 0..draws {
        let crowd = SimulatedCrowd::draw(&setting, FIRST + 100 + seed)?;
        let gold: Vec<[usize; 2]> = (0..50).map(|item| [item, crowd.classes[item]]).collect();
        let votes = crowd.votes.with_gold(&gold)?;
        let estimate = VoteParams::new().check()?.estimate(&votes, &names(4))?;
        assert_eq!((estimate.bound, estimate.trusted()), (None, true), "{:?}", estimate.alarms);
        let truth = wrong(&estimate.labels()[50..], &crowd.classes[50..]);
        assert_eq!(wrong(&estimate.labels()[..50], &crowd.classes[..50]), 0.0);
        let (own, alone) = (estimate.error_rate.interval, estimate.gold.map(|gold| gold.alone.interval));
        covered += usize::from(own.low <= truth && truth <= own.high);
        wider +=
            alone.map_or(f64::NAN, |alone| (own.high - own.low) / (alone.high - alone.low)) / draws as f64;
    }
    // Of 20 intervals at 95%, 16 or fewer hold the truth once in sixty times; 15 or fewer once in four hundred.
    assert!(covered >= 16 && wider < 1.05, "{covered} {wider}");
    Ok(())
}
