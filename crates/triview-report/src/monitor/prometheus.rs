//! The last complete period, for Prometheus' textfile collector.

use super::Monitored;
use std::fmt::Write;
use triview::monitoring::Measure;

/// A gauge's name, what it is, and its samples, each behind its labels.
type Gauge = (&'static str, &'static str, Vec<(String, f64)>);

impl Monitored {
    /// Gauges of the last complete period, of all rows, of each segment, and of each view by itself. What is not known is left out.
    pub fn prometheus(&self) -> String {
        let mut gauges: Vec<Gauge> = vec![
            ("triview_risk", "Estimated risk of the last complete period.", Vec::new()),
            ("triview_risk_low", "Lower end of its interval.", Vec::new()),
            ("triview_risk_high", "Upper end of its interval.", Vec::new()),
            ("triview_error_rate", "Estimated error rate of the last complete period.", Vec::new()),
            ("triview_error_rate_low", "Lower end of its interval.", Vec::new()),
            ("triview_error_rate_high", "Upper end of its interval.", Vec::new()),
            ("triview_trusted", "Whether nothing speaks against the period's answer.", Vec::new()),
            ("triview_rows", "Rows of the period.", Vec::new()),
            (
                "triview_worse_factor",
                "By how much the data favour that the model has become worse; alarm at 20.",
                Vec::new(),
            ),
            ("triview_worse_alarm", "Whether the alarm was raised.", Vec::new()),
            ("triview_inputs_changed", "Whether the period's inputs differ from the baseline's.", Vec::new()),
        ];
        for curve in self.all_curves() {
            let Some(period) = curve.current_period() else { continue };
            let judged = &curve.watch.judged[curve.current()];
            let named = [("segment", &curve.segment), ("view", &curve.view)];
            let of = named.iter().filter_map(|(label, name)| Some((label, name.as_deref()?)));
            let of: String = of.map(|(label, name)| format!(",{label}=\"{}\"", escaped(name))).collect();
            let labels = format!("{{period=\"{}\"{of}}}", escaped(&period.name));
            let truth = |truth: bool| Some(f64::from(u8::from(truth)));
            let measured = |measure: Option<Measure>| {
                [measure.map(|of| of.value), measure.map(|of| of.low), measure.map(|of| of.high)]
            };
            let [risk, low, high] = measured(period.answer.risk);
            let [rate, rate_low, rate_high] = measured(period.answer.error_rate);
            let values = [
                risk,
                low,
                high,
                rate,
                rate_low,
                rate_high,
                truth(period.answer.trusted()),
                Some(period.answer.rows as f64),
                Some(curve.factor()),
                truth(curve.watch.alarm.is_some()),
                truth(judged.inputs_changed),
            ];
            for ((_, _, samples), value) in gauges.iter_mut().zip(values) {
                samples.extend(value.map(|value| (labels.clone(), value)));
            }
        }
        let passed = self.limits.iter().map(|limit| {
            let limit = limit.to_string();
            let is_passed = self
                .all_curves()
                .any(|curve| curve.passed(&self.limits).iter().any(|one| one.passed && one.limit == limit));
            (format!("{{limit=\"{}\"}}", escaped(&limit)), f64::from(u8::from(is_passed)))
        });
        gauges.push(("triview_limit_passed", "Whether a limit is passed.", passed.collect()));
        // An age is as old as the file that it stands in; a time stays true when nobody writes the file any more.
        let of_last =
            |value: Option<i64>| value.map(|value| (String::new(), value as f64)).into_iter().collect();
        gauges.push((
            "triview_added_timestamp_seconds",
            "When the last file was added, in seconds since 1970.",
            of_last(self.added),
        ));
        gauges.push((
            "triview_age_seconds",
            "Seconds from then until this was written, 0 where the clock has gone back since.",
            of_last(self.added.map(|added| self.now.saturating_sub(added).max(0))),
        ));
        let mut text = String::new();
        for (name, help, samples) in gauges.iter().filter(|(_, _, samples)| !samples.is_empty()) {
            // Writing to a string does not fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
            for (labels, value) in samples {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
        text
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
