//! What to do, in the words of whoever shows an answer: the core says it without naming what can be typed.

mod tokens;

use triview::Error;
use triview::diagnostics::{Alarm, Given};
use triview::estimator::Estimate;

/// Who shows an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Front {
    /// The command line: remedies name its flags.
    #[default]
    CommandLine,
    /// A library: remedies name nothing that can be typed.
    Library,
    /// The Python package: the flags are names of parameters.
    Python,
}

/// What alarms are said of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Rows of views.
    Rows,
    /// The same beside a diagnosis, which shows already what another would.
    Diagnosis,
    /// Tokens of sequences.
    Sequences {
        /// Whether some have labels already.
        labelled: bool,
    },
}

impl Subject {
    /// An alarm in words.
    pub(crate) fn message(self, alarm: &Alarm) -> String {
        match self {
            Subject::Rows | Subject::Diagnosis => alarm.to_string(),
            Subject::Sequences { .. } => tokens::message(alarm),
        }
    }
}

impl Front {
    /// What to do about an alarm.
    pub fn remedy(self, alarm: &Alarm) -> String {
        self.remedy_of(alarm, Subject::Rows)
    }

    /// The same about one of other things than rows.
    pub(crate) fn remedy_of(self, alarm: &Alarm, subject: Subject) -> String {
        let plain = alarm.remedy();
        let diagnosis = subject == Subject::Diagnosis;
        if let Subject::Sequences { labelled } = subject {
            return match self {
                Front::Library => tokens::in_tokens(plain),
                Front::CommandLine | Front::Python => self.say(&tokens::remedy(alarm, labelled)),
            };
        }
        if self == Front::Library {
            return plain.to_owned();
        }
        let flags = match alarm {
            Alarm::NotFinite => "look for enormous scores, or try --feature-map softmax",
            Alarm::NotConverged => "give more rows, or try --feature-map softmax",
            Alarm::Dependent { given: Given::LatentState, .. } => {
                "ask for more latent states: --latent auto takes as few as the test accepts"
            }
            Alarm::Dependent { missing: true, .. } if diagnosis => {
                "views that are missing together depend on each other, and so do those of a table without the rows that lack \
                 every view; otherwise replace one of the views below, or cut them so that they share no noise"
            }
            Alarm::Dependent { missing: true, .. } => {
                "views that are missing together depend on each other, and so do those of a table without the rows that lack \
                 every view; otherwise replace one of the views that `triview diagnose` shows, or cut them so that they share \
                 no noise"
            }
            Alarm::Dependent { .. } if diagnosis => {
                "replace one of the views below, or cut them so that they share no noise; rows that change over time may only look \
                 so: --by a column of time in `triview estimate`; classes made of several kinds: --latent auto; the labels of some \
                 rows hold whatever the views do: --label"
            }
            Alarm::Dependent { .. } => {
                "`triview diagnose` shows which views depend on each other: replace one, or cut them so that they share no noise; \
                 rows that change over time may only look so: --by a column of time; classes made of several kinds: --latent auto; \
                 the labels of some rows hold whatever the views do: --label"
            }
            Alarm::Impossible { .. } | Alarm::ImpossibleMoments { .. } | Alarm::OtherFeatures { .. }
                if diagnosis =>
            {
                "the views may depend on each other: replace one of those below, or give the labels of some rows with --label"
            }
            Alarm::Impossible { .. } | Alarm::ImpossibleMoments { .. } => {
                "the views depend on each other: `triview diagnose` may show which; or give the labels of some rows with --label"
            }
            Alarm::OtherFeatures { .. } => {
                "the views may depend on each other: `triview diagnose` may show which; or give the labels of some rows with --label"
            }
            Alarm::OutsideRange { .. } => {
                "give more rows, or the labels of some with --label: the risk is too small to be told from none, or the views depend \
                 on each other"
            }
            Alarm::TooWide { .. } => {
                "give more rows or stronger views, or the labels of some rows with --label, which hold whatever the views do \
                 (--label-budget says how many)"
            }
            Alarm::OneBlockRules { .. } => {
                "look for enormous scores, or see what most groups of rows agree on with --amplify 16"
            }
            Alarm::OtherGroups { .. } => {
                "views that depend on each other are in different groups: put what shares noise into one with --group"
            }
            Alarm::NoMajority { .. } => "ask --amplify for fewer groups, or give more rows",
            Alarm::LabelsUnlikeOthers { .. } => {
                "label rows that are drawn at random from all rows (--label-budget names such rows)"
            }
            Alarm::CommonErrors { .. } | Alarm::UntestableVotes { .. } => {
                "give the class of some items, drawn at random, with --gold or --label: 20 tell much, 50 more (--label-budget counts \
                 them, --label-rows draws them)"
            }
            Alarm::AtToken { alarm, .. } => return self.remedy_of(alarm, subject),
            _ => plain,
        };
        self.say(flags)
    }

    /// A text that names flags, in this front's words.
    pub fn say(self, text: &str) -> String {
        match self {
            Front::Python => in_python(text),
            Front::CommandLine | Front::Library => text.to_owned(),
        }
    }

