//! What may help where an estimate is not to be trusted, and what each of it would answer.

use crate::text::{Align, WIDTH, aligned, count, name, p_value, plain, range, with_error, wrapped};
use serde::Serialize;
use triview::answer::Interval;
use triview::diagnostics::Verdict;
use triview::estimator::Estimate;

/// Room for what is tried.
const TRIED_WIDTH: usize = 34;
/// How far off an error rate may be that labels are counted for.
const HALF_WIDTHS: [f64; 2] = [0.05, 0.02];
/// No error rate is taken to be smaller or larger for that: what is not to be trusted may be off.
const LIKELY: [f64; 2] = [0.1, 0.5];

/// Something that was tried.
#[derive(Debug)]
pub struct Remedy {
    /// The options to ask for it by; none for the rows as they were asked for.
    pub options: String,
    /// What it answers, or why it does not.
    pub outcome: Result<Estimate, String>,
}

/// All that was tried: first the rows as they were asked for, then what was changed, in the order to try it in.
#[derive(Debug)]
pub struct Remedies {
    /// What was tried.
    pub tried: Vec<Remedy>,
    /// What there was no time for.
    pub left: usize,
}

/// What one of them says, for a program.
#[derive(Debug, Serialize)]
struct RemedyObject<'a> {
    options: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    times_as_wide: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// So many labels for an error rate that is known so well, whatever the views do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct LabelPrice {
    half_width: f64,
    labels: u64,
}

/// All of them, for a program.
#[derive(Debug, Serialize)]
pub struct RemediesObject<'a> {
    tried: Vec<RemedyObject<'a>>,
    not_tried: usize,
    labels: Vec<LabelPrice>,
    /// The first that nothing speaks against; null where there is none.
    proposed: Option<&'a str>,
}

impl Remedies {
    /// The first whose answer nothing speaks against.
    pub fn proposed(&self) -> Option<&Remedy> {
        self.tried.iter().find(|remedy| remedy.trusted())
    }

    /// How much wider than that of the rows as they are an interval is.
    fn times_as_wide(&self, estimate: &Estimate) -> Option<f64> {
        let width = |estimate: &Estimate| estimate.interval.high - estimate.interval.low;
        let own = width(self.tried.first()?.outcome.as_ref().ok()?);
        Some(width(estimate) / own).filter(|times| times.is_finite() && own.is_finite())
    }

    /// How many labels an error rate takes, by an interval of 95% that holds whatever the views do.
    fn labels(&self) -> Vec<LabelPrice> {
        let said = self.tried.iter().filter_map(|remedy| remedy.outcome.as_ref().ok());
        let rates =
            said.filter_map(|estimate| Some(estimate.metrics.as_ref().ok()?.error_rate.estimate.value));
        let rate = rates.fold(0.0, f64::max).clamp(LIKELY[0], LIKELY[1]);
        let labels = |half_width: f64| (1.96 / half_width).powi(2) * rate * (1.0 - rate);
        HALF_WIDTHS
            .map(|half_width| LabelPrice { half_width, labels: labels(half_width).ceil() as u64 })
            .to_vec()
    }

