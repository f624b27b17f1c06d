//! The risk over time: as text, JSON, CSV, for Prometheus, and as a page.

mod csv;
mod json;
mod page;
mod prometheus;
mod text;

pub use json::MonitorObject;

use crate::text::{p_value, plain, range};
use std::ops::Range;
use triview::monitoring::{Limit, Measure, Passed, PeriodAnswer, Watch};

/// A period of a curve.
#[derive(Debug, Clone)]
pub struct Period {
    /// Its name.
    pub name: String,
    /// Whether it is over.
    pub complete: bool,
    /// What it says.
    pub answer: PeriodAnswer,
}

/// All periods of all rows, or of a segment.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The segment; nothing for all rows.
    pub segment: Option<String>,
    /// The view that is judged by itself; nothing where it is what the store judges.
    pub view: Option<String>,
    /// The periods, in the order of time.
    pub periods: Vec<Period>,
    /// What they say together.
    pub watch: Watch,
}

/// What a store says.
#[derive(Debug, Clone)]
pub struct Monitored {
    /// That of all rows first, then those of the segments.
    pub curves: Vec<Curve>,
    /// Those of each view as a model of its own, over all rows, where that is watched.
    pub views: Vec<Curve>,
    /// The column of times.
    pub time: String,
    /// How it is cut into periods.
    pub period: String,
    /// The column of segments.
    pub by: Option<String>,
    /// The loss.
    pub loss: String,
    /// The level of confidence of intervals.
    pub level: f64,
    /// The classes.
    pub classes: Vec<String>,
    /// The three groups of views.
    pub groups: Vec<String>,
    /// How many files were added.
    pub files: usize,
    /// When the last was, in seconds since 1970.
    pub added: Option<i64>,
    /// When this is said.
    pub now: i64,
    /// What was asked not to be passed.
    pub limits: Vec<Limit>,
}

impl Curve {
    /// Looks at periods in the order of time; `baseline` says what is normal when so many of them are there.
    pub fn new(
        segment: Option<String>,
        periods: Vec<Period>,
        baseline: impl Fn(usize) -> Range<usize>,
        level: f64,
    ) -> Self {
        let answers: Vec<&PeriodAnswer> = periods.iter().map(|period| &period.answer).collect();
        let watch = Watch::new(&answers, baseline, current(&periods) + 1, level);
        Self { segment, view: None, periods, watch }
    }

    /// The same periods for a view by itself.
    #[must_use]
    pub fn of_view(&self, view: &str, baseline: impl Fn(usize) -> Range<usize>, level: f64) -> Self {
        let own = |period: &Period| Period { answer: period.answer.of_view(view), ..period.clone() };
        let periods = self.periods.iter().map(own).collect();
        Self { view: Some(view.to_owned()), ..Self::new(self.segment.clone(), periods, baseline, level) }
    }

    /// The last complete period, which is what limits are about; the last of all where none is complete.
    pub fn current(&self) -> usize {
        current(&self.periods)
    }

    /// The factor by which the data up to it favour that the model has become worse.
    fn factor(&self) -> f64 {
        self.watch.judged.get(self.current()).map_or(1.0, |judged| judged.worse)
    }

    /// The periods after the baseline that are complete.
    fn looked_at(&self) -> Range<usize> {
        self.watch.baseline.periods.end..(self.current() + 1).min(self.periods.len())
    }

    fn current_period(&self) -> Option<&Period> {
        self.periods.get(self.current())
    }

    /// What of the limits is passed, or cannot be judged, in that period.
    fn passed(&self, limits: &[Limit]) -> Vec<Passed> {
        let Some(period) = self.current_period() else { return Vec::new() };
        let own: Vec<Limit> = limits.iter().filter(|limit| limit.view == self.view).cloned().collect();
        self.watch.passed(&own, self.current(), &period.answer)
    }

    fn named(&self, at: usize) -> &str {
        self.periods.get(at).map_or("", |period| &period.name)
    }

    /// Whether the model has become worse, in words.
    fn worse(&self) -> String {
        let favour = match self.factor() {
            factor if factor >= 1e6 => "more than a million".to_owned(),
            factor => plain(factor),
        };
        let baseline = &self.watch.baseline;
        match self.watch.alarm {
            Some(alarm) => format!(
                "yes, seen in {} and begun about {}; the data favour it by a factor of {favour} (alarm at 20)",
                self.named(alarm),
                self.since().unwrap_or_else(|| self.named(alarm).to_owned())
            ),
            None if baseline.periods.is_empty() => "not known: there are no rows in the baseline".to_owned(),
            None if baseline.risk.is_none() && baseline.error_rate.is_none() => {
                "not known: no period of the baseline is to be trusted".to_owned()
            }
            None if self.looked_at().is_empty() => {
                "not looked at yet: there is no complete period after the baseline".to_owned()
            }
            None => format!(
                "not seen{}; the data favour it by a factor of {favour} (alarm at 20, false in 5% of series over all time)",
                self.blind()
            ),
        }
    }

    /// When it began, in words.
    fn since(&self) -> Option<String> {
        let since = self.watch.since.as_ref()?;
        let last = self.named(since.end - 1).to_owned();
        Some(if since.len() == 1 { last } else { format!("{} to {last}", self.named(since.start)) })
    }

    /// Whether a rise would be seen in some period after the baseline.
    fn sees(&self) -> bool {
        let baseline = &self.watch.baseline;
        let known = baseline.risk.is_some() || baseline.error_rate.is_some();
        known && self.periods[self.looked_at()].iter().any(|period| period.answer.trusted())
    }

