//! The page of a store.

use super::{Curve, Monitored};
use crate::draw::{Chart, Picture, Point, Reference, Series, Spread, Table};
use crate::html::{Page, Section, Standing, Tile};
use crate::text::{Share, count, name, percent, plain, range};
use crate::words::Front;
use triview::monitoring::{Measure, PeriodAnswer};

/// So many views have a curve in the picture.
const MOST_VIEWS: usize = 6;

/// A number with its interval.
fn measured(measure: Option<Measure>) -> String {
    match measure {
        Some(measure) => format!("{} ({})", plain(measure.value), range(measure.interval())),
        None => "none".to_owned(),
    }
}

impl Monitored {
    /// The verdict, the curves of the risk and of the error rate, and all periods in a table.
    pub fn page(&self, front: Front) -> Page {
        let whole = self.whole();
        let sentences = self.sentences();
        let current = whole.current_period();
        let trusted = current.is_some_and(|period| period.answer.trusted());
        let headline = match (sentences.first(), &whole.watch.alarm, current) {
            (Some(sentence), _, _) => sentence.clone(),
            (None, Some(at), _) => format!("The model has become worse, as seen in {}.", whole.named(*at)),
            (None, None, Some(period)) => match period.answer.error_rate {
                Some(rate) => format!(
                    "About {} of the predictions are wrong in {}{}",
                    Share(rate.value).within(rate.interval()),
                    period.name,
                    // Nothing is said to be as it was that was not looked at.
                    if whole.sees() { "; nothing has become worse." } else { "." }
                ),
                None if whole.sees() => format!("No rise of the risk is seen up to {}.", period.name),
                None => format!("How wrong the model is in {} is not known.", period.name),
            },
            _ => "Nothing has been added yet.".to_owned(),
        };
        let lead = vec![
            format!("Worse: {}.", whole.worse()),
            format!("Inputs: {}.", whole.inputs(&self.groups)),
            format!("Assumption: {}.", whole.assumption()),
            format!("Baseline: {}.", whole.baseline()),
        ];
        let not_trusted = whole.periods.iter().filter_map(|period| Some((period, period.answer.against()?)));
        let remedy = front.say("look at its rows with `triview estimate` and `triview diagnose`");
        let reasons =
            not_trusted.map(|(period, why)| (format!("{}: {why}", period.name), remedy.clone())).collect();
        let mut sections = vec![
            Section::new("The risk over time").picture(self.curve(whole, "risk", |answer| answer.risk, whole.watch.baseline.risk)).wide(),
            Section::new("The error rate over time").picture(self.curve(
                whole,
                "error rate",
                |answer| answer.error_rate,
                whole.watch.baseline.error_rate,
            )),
            Section::new("Evidence that it has become worse")
                .words("A factor of 20 raises the alarm. Where nothing changes, it is reached in at most 5% of series, over all time.")
                .picture(self.evidence(whole)),
            Section::new("All periods").table(self.periods(whole)).wide(),
        ];
        if !self.views.is_empty() {
            sections.push(
                Section::new("Each view as a model of its own")
                    .words("How often each view would be wrong by itself, in the order of time.")
                    .picture(self.views_over_time())
                    .table(self.views_now())
                    .wide(),
            );
        }
        for curve in self.curves.iter().skip(1).take(12) {
            let segment = name(curve.segment.as_deref().unwrap_or_default(), 40);
            sections.push(
                Section::new(format!("{} {segment}", self.by.as_deref().unwrap_or("Segment")))
                    .words(format!("Worse: {}.", curve.worse()))
                    .picture(self.curve(curve, "risk", |answer| answer.risk, curve.watch.baseline.risk)),
            );
        }
        Page {
            about: "a model over time, without labels",
            standing: if trusted { Standing::Trusted } else { Standing::Doubted },
            headline,
            lead,
            reasons,
            tiles: self.tiles(),
            sections,
        }
    }

    fn tiles(&self) -> Vec<Tile> {
        let whole = self.whole();
        let Some(period) = whole.current_period() else { return Vec::new() };
        let level = percent(self.level);
        let measured = |what: &str, measure: Option<Measure>| match measure {
            Some(measure) => {
                Tile::new(what, plain(measure.value), format!("{} ({level})", range(measure.interval())))
            }
            None => Tile::new(what, "unknown", "see below"),
        };
        let rows: u64 = whole.periods.iter().map(|period| period.answer.rows).sum();
        let worse = match whole.watch.alarm {
            Some(_) => "yes",
            None if whole.sees() => "not seen",
            None => "not known",
        };
        let inputs = match whole.watch.inputs_alarm {
            Some(_) => "changed",
            None if whole.compares() => "as they were",
            None => "not known",
        };
        vec![
            measured(&format!("{} risk", name(&self.loss, 20)), period.answer.risk),
            measured("error rate", period.answer.error_rate),
            Tile::new("worse", worse, "than the baseline"),
            Tile::new("inputs", inputs, "since the baseline"),
            Tile::new("periods", count(whole.periods.len() as u64), format!("of {} rows", count(rows))),
        ]
    }

