//! Alarms of sequences: the rows that they are about are tokens, the classes states, and the views what is before a token, in it and
//! after it.

use triview::diagnostics::Alarm;

/// Words of tables, and what is meant by them of sequences.
const WORDS: [(&str, &str); 4] =
    [("rows", "tokens"), ("row", "token"), ("classes", "states"), ("class", "state")];

/// An alarm in words.
pub(super) fn message(alarm: &Alarm) -> String {
    match alarm {
        Alarm::WeakView { view, states, .. } => {
            format!("what is {} does not tell all {states} states apart", place(view))
        }
        Alarm::WeakPair { views: [a, b], states, .. } => format!(
            "what is {} and what is {} agree in fewer than {} directions: not all {states} states are told apart",
            place(a),
            place(b),
            states - 1
        ),
        Alarm::Dependent { p_value, .. } => format!(
            "what is before a token, in it and after it are not independent given its state (p = {p_value:.3})"
        ),
        Alarm::LabelsUnlikeOthers { z } => format!(
            "the labelled sequences are unlike the others: their length, or what the model says of them, is {:.1} standard errors off",
            z.abs()
        ),
        Alarm::LabelsDisagree { loss, without, with, joint_error } => format!(
            "without labels the {} comes out as {without:.4}, with them as {with:.4}, beyond their joint error of {joint_error:.4}",
            if loss == "error" { "token error" } else { "risk a token" }
        ),
        Alarm::AtToken { position, alarm, more: 0 } => format!("token {position}: {}", message(alarm)),
        Alarm::AtToken { position, alarm, more } => {
            format!("token {position}: {} ({more} more like it)", message(alarm))
        }
        _ => in_tokens(&alarm.to_string()),
    }
}

/// What to do about it, in the flags of `triview hmm`.
pub(super) fn remedy(alarm: &Alarm, labelled: bool) -> String {
    let own = match alarm {
        Alarm::EmptyClass { .. } => "merge the state with another, or give sequences in which it occurs",
        Alarm::NotIdentified | Alarm::WeakView { .. } | Alarm::WeakPair { .. } | Alarm::FewRows { .. } => {
            "give more sequences, or merge states that what is before and after a token does not tell apart"
        }
        Alarm::NotFinite | Alarm::OneBlockRules { .. } | Alarm::HeavyTail { .. } => {
            "look for enormous emission scores"
        }
        Alarm::NamingUnclear { .. } => {
            "the model hardly tells some states apart: merge them, or give more sequences"
        }
        Alarm::Dependent { .. } => {
            "emissions or transitions that change along a sequence only make it seem so: --by-position; otherwise states of the model \
             stand for several kinds of tokens"
        }
        Alarm::Impossible { .. } | Alarm::ImpossibleMoments { .. } | Alarm::NegativeRisk { .. } => {
            "what is before and after a token depends on each other given its state"
        }
        Alarm::LabelsUnlikeOthers { .. } => {
            return "label whole sequences that are drawn at random from all".to_owned();
        }
        Alarm::LabelsDisagree { .. } => {
            return "the chain is not as the method takes it to be: rely on the labels".to_owned();
        }
        Alarm::ForbiddenTransitions { .. } => return alarm.remedy().to_owned(),
        Alarm::AtToken { alarm, .. } => return remedy(alarm, labelled),
        _ => "give more sequences",
    };
    match labelled {
        true => own.to_owned(),
        false => format!("{own}; or give the labels of some whole sequences: --label"),
    }
}

/// Where a view of a token is.
fn place(view: &str) -> &'static str {
    match view {
        "past" => "before a token",
        "future" => "after a token",
        _ => "in a token",
    }
}

/// What is said of rows and classes, said of tokens and states; names stay as they are.
pub(super) fn in_tokens(text: &str) -> String {
    let word = |word: &str| -> String {
        let end = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let known = WORDS.iter().find(|(of_tables, _)| *of_tables == end);
        known.map_or(word.to_owned(), |(_, of_tokens)| format!("{of_tokens}{}", &word[end.len()..]))
    };
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => part.split(' ').map(word).collect::<Vec<String>>().join(" "),
        _ => format!("`{part}`"),
    };
    text.split('`').enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Front, Subject};
    use triview::diagnostics::Given;

    const UNLABELLED: Subject = Subject::Sequences { labelled: false };

    fn alarms() -> Vec<Alarm> {
        let given = Given::Class;
        let at = |alarm: Alarm| Alarm::AtToken { position: 3, alarm: Box::new(alarm), more: 2 };
        vec![
            Alarm::EmptyClass { class: "rows".into(), prior: 1e-9 },
            Alarm::WeakView { view: "past".into(), states: 17, given },
            Alarm::WeakPair { views: ["past", "future"].map(String::from), states: 17, given },
            Alarm::OneBlock,
            Alarm::NotConverged,
            Alarm::Dependent { p_value: 0.001, given, missing: false },
            Alarm::NamingUnclear { gap: 0.1, standard_error: 1.0 },
            at(Alarm::FewRows { needed: 1e5, given }),
        ]
    }

    #[test]
    fn alarms_of_sequences_speak_of_tokens_and_of_flags_that_they_have() {
        for alarm in alarms() {
            let (said, remedy) =
                (UNLABELLED.message(&alarm), Front::CommandLine.remedy_of(&alarm, UNLABELLED));
            for of_tables in
                ["row ", "rows ", "class", "view", "--feature-map", "--latent", "triview diagnose"]
            {
                let named = said.replace("`rows`", "");
                assert!(!named.contains(of_tables) && !remedy.contains(of_tables), "{said} {remedy}");
            }
            assert!(remedy.ends_with("--label"), "{remedy}");
            let labelled = Front::Python.remedy_of(&alarm, Subject::Sequences { labelled: true });
            assert!(!labelled.contains("label"), "{labelled}");
        }
        let few = UNLABELLED.message(&alarms()[7]);
        assert_eq!(few, "token 3: about 100000 tokens are needed to tell all states apart (2 more like it)");
    }

    #[test]
    fn names_stay_as_they_are() {
        assert_eq!(
            in_tokens("class `class` has rows, all rows: a row"),
            "state `class` has tokens, all tokens: a token"
        );
    }
}
