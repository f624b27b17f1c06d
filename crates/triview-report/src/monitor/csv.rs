//! The table of all periods, for a spreadsheet.

use super::Monitored;
use std::fmt::Write;
use triview::monitoring::Measure;

impl Monitored {
    /// One line a period, of all rows, then of each segment, and then of each view by itself.
    pub fn csv(&self) -> String {
        let mut text = "segment,view,period,complete,rows,labels,risk,risk_low,risk_high,error_rate,error_rate_low,error_rate_high,\
                        independence_p_value,worse,inputs_p_value,inputs_changed,trusted,against\n"
            .to_owned();
        let numbers = |measure: Option<Measure>| match measure {
            Some(Measure { value, low, high, .. }) => format!("{value},{low},{high}"),
            None => ",,".to_owned(),
        };
        let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        for curve in self.all_curves() {
            for (period, judged) in curve.periods.iter().zip(&curve.watch.judged) {
                let answer = &period.answer;
                let cells = [
                    quoted(curve.segment.as_deref().unwrap_or_default()),
                    quoted(curve.view.as_deref().unwrap_or_default()),
                    quoted(&period.name),
                    period.complete.to_string(),
                    answer.rows.to_string(),
                    answer.labels.to_string(),
                    numbers(answer.risk),
                    numbers(answer.error_rate),
                    number(answer.p_value),
                    judged.worse.to_string(),
                    number(judged.inputs.map(|change| change.p_value)),
                    judged.inputs_changed.to_string(),
                    answer.trusted().to_string(),
                    quoted(&answer.against().unwrap_or_default()),
                ];
                // Writing to a string does not fail.
                let _ = writeln!(text, "{}", cells.join(","));
            }
        }
        text
    }
}

/// A cell that may have commas, quotes and line breaks in it.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
