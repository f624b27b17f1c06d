//! Several answers to one question, side by side.

use crate::draw::{Dot, Dots, Mark, Panel};
use crate::json::{self, ByName, Made};
use crate::text::{Align, Share, WIDTH, aligned, count, name, plain, with_error, wrapped};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use triview::answer::Interval;
use triview::baselines::{Baseline, Old};
use triview::estimator::Estimate;
use triview::loss::Loss;

/// So many views have a column of their own.
const SHOWN_VIEWS: usize = 4;
/// Room for the name of a view above its column.
const VIEW_WIDTH: usize = 10;

/// A number and its interval.
pub type Ranged = (f64, Option<[f64; 2]>);

/// What one method says.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The method's name.
    pub name: &'static str,
    /// Where it was published.
    pub reference: &'static str,
    /// Why it says nothing.
    pub absent: Option<&'static str>,
    /// What it says of the risk.
    pub risk: Option<Ranged>,
    /// What it says of the error rate of the whole prediction.
    pub error_rate: Option<Ranged>,
    /// What it says of the error rate of each view.
    pub view_error: Option<Vec<f64>>,
}

impl Line {
    /// That of a baseline.
    pub fn of(baseline: Baseline) -> Self {
        let Baseline { name, reference, said } = baseline;
        let absent = said.as_ref().err().copied();
        let said = said.unwrap_or_default();
        let ranged = |value: Option<f64>| value.map(|value| (value, None));
        let (risk, error_rate) = (ranged(said.risk), ranged(said.error_rate));
        Self { name, reference, absent, risk, error_rate, view_error: said.view_error }
    }
}

/// What labels say.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    rows: f64,
    /// Sums of the losses and of their squares.
    losses: [f64; 2],
    wrong: f64,
    view_wrong: Vec<[f64; 2]>,
}

impl Truth {
    /// Nothing seen yet, of so many views.
    pub fn new(views: usize) -> Self {
        Self { rows: 0.0, losses: [0.0; 2], wrong: 0.0, view_wrong: vec![[0.0; 2]; views] }
    }

    /// Adds labelled rows.
    pub fn add(&mut self, labelled: &Old, loss: &dyn Loss) {
        self.rows += labelled.rows() as f64;
        for loss in labelled.losses(loss) {
            self.losses[0] += loss;
            self.losses[1] += loss * loss;
        }
        self.wrong += labelled.judged(loss).wrong().iter().sum::<f64>();
        for (view, sums) in self.view_wrong.iter_mut().enumerate() {
            let [wrong, rows] = labelled.view_wrong(view);
            sums[0] += wrong;
            sums[1] += rows;
        }
    }

    /// Labelled rows.
    pub fn rows(&self) -> u64 {
        self.rows as u64
    }

    pub(crate) fn risk(&self) -> (f64, f64) {
        let [mean, square] = self.losses.map(|sum| sum / self.rows);
        (mean, ((square - mean * mean).max(0.0) / (self.rows - 1.0).max(1.0)).sqrt())
    }

    pub(crate) fn error_rate(&self) -> (f64, f64) {
        let share = self.wrong / self.rows;
        (share, (share * (1.0 - share) / (self.rows - 1.0).max(1.0)).sqrt())
    }

    fn view_error(&self) -> Vec<f64> {
        self.view_wrong.iter().map(|[wrong, rows]| wrong / rows).collect()
    }
}

/// All answers.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// What they are set beside.
    pub estimate: &'a Estimate,
    /// What labels say, where there are some.
    pub truth: Option<Truth>,
    /// The estimate's first.
    pub lines: Vec<Line>,
    /// Rows that the baselines looked at.
    pub sampled: usize,
}