    /// The object of `--json`.
    pub fn object(&self) -> RemediesObject<'_> {
        RemediesObject {
            tried: self.tried.iter().map(|remedy| self.tried_object(remedy)).collect(),
            not_tried: self.left,
            labels: self.labels(),
            proposed: self.proposed().map(|remedy| remedy.options.as_str()),
        }
    }

    fn tried_object<'a>(&self, remedy: &'a Remedy) -> RemedyObject<'a> {
        let estimate = remedy.outcome.as_ref().ok();
        let metrics = estimate.and_then(|estimate| estimate.metrics.as_ref().ok());
        RemedyObject {
            options: &remedy.options,
            risk: estimate.map(|it| it.risk),
            standard_error: estimate.map(|it| it.standard_error),
            interval: estimate.map(|it| it.interval),
            error_rate: metrics.map(|metrics| metrics.error_rate.estimate.value),
            verdict: estimate.map(|it| it.independence.verdict),
            p_value: estimate.and_then(|it| it.independence.p_value),
            trusted: remedy.trusted(),
            times_as_wide: estimate.and_then(|it| self.times_as_wide(it)),
            error: remedy.outcome.as_ref().err().map(String::as_str),
        }
    }

    /// A row for each: what is tried, the risk, its interval, the error rate, the test, how much wider it is, and whether it is to be trusted.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let row = |remedy: &Remedy| {
            let tried = if remedy.options.is_empty() { "as it is" } else { &remedy.options };
            let Ok(estimate) = &remedy.outcome else { return vec![tried.to_owned(), "none".to_owned()] };
            let rate = estimate.metrics.as_ref().map(|metrics| metrics.error_rate.estimate);
            let shown = |value: f64, error: f64| {
                if error.is_finite() { with_error(value, error) } else { plain(value) }
            };
            vec![
                tried.to_owned(),
                shown(estimate.risk, estimate.standard_error),
                range(estimate.interval),
                rate.map_or("unknown".to_owned(), |rate| shown(rate.value, rate.standard_error)),
                estimate.independence.p_value.map_or("untestable".to_owned(), p_value),
                self.times_as_wide(estimate).map_or(String::new(), |times| format!("{times:.1}")),
                if estimate.trusted() { "yes" } else { "no" }.to_owned(),
            ]
        };
        self.tried.iter().map(row).collect()
    }

    /// The names of the columns of [`Remedies::rows`].
    pub(crate) const COLUMNS: [&str; 7] =
        ["remedy", "risk", "interval", "error rate", "independence", "wider", "trusted"];

    /// What is proposed, what labels cost, and what could not be tried.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let prices: Vec<String> = self
            .labels()
            .iter()
            .map(|price| {
                let points = (100.0 * price.half_width).round();
                format!("{} for an error rate within {points} points", count(price.labels))
            })
            .collect();
        let labels = format!(
            "Labels of rows drawn at random hold whatever the views do (--label COLUMN): about {}; they recalibrate what the views say, too.",
            prices.join(", ")
        );
        let proposed = match self.proposed() {
            Some(remedy) if remedy.options.is_empty() => "Nothing needs to be mended: no check speaks against the estimate.".to_owned(),
            Some(remedy) => format!("Proposed: {}, the first that no check speaks against.", remedy.options),
            None => "None of these is to be trusted: label some rows, or give a view that shares no noise with the others (--witness COLUMN takes one \
                     without scores)."
                .to_owned(),
        };
        let failed = self.tried.iter().filter_map(|remedy| {
            let error = remedy.outcome.as_ref().err()?;
            Some(format!("{}: {error}", remedy.options))
        });
        let left =
            (self.left > 0).then(|| format!("{} more were not begun: time was up.", count(self.left as u64)));
        [proposed, labels].into_iter().chain(failed).chain(left).collect()
    }

    /// The text.
    pub fn text(&self) -> String {
        let header = Self::COLUMNS.map(str::to_owned).to_vec();
        let mut align = [Align::Right; 7];
        align[0] = Align::Left;
        let short = |mut row: Vec<String>| {
            row[0] = name(&row[0], TRIED_WIDTH);
            row
        };
        let rows = std::iter::once(header).chain(self.rows().into_iter().map(short)).collect::<Vec<_>>();
        let remarks: Vec<String> = self.remarks().iter().map(|words| wrapped(words, WIDTH, 2)).collect();
        format!("{}\n\n{}\n", aligned(&align, rows), remarks.join("\n"))
    }
}

impl Remedy {
    /// Whether nothing speaks against its answer.
    fn trusted(&self) -> bool {
        self.outcome
            .as_ref()
            .is_ok_and(|estimate| estimate.trusted() && estimate.independence.verdict == Verdict::Pass)
    }
}
