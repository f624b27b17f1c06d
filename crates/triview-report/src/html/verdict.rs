//! The answer in a sentence that needs no knowledge of the method.

use super::Standing;
use crate::text::{Share, percent, percents, plain, range};
use crate::words::{Front, Subject};
use triview::answer::Interval;
use triview::diagnostics::Alarm;
use triview::metrics::Measured;

/// A share in a sentence: about so much, and where it lies.
pub(super) fn share(rate: &Measured, level: f64, is_wrong: &str) -> String {
    let value = Share(rate.value).within(rate.interval);
    match percents(rate.interval) {
        Some((_, [low, high])) => format!(
            "About {value} {is_wrong}; with {} confidence it is between {low} and {high}.",
            percent(level)
        ),
        None => format!("About {value} {is_wrong}; how far off this may be is not known."),
    }
}

/// A mean in a sentence.
pub(super) fn mean(what: &str, value: f64, interval: Interval, level: f64) -> String {
    match (interval.high - interval.low).is_finite() {
        true => {
            let between = range(interval).replace(" to ", " and ");
            let confidence = percent(level);
            format!("{what} is about {}; with {confidence} confidence it is between {between}.", plain(value))
        }
        false => format!("{what} is about {}; how far off this may be is not known.", plain(value)),
    }
}

/// The headline, and what stands below it: what is not to be trusted says so first.
pub(super) fn headline(standing: Standing, alarms: usize, said: String) -> (String, Vec<String>) {
    match (standing, alarms) {
        (Standing::Trusted, _) => (said, Vec::new()),
        (Standing::Untested, _) => (
            said,
            vec!["What this rests on, that the views are independent given the class, could not be tested here.".to_owned()],
        ),
        (Standing::Doubted, 0 | 1) => (
            "Do not rely on these numbers: a check speaks against them.".to_owned(),
            vec![format!("What is estimated all the same: {}", small(&said))],
        ),
        (Standing::Doubted, checks) => (
            format!("Do not rely on these numbers: {checks} checks speak against them."),
            vec![format!("What is estimated all the same: {}", small(&said))],
        ),
    }
}

/// A sentence within another.
fn small(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Alarms with what to do about them.
pub(super) fn reasons(alarms: &[Alarm], front: Front, subject: Subject) -> Vec<(String, String)> {
    alarms.iter().map(|alarm| (subject.message(alarm), front.remedy_of(alarm, subject))).collect()
}

/// A sentence of what the program says in small letters.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let end = if text.ends_with(['.', ':']) { "" } else { "." };
    first.chain(letters).collect::<String>() + end
}