impl Comparison<'_> {
    /// The answer for a person.
    pub fn text(&self) -> String {
        let views = self.estimate.scored();
        let views = &views[..views.len().min(SHOWN_VIEWS)];
        let mut header = vec![String::new(), format!("{} risk", self.estimate.loss), "error rate".to_owned()];
        header.extend(views.iter().map(|view| format!("of {}", name(view, VIEW_WIDTH))));
        let mut rows = vec![header];
        let errors = |errors: Option<&Vec<f64>>| -> Vec<String> {
            (0..views.len())
                .map(|view| errors.map_or(String::new(), |all| format!("{:.3}", all[view])))
                .collect()
        };
        if let Some(truth) = &self.truth {
            let [risk, error] =
                [truth.risk(), truth.error_rate()].map(|(value, error)| with_error(value, error));
            let label = format!("truth of {} labels", count(truth.rows()));
            rows.push([vec![label, risk, error], errors(Some(&truth.view_error()))].concat());
        }
        for line in self.lines.iter().filter(|line| line.absent.is_none()) {
            let own = line.name == "triview";
            let shown = |value: Option<Ranged>, error: Option<f64>| match (value, error) {
                (Some((value, _)), Some(error)) if own => with_error(value, error),
                (Some((value, _)), _) => plain(value),
                (None, _) => String::new(),
            };
            let estimate = self.estimate;
            let error_of_rate =
                estimate.metrics.as_ref().ok().map(|all| all.error_rate.estimate.standard_error);
            let cells = vec![
                line.name.to_owned(),
                shown(line.risk, Some(estimate.standard_error)),
                shown(line.error_rate, error_of_rate),
            ];
            rows.push([cells, errors(line.view_error.as_ref())].concat());
        }
        let mut align = vec![Align::Right; 3 + views.len()];
        align[0] = Align::Left;
        let mut text = String::new();
        for alarm in &self.estimate.alarms {
            text +=
                &format!("{}\n", wrapped(&format!("triview is not to be trusted here: {alarm}"), WIDTH, 2));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text += &aligned(&align, rows);
        text.push('\n');
        let absent: Vec<String> = self
            .lines
            .iter()
            .filter_map(|line| Some(format!("{} does not apply: {}", line.name, line.absent?)))
            .collect();
        if !absent.is_empty() {
            text += &format!(
                "\n{}\n",
                absent.iter().map(|line| wrapped(line, WIDTH, 2)).collect::<Vec<_>>().join("\n")
            );
        }
        if (self.sampled as u64) < self.estimate.rows {
            let sampled = count(self.sampled as u64);
            text += &format!(
                "\nThe others look at an even sample of {sampled} of the {} rows.\n",
                count(self.estimate.rows)
            );
        }
        text
    }

    /// The answer for a program.
    pub fn object<'a>(&'a self, made: &'a Made) -> ComparisonObject<'a> {
        let views = &self.estimate.views;
        let truth = self.truth.as_ref().map(|truth| {
            let ((risk, standard_error), (error_rate, _)) = (truth.risk(), truth.error_rate());
            let view_error = ByName { names: self.estimate.scored(), values: truth.view_error().into() };
            TruthObject { risk, standard_error, error_rate, view_error, rows: truth.rows() }
        });
        ComparisonObject {
            schema: json::SCHEMA,
            loss: &self.estimate.loss,
            rows: self.estimate.rows,
            views,
            classes: &self.estimate.classes,
            truth,
            estimates: Estimates(self),
            trusted: self.estimate.trusted(),
            made,
        }
    }

    /// Risk and error rate by all methods that say either.
    pub(crate) fn picture(&self) -> Dots {
        let lines: Vec<&Line> =
            self.lines.iter().filter(|line| line.risk.is_some() || line.error_rate.is_some()).collect();
        let own = if self.estimate.trusted() { Mark::Own } else { Mark::Doubted };
        let panel = |title: String, share: bool, truth: Option<f64>, of: &dyn Fn(&Line) -> Option<Ranged>| {
            let dot = |line: &&Line| {
                let (value, interval) = of(line)?;
                let label = if share { Share(value).to_string() } else { plain(value) };
                let interval = interval.map(|[low, high]| Interval { low, high });
                let mark = if line.name == "triview" { own } else { Mark::Other };
                Some(Dot { value, interval, label, mark })
            };
            let line = truth.map(|truth| ("truth".to_owned(), truth));
            Panel { title, share, line, dots: lines.iter().map(dot).collect() }
        };
        let truth = self.truth.as_ref();
        let by_truth = truth.map_or(String::new(), |truth| {
            format!(" The line is the truth by {} labels.", count(truth.rows()))
        });
        Dots {
            title: "How wrong the model is by each method".to_owned(),
            description: format!(
                "Dots, with an interval where the method has one, one row a method.{by_truth}"
            ),
            kind: "method".to_owned(),
            note: by_truth.trim().to_owned(),
            rows: lines.iter().map(|line| line.name.to_owned()).collect(),
            panels: vec![
                panel(
                    format!("{} risk", self.estimate.loss),
                    false,
                    truth.map(|truth| truth.risk().0),
                    &|line| line.risk,
                ),
                panel("error rate".to_owned(), true, truth.map(|truth| truth.error_rate().0), &|line| {
                    line.error_rate
                }),
            ],
        }
    }
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct ComparisonObject<'a> {
    schema: u32,
    loss: &'a str,
    rows: u64,
    views: &'a [String],
    classes: &'a [String],
    truth: Option<TruthObject<'a>>,
    estimates: Estimates<'a>,
    trusted: bool,
    #[serde(flatten)]
    made: &'a Made,
}

#[derive(Debug, Serialize)]
struct TruthObject<'a> {
    risk: f64,
    standard_error: f64,
    error_rate: f64,
    view_error: ByName<'a, f64>,
    rows: u64,
}

/// What each method says, under its name.
#[derive(Debug)]
struct Estimates<'a>(&'a Comparison<'a>);

impl Serialize for Estimates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Comparison { estimate, lines, .. } = self.0;
        let mut map = serializer.serialize_map(Some(lines.len()))?;
        for line in lines {
            let value = |value: Option<Ranged>| value.map(|(value, _)| value);
            let interval = |value: Option<Ranged>| value?.1;
            let object = EstimateLine {
                risk: value(line.risk),
                risk_interval: interval(line.risk),
                error_rate: value(line.error_rate),
                error_rate_interval: interval(line.error_rate),
                view_error: line
                    .view_error
                    .as_ref()
                    .map(|errors| ByName { names: estimate.scored(), values: errors.into() }),
                absent: line.absent,
                reference: line.reference,
            };
            map.serialize_entry(line.name, &object)?;
        }
        map.end()
    }
}

#[derive(Debug, Serialize)]
struct EstimateLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view_error: Option<ByName<'a, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<&'static str>,
    reference: &'static str,
}