    /// Whether the inputs of some period are held against the baseline's.
    fn compares(&self) -> bool {
        self.looked_at().any(|at| self.watch.judged[at].inputs.is_some())
    }

    /// Periods after the baseline in which nothing can be seen, in words.
    fn blind(&self) -> String {
        let after = &self.periods[self.looked_at()];
        match after.iter().filter(|period| !period.answer.trusted()).count() {
            0 => String::new(),
            some => format!(" where it can be told, which is in doubt in {some} of {} periods", after.len()),
        }
    }

    /// Whether the inputs have changed, in words.
    fn inputs(&self, groups: &[String]) -> String {
        let changed: Vec<usize> =
            self.looked_at().filter(|&at| self.watch.judged[at].inputs_changed).collect();
        let (Some(first), Some(last)) = (changed.first(), changed.last()) else {
            let told = self.looked_at().filter(|&at| self.watch.judged[at].inputs.is_some()).count();
            return match self.looked_at().len() {
                _ if self.watch.baseline.periods.is_empty() => {
                    "not known: there are no rows in the baseline".to_owned()
                }
                0 => "not looked at yet: there is no complete period after the baseline".to_owned(),
                all if told == all => "no change seen since the baseline".to_owned(),
                all => {
                    format!("no change seen where there are rows enough to tell, in {told} of {all} periods")
                }
            };
        };
        let most = self.watch.judged[*last].inputs.map_or(String::new(), |change| {
            let view = groups.get(change.group).map_or("", String::as_str);
            format!(", most in view {view} ({} in {})", p_value(change.p_value), self.named(*last))
        });
        let told = changed.iter().all(|&at| self.periods[at].answer.trusted());
        let risk = match (self.watch.alarm, told) {
            (Some(_), _) => "",
            (None, true) => "; no rise of the risk is seen",
            (None, false) => "; what that does to the risk cannot be told in all of these periods",
        };
        format!("changed since {}{most}{risk}", self.named(*first))
    }

    /// Whether the views are independent within periods, in words.
    fn assumption(&self) -> String {
        match self.watch.p_value {
            None => "not tested in any period".to_owned(),
            Some(p) if p < Watch::LEVEL => {
                format!("the views depend on each other within periods ({} all together)", p_value(p))
            }
            Some(p) => format!("no dependence within periods ({} all together)", p_value(p)),
        }
    }

    fn baseline(&self) -> String {
        let Range { start, end } = &self.watch.baseline.periods;
        let measured = |what: &str, measure: Option<Measure>| {
            measure.map(|measure| format!("{what} {} ({})", plain(measure.value), range(measure.interval())))
        };
        let said = [
            measured("risk", self.watch.baseline.risk),
            measured("error rate", self.watch.baseline.error_rate),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        let said =
            if said.is_empty() { "nothing in it is to be trusted".to_owned() } else { said.join(", ") };
        match end - start {
            0 => "none".to_owned(),
            1 => format!("{}: {said}", self.named(*start)),
            _ => format!("{} to {}: {said}", self.named(*start), self.named(end - 1)),
        }
    }
}

/// The last complete period, or the last of all where none is complete.
fn current(periods: &[Period]) -> usize {
    let complete = periods.iter().rposition(|period| period.complete);
    complete.unwrap_or(periods.len().saturating_sub(1))
}

impl Monitored {
    /// All rows.
    pub fn whole(&self) -> &Curve {
        &self.curves[0]
    }

    /// Those that limits are about: of all rows, of segments, and of views by themselves.
    fn all_curves(&self) -> impl Iterator<Item = &Curve> {
        self.curves.iter().chain(&self.views)
    }

    /// Whether no limit is passed, and the last complete period of all rows is to be trusted.
    pub fn quiet(&self) -> bool {
        let trusted = self.whole().current_period().is_some_and(|period| period.answer.trusted());
        trusted
            && self.all_curves().all(|curve| curve.passed(&self.limits).iter().all(|passed| !passed.passed))
    }

    /// The sentences that go into a mail: the limits that are passed, and what cannot be judged.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for curve in self.all_curves() {
            let of = curve.segment.as_ref().map_or(String::new(), |segment| {
                format!(" for {} {segment}", self.by.as_deref().unwrap_or("segment"))
            });
            let Some(period) = curve.current_period() else { continue };
            for Passed { limit, value, bound, passed } in curve.passed(&self.limits) {
                let number = |number: Option<f64>| number.map_or("unknown".to_owned(), plain);
                let answer = &period.answer;
                let rule = curve.view.as_ref().map_or(limit.as_str(), |view| &limit[view.len() + 1..]);
                sentences.push(match passed {
                    true if rule == "worse" => format!("{limit}{of}: {}", curve.worse()),
                    true => {
                        let measure = if rule.starts_with("risk") { answer.risk } else { answer.error_rate };
                        let measure = measure.filter(|_| !rule.starts_with("rows"));
                        let between = measure
                            .map_or(String::new(), |measure| format!(" ({})", range(measure.interval())));
                        format!(
                            "{limit} is passed{of} in {}: {}{between}, and the limit is {}",
                            period.name,
                            number(value),
                            number(bound)
                        )
                    }
                    false if rule == "worse" => format!("{limit} cannot be judged{of}: {}", curve.worse()),
                    false => format!(
                        "{limit} cannot be judged{of} in {}: {}",
                        period.name,
                        answer.against().unwrap_or_else(|| "it, or what is normal, is not known".to_owned())
                    ),
                });
            }
        }
        sentences
    }
}