    /// What could be typed instead of what could not be answered, where there is such.
    pub fn hint(self, error: &Error) -> Option<String> {
        if self == Front::Library {
            return None;
        }
        let flags = match error {
            Error::TooManyViews { .. } => "choose views with `--views`",
            Error::UngroupedView { .. } => {
                "name it in `--group`, or leave it out by naming the others in `--views`"
            }
            Error::NeverPresent { .. } => "leave it out by naming the others in `--views`",
            Error::NoMoments { .. } => {
                "`triview estimate TABLE` without --by, --amplify, --label and --save-posterior answers from the rows"
            }
            Error::TooManyStates { .. } => "`--features` names columns that tell more states apart",
            Error::PlansDiffer { .. } if self == Front::Python => "make the parts by one plan",
            Error::PlansDiffer { .. } => "make the parts with `moments --like`",
            Error::UnseenStates { .. } | Error::NoMemory | Error::FewAtAPosition { .. } => {
                "`--label` names a column with the labels of some whole sequences, which answer all the same"
            }
            Error::WeakSeed { .. } => "`train --step` makes the step smaller",
            _ => return None,
        };
        Some(self.say(flags))
    }
}

/// What no rows without labels can show, whatever they say: it stands beside every answer that is trusted.
pub fn unseen(estimate: &Estimate) -> Vec<&'static str> {
    let knowledge = estimate.prediction.as_ref().map(|_| "what the prediction knows beyond the views");
    ["class names crossed in all views", "errors all views share"].into_iter().chain(knowledge).collect()
}

/// Values that stand behind flags in what is said.
const VALUES: [&str; 3] = ["auto", "softmax", "16"];

/// A text with the parameters that flags are in Python: `--feature-map softmax` is `feature_map="softmax"`, `--label` is `label`.
fn in_python(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let before = rest[..at].chars().next_back();
        let (head, tail) = rest.split_at(at + 2);
        let end = tail.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(tail.len());
        let is_flag = end > 0 && before.is_none_or(|c| !c.is_alphanumeric() && c != '-');
        said.push_str(if is_flag { &head[..at] } else { head });
        rest = tail;
        if is_flag {
            said.push_str(&tail[..end].replace('-', "_"));
            rest = &tail[end..];
            let word = rest.strip_prefix(' ').and_then(|rest| rest.split([' ', ',', ';', ':']).next());
            if let Some(value) = word.filter(|word| VALUES.contains(word)) {
                let quote = if value.parse::<f64>().is_ok() { "" } else { "\"" };
                said.push_str(&format!("={quote}{value}{quote}"));
                rest = &rest[1 + value.len()..];
            }
        }
    }
    (said + rest).replace("`triview ", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_parameters_in_python() {
        for (flags, parameters) in [
            ("or try --feature-map softmax", "or try feature_map=\"softmax\""),
            ("with --amplify 16", "with amplify=16"),
            ("--gold or --label: 20", "gold or label: 20"),
            ("`triview diagnose` shows -- or a--b", "`diagnose` shows -- or a--b"),
            ("", ""),
        ] {
            assert_eq!(Front::Python.say(flags), parameters);
        }
    }

    #[test]
    fn a_diagnosis_does_not_advise_another() {
        let loss = || "log".to_owned();
        let alarms = [
            Alarm::Dependent { p_value: 0.01, given: Given::Class, missing: false },
            Alarm::Dependent { p_value: 0.01, given: Given::Class, missing: true },
            Alarm::Impossible { loss: loss(), risk: -1.0, least: 0.0 },
            Alarm::OtherFeatures { loss: loss(), risk: 1.0, joint_error: 0.1 },
        ];
        for alarm in alarms {
            assert!(Front::CommandLine.remedy(&alarm).contains("triview diagnose"));
            let beside = Front::CommandLine.remedy_of(&alarm, Subject::Diagnosis);
            assert!(!beside.contains("triview diagnose") && beside.contains("below"), "{beside}");
        }
        let dependent = Alarm::Dependent { p_value: 0.01, given: Given::Class, missing: false };
        for flag in ["--by", "--latent auto", "--label"] {
            assert!(Front::CommandLine.remedy(&dependent).contains(flag), "{flag}");
        }
    }

    #[test]
    fn a_library_names_no_flags() {
        let alarm = Alarm::Dependent { p_value: 0.01, given: Given::LatentState, missing: false };
        assert!(Front::CommandLine.remedy(&alarm).contains("--latent auto"));
        assert_eq!(Front::Library.remedy(&alarm), alarm.remedy());
        let nested = Alarm::AtToken { position: 3, alarm: Box::new(alarm), more: 0 };
        assert!(Front::CommandLine.remedy(&nested).contains("--latent auto"));
        let error = Error::TooManyViews { views: 70, most: 64 };
        assert!(Front::CommandLine.hint(&error).is_some_and(|hint| hint.contains("--views")));
        assert_eq!(Front::Library.hint(&error), None);
        assert!(Front::Python.hint(&error).is_some_and(|hint| hint.ends_with("`views`")));
    }
}
