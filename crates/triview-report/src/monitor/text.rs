//! For a person.

use super::{Curve, Monitored, Period};
use crate::text::{Align, WIDTH, aligned, count, facts, name, p_value, plain, range, wrapped};
use triview::monitoring::{Measure, Watch};

/// How wide the curve is that is drawn in letters.
const CURVE: usize = 24;
/// So many periods are shown; the CSV and the JSON have all.
const SHOWN: usize = 60;

impl Monitored {
    /// What a person came for in five lines, then the table with its curve, then views by themselves and segments in a line each.
    pub fn text(&self) -> String {
        let whole = self.whole();
        let mut lines: Vec<(&str, String)> = Vec::new();
        for sentence in self.sentences() {
            lines.push(("limit", sentence));
        }
        if let Some(period) = whole.current_period() {
            lines.push(("now", current(period)));
        }
        lines.push(("worse", whole.worse()));
        lines.push(("inputs", whole.inputs(&self.groups)));
        lines.push(("assumption", whole.assumption()));
        lines.push(("baseline", whole.baseline()));
        let said =
            lines.iter().map(|(what, words)| (*what, wrapped(words, WIDTH - 12, 0))).collect::<Vec<_>>();
        let mut text = format!("{}\n\n{}\n", facts(&said).trim_end(), self.table(whole).trim_end());
        let remarks =
            whole.periods.iter().filter_map(|period| Some((&period.name, period.answer.against()?)));
        let remarks: Vec<String> = remarks
            .map(|(name, why)| wrapped(&format!("- {name} is not to be trusted: {why}"), WIDTH, 2))
            .collect();
        if !remarks.is_empty() {
            text += &format!("\n{}\n", remarks.join("\n"));
        }
        let by = self.by.as_deref().unwrap_or("segment");
        for (what, curves) in [("view alone", &self.views[..]), (by, &self.curves[1..])] {
            if !curves.is_empty() {
                text += &format!("\n{}\n", now(what, curves).trim_end());
            }
        }
        text
    }

    fn table(&self, curve: &Curve) -> String {
        let header =
            [self.time.as_str(), "rows", "risk", "interval", "error rate", "worse", "inputs", "", ""];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        let left_out = curve.periods.len().saturating_sub(SHOWN);
        let shown = curve.periods.iter().zip(&curve.watch.judged).enumerate().skip(left_out);
        let risks: Vec<Measure> = shown.clone().filter_map(|(_, (period, _))| period.answer.risk).collect();
        let low = risks.iter().map(|risk| risk.low).fold(f64::INFINITY, f64::min);
        let high = risks.iter().map(|risk| risk.high).fold(f64::NEG_INFINITY, f64::max);
        for (at, (period, judged)) in shown {
            let answer = &period.answer;
            let value =
                |measure: Option<Measure>| measure.map_or("none".to_owned(), |measure| plain(measure.value));
            let remark = match (answer.trusted(), curve.watch.baseline.periods.contains(&at), period.complete)
            {
                (false, _, _) => "not to be trusted",
                (_, true, _) => "baseline",
                (_, _, false) => "not over yet",
                _ if judged.worse >= Watch::ALARM => "worse",
                _ => "",
            };
            let labels = if answer.labels > 0 {
                format!("{} labels ", count(answer.labels as u64))
            } else {
                String::new()
            };
            rows.push(vec![
                name(&period.name, 24),
                count(answer.rows),
                value(answer.risk),
                answer.risk.map_or(String::new(), |risk| range(risk.interval())),
                value(answer.error_rate),
                if judged.worse >= 1e6 { "> 1e6".to_owned() } else { format!("{:.1}", judged.worse) },
                match judged.inputs {
                    Some(change) if judged.inputs_changed => format!("{} *", p_value(change.p_value)),
                    Some(change) => p_value(change.p_value),
                    None => String::new(),
                },
                answer.risk.map_or(String::new(), |risk| drawn(&risk, low, high)),
                format!("{labels}{remark}"),
            ]);
        }
        let mut align = [Align::Right; 9];
        (align[0], align[7], align[8]) = (Align::Left, Align::Left, Align::Left);
        let mut text = aligned(&align, rows);
        if left_out > 0 {
            text += &format!(
                "({} earlier periods are left out here; the JSON and --csv have them all)\n",
                count(left_out as u64)
            );
        }
        text
    }
}

/// Where segments, or views by themselves, stand now, in a line each.
fn now(what: &str, curves: &[Curve]) -> String {
    let what = name(what, 24);
    let header = [what.as_str(), "periods", "now", "risk", "error rate", "worse", ""];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for curve in curves {
        let Some(period) = curve.current_period() else { continue };
        let value =
            |measure: Option<Measure>| measure.map_or("none".to_owned(), |measure| plain(measure.value));
        rows.push(vec![
            name(curve.view.as_ref().or(curve.segment.as_ref()).map_or("", String::as_str), 24),
            count(curve.periods.len() as u64),
            period.name.clone(),
            value(period.answer.risk),
            value(period.answer.error_rate),
            match curve.watch.alarm {
                Some(at) => format!("since {}", curve.named(at)),
                None if curve.sees() => "not seen".to_owned(),
                None => "not known".to_owned(),
            },
            if period.answer.trusted() { String::new() } else { "not to be trusted".to_owned() },
        ]);
    }
    let mut align = [Align::Right; 7];
    (align[0], align[2], align[5], align[6]) = (Align::Left, Align::Left, Align::Left, Align::Left);
    aligned(&align, rows)
}

/// The last complete period in a line.
fn current(period: &Period) -> String {
    let answer = &period.answer;
    let measured = |what: &str, measure: Option<Measure>| match measure {
        Some(measure) => format!("{what} {} ({})", plain(measure.value), range(measure.interval())),
        None => format!("{what} not known"),
    };
    let trust = if answer.trusted() { "" } else { "; not to be trusted, see below" };
    let by = if answer.labels > 0 {
        format!(", by {} labels", count(answer.labels as u64))
    } else {
        String::new()
    };
    format!(
        "{}: {}, {}, {} rows{by}{trust}",
        period.name,
        measured("risk", answer.risk),
        measured("error rate", answer.error_rate),
        count(answer.rows)
    )
}

/// An interval on a line from the lowest to the highest of all.
fn drawn(risk: &Measure, low: f64, high: f64) -> String {
    let place = |value: f64| {
        (((value - low) / (high - low).max(f64::MIN_POSITIVE)) * (CURVE - 1) as f64).round() as usize
    };
    let (from, at, to) = (place(risk.low), place(risk.value), place(risk.high));
    let letter = |x: usize| match x {
        x if x == at => 'o',
        x if (from..=to).contains(&x) => '-',
        _ => ' ',
    };
    (0..CURVE).map(letter).collect()
}
