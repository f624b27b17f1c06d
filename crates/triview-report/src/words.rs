//! What to do, in the words of whoever shows an answer: the core says it without naming what can be typed.

use triview::Error;
use triview::diagnostics::{Alarm, Given};

/// Who shows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// The command line: remedies name its flags.
    CommandLine,
    /// A library: remedies name nothing that can be typed.
    Library,
}

impl Front {
    /// What to do about an alarm.
    pub fn remedy(self, alarm: &Alarm) -> String {
        let plain = alarm.remedy();
        let Front::CommandLine = self else { return plain.to_owned() };
        let flags = match alarm {
            Alarm::NotFinite => "look for enormous scores, or try --feature-map softmax",
            Alarm::NotConverged => "give more rows, or try --feature-map softmax",
            Alarm::Dependent { given: Given::LatentState, .. } => {
                "ask for more latent states: --latent auto takes as few as the test accepts"
            }
            Alarm::Dependent { missing: true, .. } => {
                "views that are missing together depend on each other, and so do those of a table without the rows that lack \
                 every view; otherwise replace one of the views that `triview diagnose` shows, or cut them so that they share \
                 no noise"
            }
            Alarm::Dependent { .. } => {
                "`triview diagnose` shows which views depend on each other: replace one, or cut them so that they share no noise"
            }
            Alarm::Impossible { .. } | Alarm::ImpossibleMoments { .. } => {
                "the views depend on each other: `triview diagnose` may show which"
            }
            Alarm::OtherFeatures { .. } => {
                "the views may depend on each other: `triview diagnose` may show which"
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
            Alarm::AtToken { alarm, .. } => return self.remedy(alarm),
            _ => plain,
        };
        flags.to_owned()
    }

    /// What could be typed instead of what could not be answered, where there is such.
    pub fn hint(self, error: &Error) -> Option<&'static str> {
        let Front::CommandLine = self else { return None };
        Some(match error {
            Error::TooManyViews { .. } => "choose views with `--views`",
            Error::UngroupedView { .. } => {
                "name it in `--group`, or leave it out by naming the others in `--views`"
            }
            Error::NeverPresent { .. } => "leave it out by naming the others in `--views`",
            Error::NoMoments { .. } => {
                "`triview estimate TABLE` without --by, --amplify, --label and --save-posterior answers from the rows"
            }
            Error::TooManyStates { .. } => "`--features` names columns that tell more states apart",
            Error::PlansDiffer { .. } => "make the parts with `moments --like`",
            Error::WeakSeed { .. } => "`train --step` makes the step smaller",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
