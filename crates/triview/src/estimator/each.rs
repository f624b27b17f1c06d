//! Each view as a model of its own, and any two of them side by side.

use super::Solved;
use crate::answer::{Interval, Quantities};
use crate::data::Sample;
use crate::loss::Whole;
use crate::metrics::{Alone, Measured, Triples, Values, ViewMetrics, compared};
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Each view as a model of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Each {
    /// The views, in their order.
    pub views: Vec<EachView>,
    /// Every two of them, the first of the two before the second in the views' order.
    pub differences: Vec<Difference>,
}

/// One view as a model of its own, over the rows that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EachView {
    /// Its name.
    pub view: String,
    /// Its risk; nothing where the loss is no sum over views and none of the whole prediction.
    pub risk: Option<Measured>,
    /// What is asked of its predictions; nothing where there are no rows.
    pub metrics: Option<ViewMetrics>,
}

/// Two views, compared on the same rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The two, by their places among the views.
    pub views: [usize; 2],
    /// The risk of the first less that of the second.
    pub risk: Option<Measured>,
    /// How much more often the first is wrong.
    pub error_rate: Option<Measured>,
    /// The Brier score of the first less that of the second.
    pub brier: Option<Measured>,
    /// The better of the two, by its place: the one that is wrong less often or, where that is not known, has the smaller risk. Nothing where
    /// nothing is known of their difference, and where the answer is not to be trusted.
    pub better: Option<usize>,
    /// With what confidence it is better: between a half and one.
    pub confidence: Option<f64>,
}

impl Difference {
    fn new(
        views: [usize; 2],
        risk: Option<Measured>,
        [error_rate, brier]: [Option<Measured>; 2],
        [blocks, parts]: [usize; 2],
    ) -> Self {
        let deciding = error_rate.map(|rate| (rate, parts)).or(risk.map(|risk| (risk, blocks)));
        let known = deciding.filter(|(difference, _)| difference.standard_error.is_finite());
        let confidence = |(difference, parts): (Measured, usize)| {
            let law = StudentsT::new(0.0, 1.0, parts.saturating_sub(1).max(1) as f64).ok()?;
            let errors = difference.value.abs() / difference.standard_error.max(f64::MIN_POSITIVE);
            Some(law.cdf(errors))
        };
        let first = |(difference, _): (Measured, usize)| difference.value <= 0.0;
        Self {
            views,
            risk,
            error_rate,
            brier,
            better: known.map(|known| if first(known) { views[0] } else { views[1] }),
            confidence: known.and_then(confidence),
        }
    }
}

impl Each {
    /// The same where the risk that is asked for is a loss of the whole prediction.
    pub(crate) fn of_whole(mut self, loss: Whole) -> Self {
        for view in &mut self.views {
            view.risk = view.metrics.as_ref().map(|metrics| metrics.of(loss).estimate);
        }
        for pair in &mut self.differences {
            pair.risk = match loss {
                Whole::Error => pair.error_rate,
                Whole::Brier => pair.brier,
            };
        }
        self
    }

    /// The same where the answer is not to be trusted: then nothing says which of two is better.
    pub(crate) fn undecided(mut self) -> Self {
        for pair in &mut self.differences {
            (pair.better, pair.confidence) = (None, None);
        }
        self
    }
}

impl Solved<'_> {
    /// Each view as a model of its own, where the plan has that; what is asked of its predictions is from a sample of the rows.
    pub fn each(&self, sample: Option<&Sample>) -> Option<Each> {
        let drawn = sample.filter(|_| self.moments.plan().each).map(|sample| self.triples(sample));
        self.each_by(drawn.as_ref()).map(|each| self.estimate().sided(each))
    }

    /// The same from triples of sampled rows.
    pub(crate) fn each_by(&self, drawn: Option<&(Triples<'_>, f64)>) -> Option<Each> {
        let plan = self.moments.plan();
        if !plan.each {
            return None;
        }
        let names = plan.schema().scored();
        let deviations = &self.answer.deviations;
        let reach = self.reach_of(deviations.count());
        let [low, high] = plan.loss().range(1);
        let alone = &self.answer.quantities.alone;
        let measured = |value: f64, of: &dyn Fn(&Quantities) -> f64| {
            let standard_error = deviations.standard_error(of);
            Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) }
        };
        let risk = |view: usize| Some(measured(*alone.get(view)?, &|q| q.alone[view]).in_range(low, high));
        let rated: Option<Vec<Alone>> = drawn.map(|(triples, _)| {
            (0..names.len()).into_par_iter().map(|view| Alone::new(triples, view)).collect()
        });
        let reach_of_parts = drawn.map_or(0.0, |(_, reach)| *reach);
        let view = |(view, name): (usize, &String)| EachView {
            view: name.clone(),
            risk: risk(view),
            metrics: rated.as_ref().map(|rated| rated[view].metrics(reach_of_parts)),
        };
        let counts = [deviations.count(), drawn.map_or(0, |(triples, _)| triples.parts())];
        let difference = |[a, b]: [usize; 2]| {
            let risk = alone
                .get(a)
                .zip(alone.get(b))
                .map(|(first, second)| measured(first - second, &|q| q.alone[a] - q.alone[b]));
            let compared = |of: fn(&Values) -> f64| {
                rated.as_ref().map(|rated| compared([&rated[a], &rated[b]], of, reach_of_parts).estimate)
            };
            Difference::new([a, b], risk, [compared(|all| all.error_rate), compared(|all| all.brier)], counts)
        };
        let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| [a, b]));
        Some(Each {
            differences: pairs.map(difference).collect(),
            views: names.iter().enumerate().map(view).collect(),
        })
    }
}