    fn curve(
        &self,
        curve: &Curve,
        what: &str,
        of: fn(&PeriodAnswer) -> Option<Measure>,
        normal: Option<Measure>,
    ) -> Option<Picture> {
        let known = curve
            .periods
            .iter()
            .enumerate()
            .filter_map(|(at, period)| Some((at, period, of(&period.answer)?)));
        let points = known.map(|(at, period, measure)| Point {
            doubted: !period.answer.trusted(),
            ..Point::new(at as f64, measure.value).between(measure.interval())
        });
        let last = curve.periods.len().saturating_sub(1) as f64;
        Chart {
            title: format!("The {what} by {}", name(&self.time, 40)),
            description: format!(
                "A curve with a band of intervals over {} periods, beside the baseline.",
                curve.periods.len()
            ),
            note: format!("The band is of {} confidence in each period.", percent(self.level)),
            x_label: self.time.clone(),
            y_label: format!("{what}, with intervals"),
            names: curve.periods.iter().map(|period| period.name.clone()).collect(),
            series: vec![Series { name: what.to_owned(), points: points.collect(), spread: Spread::Band }],
            reference: normal.map(|normal| Reference {
                name: format!("baseline, {}", plain(normal.value)),
                from: (0.0, normal.value),
                to: (last, normal.value),
            }),
            ..Chart::default()
        }
        .picture()
    }

    /// The error rates of the views by themselves, of the first few where there are many.
    fn views_over_time(&self) -> Option<Picture> {
        let shown = self.views.len().min(MOST_VIEWS);
        let series = self.views[..shown].iter().map(|curve| {
            let known = curve.periods.iter().enumerate();
            let known = known.filter_map(|(at, period)| Some((at, period, period.answer.error_rate?)));
            let points = known.map(|(at, period, rate)| Point {
                doubted: !period.answer.trusted(),
                ..Point::new(at as f64, rate.value)
            });
            Series {
                name: name(curve.view.as_deref().unwrap_or_default(), 24),
                points: points.collect(),
                spread: Spread::Bars,
            }
        });
        Chart {
            title: format!("The error rate of each view by {}", name(&self.time, 40)),
            description: format!("A curve for each of {shown} views, over the periods."),
            note: match self.views.len() - shown {
                0 => "Intervals are in the table, and in the JSON for every period.".to_owned(),
                more => format!("{more} more views are in the table, and in the JSON for every period."),
            },
            x_label: self.time.clone(),
            y_label: "error rate of the view alone".to_owned(),
            names: self.whole().periods.iter().map(|period| period.name.clone()).collect(),
            series: series.collect(),
            ..Chart::default()
        }
        .picture()
    }

    /// Where each view by itself stands in the last complete period.
    fn views_now(&self) -> Table {
        let rows = self.views.iter().filter_map(|curve| {
            let period = curve.current_period()?;
            let answer = &period.answer;
            Some(vec![
                curve.view.clone().unwrap_or_default(),
                period.name.clone(),
                measured(answer.risk),
                measured(answer.error_rate),
                measured(curve.watch.baseline.error_rate),
                plain(curve.factor()),
                if answer.trusted() { "yes" } else { "no" }.to_owned(),
            ])
        });
        let columns =
            ["view", &self.time, "risk", "error rate", "baseline's error rate", "worse, factor", "trusted"];
        Table::of_numbers(columns, rows)
    }

    fn evidence(&self, curve: &Curve) -> Option<Picture> {
        let points = curve
            .watch
            .judged
            .iter()
            .enumerate()
            .map(|(at, judged)| Point::new(at as f64, judged.worse.min(1e6)));
        let last = curve.periods.len().saturating_sub(1) as f64;
        Chart {
            title: "By which factor the data favour that the model has become worse".to_owned(),
            description: "A curve over the periods, beside the line at which the alarm is raised.".to_owned(),
            x_label: self.time.clone(),
            y_label: "factor, on a logarithmic axis".to_owned(),
            names: curve.periods.iter().map(|period| period.name.clone()).collect(),
            log_y: true,
            series: vec![Series {
                name: "evidence".to_owned(),
                points: points.collect(),
                spread: Spread::Bars,
            }],
            reference: Some(Reference { name: "alarm, 20".to_owned(), from: (0.0, 20.0), to: (last, 20.0) }),
            ..Chart::default()
        }
        .picture()
    }

    fn periods(&self, curve: &Curve) -> Table {
        let rows = curve.periods.iter().zip(&curve.watch.judged).map(|(period, judged)| {
            vec![
                period.name.clone(),
                count(period.answer.rows),
                measured(period.answer.risk),
                measured(period.answer.error_rate),
                plain(judged.worse),
                if judged.inputs_changed { "changed".to_owned() } else { String::new() },
                if period.answer.trusted() { "yes" } else { "no" }.to_owned(),
            ]
        });
        let columns =
            [self.time.as_str(), "rows", "risk", "error rate", "worse, factor", "inputs", "trusted"];
        Table::of_numbers(columns, rows)
    }
}
