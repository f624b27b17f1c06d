//! Reasons not to trust an answer, with their numbers.

use serde::Serialize;
use std::fmt;

/// What the views are taken to be independent given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// The class.
    Class,
    /// A latent state, of which there are more than classes.
    LatentState,
}

impl Given {
    /// One of them, in words.
    pub fn one(self) -> &'static str {
        match self {
            Given::Class => "class",
            Given::LatentState => "latent state",
        }
    }

    /// All of them, in words.
    pub fn all(self) -> &'static str {
        match self {
            Given::Class => "classes",
            Given::LatentState => "latent states",
        }
    }
}

/// A reason not to trust an answer. What it says in words is its `Display`, and what to do [`Alarm::remedy`]; front ends may say it in
/// words of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Alarm {
    /// Next to no rows are of a class.
    EmptyClass {
        /// The class.
        class: String,
        /// Its prior.
        prior: f64,
    },
    /// Next to no rows are of a latent state.
    EmptyState {
        /// The state, from 1.
        state: usize,
        /// Its prior.
        prior: f64,
    },
    /// No latent state would be called by a class.
    NamelessClass {
        /// The class.
        class: String,
    },
    /// A view that does not tell all classes apart.
    WeakView {
        /// The view, or group of views.
        view: String,
        /// How many have to be told apart.
        states: usize,
        /// What they are.
        given: Given,
    },
    /// Two views that do not agree in as many directions as classes need.
    WeakPair {
        /// The views, or groups of views.
        views: [String; 2],
        /// How many have to be told apart.
        states: usize,
        /// What they are.
        given: Given,
    },
    /// All rows are in one block, so that nothing is known of the error.
    OneBlock,
    /// So few blocks that next to nothing is known of the error.
    FewBlocks {
        /// Blocks that have rows.
        blocks: usize,
    },
    /// The risk is not a finite number.
    NotFinite,
    /// The fit did not converge.
    NotConverged,
    /// The test of independence rejects.
    Dependent {
        /// The chance of what was seen if the views were independent.
        p_value: f64,
        /// What they were taken to be independent given.
        given: Given,
        /// Whether views are missing in some rows.
        missing: bool,
    },
    /// The risk is below the smallest possible loss of the rows.
    Impossible {
        /// The loss.
        loss: String,
        /// Its risk.
        risk: f64,
        /// The smallest possible.
        least: f64,
    },
    /// The answer of the moments alone, before it is shrunk towards the posterior's, is below the smallest possible loss.
    ImpossibleMoments {
        /// The loss.
        loss: String,
        /// Its risk by the moments alone.
        risk: f64,
        /// The smallest possible.
        least: f64,
    },
    /// The risk is outside the range of its loss, though within its error.
    OutsideRange {
        /// The loss.
        loss: String,
        /// Its risk.
        risk: f64,
        /// The smallest that the loss can be.
        low: f64,
        /// The largest; nothing where it has no bound.
        high: Option<f64>,
    },
    /// The interval is so wide that it cannot tell a model from a guess.
    TooWide {
        /// The loss.
        loss: String,
        /// The width of its interval; nothing where it has no end.
        width: Option<f64>,
        /// What scores that say nothing would cost.
        guessing: f64,
    },
    /// So few rows make up the squares of a loss that no rows tell its mean.
    HeavyTail {
        /// The loss.
        loss: String,
        /// About how many rows.
        rows: f64,
    },
    /// One block of rows makes up most of the squared standard error.
    OneBlockRules {
        /// Its share.
        share: f64,
    },
    /// Another feature map says something else.
    OtherFeatures {
        /// The loss.
        loss: String,
        /// What it says of the risk.
        risk: f64,
        /// The standard error of the difference.
        joint_error: f64,
    },
    /// With the views grouped otherwise the risk is another.
    OtherGroups {
        /// The other groups.
        groups: Vec<String>,
        /// The loss.
        loss: String,
        /// Their risk less the risk.
        difference: f64,
        /// The standard error of the difference.
        joint_error: f64,
    },
    /// Another optimum fits as well and says something else.
    OtherOptimum {
        /// The loss.
        loss: String,
        /// What it says of the risk.
        risk: f64,
    },
    /// The best naming of the classes leads the second-best by less than its error.
    NamingUnclear {
        /// Its lead.
        gap: f64,
        /// The standard error of the lead.
        standard_error: f64,
    },
    /// There are too few rows to tell all classes apart.
    FewRows {
        /// About how many it takes.
        needed: f64,
        /// What has to be told apart.
        given: Given,
    },
    /// Most of several groups of rows could not be solved.
    NoMajority {
        /// Groups that were solved.
        solved: usize,
        /// Groups there are.
        groups: usize,
        /// What kept the first of the others from it.
        reason: String,
    },
    /// Rows that have labels are unlike the others.
    LabelsUnlikeOthers {
        /// By how many standard errors.
        z: f64,
    },
    /// Labels call the classes by other names.
    NamesContradicted,
    /// With labels the risk is another than without.
    LabelsDisagree {
        /// The loss.
        loss: String,
        /// The risk without labels.
        without: f64,
        /// The risk with them.
        with: f64,
        /// The standard error of the difference.
        joint_error: f64,
    },
    /// Sequences do not identify the states of a chain.
    NotIdentified,
    /// The risk of a labelling of sequences is below zero.
    NegativeRisk {
        /// The risk.
        risk: f64,
    },
    /// The model forbids transitions that occur.
    ForbiddenTransitions {
        /// Their share of all transitions.
        share: f64,
    },
    /// What is wrong at one position of sequences.
    AtToken {
        /// The position, from 1.
        position: usize,
        /// What is wrong there.
        alarm: Box<Alarm>,
        /// At how many more positions something like it is wrong.
        more: usize,
    },
    /// EM did not converge.
    EmNotConverged {
        /// Its iterations.
        iterations: usize,
    },
    /// Next to no items are of a class.
    FewItemsOfClass {
        /// The class.
        class: String,
        /// About how many.
        items: f64,
    },
    /// Too few items have three votes.
    FewThreeVotes {
        /// Items with three votes or more.
        items: usize,
        /// How many are needed.
        needed: usize,
        /// Classes that have to be told apart.
        classes: usize,
    },
    /// Pairs of annotators depend on each other given the class.
    DependentAnnotators {
        /// Pairs that do.
        pairs: usize,
        /// Pairs that were tested.
        tested: usize,
    },
    /// Annotators err together: all of them at once show what no pair does.
    CommonErrors {
        /// The chance of what was seen if they erred independently given the class.
        p_value: f64,
    },
    /// So few annotators that nothing tells whether they err independently.
    UntestableVotes {
        /// How many they are.
        annotators: usize,
    },
    /// Next to no items whose class is known.
    FewGold {
        /// How many.
        items: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Items of a class have more votes for another.
    OutvotedClass {
        /// The class.
        class: String,
        /// The one that its items have more votes for.
        votes_for: String,
    },
    /// The best naming of the classes that annotators vote for leads the second-best by less than its error.
    AnnotatorsUnclear {
        /// Its lead.
        gap: f64,
        /// The standard error of the lead.
        standard_error: f64,
    },
    /// Another crowd fits as well, with another error rate.
    OtherCrowd {
        /// Its error rate less the one that is given.
        difference: f64,
    },
}

/// A number with four decimals, or with an exponent where it is enormous: a score of 1e300 has 301 digits.
struct Short(f64);

/// From here on a number is written with an exponent.
const ENORMOUS: f64 = 1e7;

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.abs() < ENORMOUS, f.sign_plus()) {
            (true, true) => write!(f, "{:+.4}", self.0),
            (true, false) => write!(f, "{:.4}", self.0),
            (false, true) => write!(f, "{:+.2e}", self.0),
            (false, false) => write!(f, "{:.2e}", self.0),
        }
    }
}

/// The same without decimals.
struct Whole(f64);

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.abs() < ENORMOUS { write!(f, "{:.0}", self.0) } else { write!(f, "{:.1e}", self.0) }
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alarm::EmptyClass { class, prior } => {
                write!(f, "class `{class}` has a prior of {prior:.2e}: next to no rows are its own")
            }
            Alarm::EmptyState { state, prior } => {
                write!(f, "latent state {state} has a prior of {prior:.2e}: next to no rows are its own")
            }
            Alarm::NamelessClass { class } => {
                write!(f, "class `{class}` is the best name of no latent state")
            }
            Alarm::WeakView { view, states, given } => {
                write!(f, "view `{view}` does not tell all {states} {} apart", given.all())
            }
            Alarm::WeakPair { views: [a, b], states, given } => write!(
                f,
                "views `{a}` and `{b}` agree in fewer than {} directions: not all {states} {} are told apart",
                states - 1,
                given.all()
            ),
            Alarm::OneBlock => f.write_str("all rows are in one block, so nothing is known of the error"),
            Alarm::FewBlocks { blocks } => {
                write!(f, "the rows are in {blocks} blocks, so next to nothing is known of the error")
            }
            Alarm::NotFinite => f.write_str("the risk is not a finite number"),
            Alarm::NotConverged => f.write_str("the fit did not converge"),
            Alarm::Dependent { p_value, given, .. } => {
                write!(f, "the views are not independent given the {} (p = {p_value:.3})", given.one())
            }
            Alarm::Impossible { loss, risk, least } => write!(
                f,
                "the {loss} risk {} is below the smallest possible loss of these rows, {}",
                Short(*risk),
                Short(*least)
            ),
            Alarm::ImpossibleMoments { loss, risk, least } => write!(
                f,
                "the moments alone say {} of the {loss} risk, which is below the smallest possible loss of these rows, {}",
                Short(*risk),
                Short(*least)
            ),
            Alarm::OutsideRange { loss, risk, low, high } => {
                let beyond = if risk < low { "below" } else { "above" };
                let end = high.filter(|_| risk >= low).unwrap_or(*low);
                write!(
                    f,
                    "the {loss} risk comes out as {}, {beyond} {}, which no {loss} loss is",
                    Short(*risk),
                    Short(end)
                )
            }
            Alarm::TooWide { loss, width, guessing } => {
                match width {
                    Some(width) => write!(f, "the interval of the {loss} risk is {} wide", Short(*width))?,
                    None => write!(f, "the interval of the {loss} risk has no end")?,
                }
                write!(f, ": it cannot tell the model from one that guesses, at {}", Short(*guessing))
            }
            Alarm::HeavyTail { loss, rows } => write!(
                f,
                "about {} of the rows make up the squares of the {loss} loss: its tail is so heavy that its variance may \
                 be infinite, and neither these rows nor their labels tell its mean",
                Whole(*rows)
            ),
            Alarm::OneBlockRules { share } => write!(
                f,
                "a single block of rows makes up {:.0}% of the squared standard error",
                100.0 * share
            ),
            Alarm::OtherFeatures { loss, risk, joint_error } => write!(
                f,
                "another feature map says {} of the {loss} risk, beyond their joint error of {}",
                Short(*risk),
                Short(*joint_error)
            ),
            Alarm::OtherGroups { groups, loss, difference, joint_error } => write!(
                f,
                "with the views grouped into {} the {loss} risk is {:+} off, beyond the joint error of {}",
                groups.join(", "),
                Short(*difference),
                Short(*joint_error)
            ),
            Alarm::OtherOptimum { loss, risk } => {
                write!(f, "another optimum fits as well and says {} of the {loss} risk", Short(*risk))
            }
            Alarm::NamingUnclear { .. } | Alarm::AnnotatorsUnclear { .. } => {
                f.write_str("the best naming of the classes leads the second-best by less than its error")
            }
            Alarm::FewRows { needed, given } => {
                write!(f, "about {} rows are needed to tell all {} apart", Whole(*needed), given.all())
            }
            Alarm::NoMajority { solved, groups, reason } => write!(
                f,
                "only {solved} of {groups} groups of rows could be solved, and more than half are needed; one could not, because: \
                 {reason}"
            ),
            Alarm::LabelsUnlikeOthers { z } => write!(
                f,
                "the labelled rows are unlike the others: what the scores say of them is {z:.1} standard errors off"
            ),
            Alarm::NamesContradicted => {
                f.write_str("the labels call the classes by other names than the scores do")
            }
            Alarm::LabelsDisagree { loss, without, with, joint_error } => write!(
                f,
                "without labels the {loss} risk comes out as {}, with them as {}, beyond their joint error of {}",
                Short(*without),
                Short(*with),
                Short(*joint_error)
            ),
            Alarm::NotIdentified => f.write_str(
                "the sequences do not identify the states: what is shown is the model's own belief, and intervals are all that is possible",
            ),
            Alarm::NegativeRisk { risk } => {
                write!(f, "the risk {} of a sequence is below zero, which no labelling's is", Short(*risk))
            }
            Alarm::ForbiddenTransitions { share } => write!(
                f,
                "the model forbids {:.2}% of the transitions that occur: its risk is infinite, and what is shown leaves them out",
                100.0 * share
            ),
            Alarm::AtToken { position, alarm, more: 0 } => write!(f, "token {position}: {alarm}"),
            Alarm::AtToken { position, alarm, more } => {
                write!(f, "token {position}: {alarm} ({more} more like it)")
            }
            Alarm::EmNotConverged { iterations } => {
                write!(f, "EM did not converge in {iterations} iterations")
            }
            Alarm::FewItemsOfClass { class, items } => {
                write!(f, "class `{class}` has {items:.1} items: next to none are its own")
            }
            Alarm::FewThreeVotes { items, needed, classes } => write!(
                f,
                "only {items} items have three votes or more, and {needed} are needed to tell {classes} classes apart"
            ),
            Alarm::CommonErrors { p_value } => write!(
                f,
                "annotators err together on the same items (p {}): more labels are wrong than votes can show",
                if *p_value < 0.001 { "< 0.001".to_owned() } else { format!("= {p_value:.3}") }
            ),
            Alarm::UntestableVotes { annotators } => write!(
                f,
                "nothing tells whether {annotators} annotators err independently: more labels may be wrong than votes can show"
            ),
            Alarm::FewGold { items, needed } => {
                write!(f, "{items} items of known class say next to nothing: about {needed} are needed")
            }
            Alarm::DependentAnnotators { pairs, tested } => write!(
                f,
                "{pairs} of {tested} pairs of annotators depend on each other given the class: labels are wrong more often than estimated"
            ),
            Alarm::OutvotedClass { class, votes_for } => {
                write!(f, "items of class `{class}` have more votes for `{votes_for}` than for it")
            }
            Alarm::OtherCrowd { difference } => {
                write!(f, "another crowd fits as well, with an error rate that is {difference:+.4} off")
            }
        }
    }
}

impl Alarm {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Alarm::EmptyClass { .. } => "leave the class out, or give rows in which it occurs",
            Alarm::EmptyState { .. } => "ask for fewer latent states",
            Alarm::NamelessClass { .. } => "ask for another number of latent states, or leave the class out",
            Alarm::WeakView { given: Given::LatentState, .. }
            | Alarm::WeakPair { given: Given::LatentState, .. } => {
                "give more rows, stronger views, or ask for fewer latent states"
            }
            Alarm::WeakView { .. } | Alarm::WeakPair { .. } | Alarm::FewRows { .. } => {
                "give more rows, stronger views, or merge classes that a view cannot tell apart"
            }
            Alarm::OneBlock | Alarm::FewBlocks { .. } => "give clusters of fewer rows, or none",
            Alarm::NotFinite => "look for enormous scores, or try softmax features",
            Alarm::NotConverged => "give more rows, or try softmax features",
            Alarm::Dependent { given: Given::LatentState, .. } => "ask for more latent states",
            Alarm::Dependent { missing: true, .. } => {
                "views that are missing together depend on each other, and so do those of a table without the rows that lack \
                 every view; otherwise replace one of the views that a diagnosis shows, or cut them so that they share no noise"
            }
            Alarm::Dependent { .. } => {
                "see which views depend on each other: replace one, or cut them so that they share no noise"
            }
            Alarm::Impossible { .. } | Alarm::ImpossibleMoments { .. } => {
                "the views depend on each other: a diagnosis may show which"
            }
            Alarm::OutsideRange { .. } => {
                "give more rows: the risk is too small to be told from none; otherwise the views depend on each other"
            }
            Alarm::TooWide { .. } => {
                "give more rows or stronger views, or the labels of some rows, which hold whatever the views do"
            }
            Alarm::HeavyTail { .. } => {
                "scale the scores down, centre them over the classes, or take another loss"
            }
            Alarm::OneBlockRules { .. } => {
                "look for enormous scores, or see what most of several groups of rows agree on"
            }
            Alarm::OtherFeatures { .. } => "the views may depend on each other: a diagnosis may show which",
            Alarm::OtherGroups { .. } => {
                "views that depend on each other are in different groups: put what shares noise into one"
            }
            Alarm::OtherOptimum { .. } => "give more rows: these do not decide between the two",
            Alarm::NamingUnclear { .. } => {
                "the model hardly tells some classes apart: merge them, or give more rows"
            }
            Alarm::NoMajority { .. } => "ask for fewer groups of rows, or give more rows",
            Alarm::LabelsUnlikeOthers { .. } => "label rows that are drawn at random from all rows",
            Alarm::NamesContradicted => {
                "see whether the classes of the scores, or those of the labels, are mixed up"
            }
            Alarm::LabelsDisagree { .. } => "the views depend on each other: rely on the labels",
            Alarm::NotIdentified => {
                "give more sequences, or merge states that what is before and after a token does not tell apart"
            }
            Alarm::NegativeRisk { .. } => {
                "what is before and after a token may depend on each other given its state"
            }
            Alarm::ForbiddenTransitions { .. } => {
                "give every transition that can occur a finite log potential"
            }
            Alarm::AtToken { alarm, .. } => alarm.remedy(),
            Alarm::EmNotConverged { .. } => "give more items or votes",
            Alarm::FewItemsOfClass { .. } => "leave the class out, or give items in which it occurs",
            Alarm::FewThreeVotes { .. } => "give more items with at least three votes",
            Alarm::CommonErrors { .. } | Alarm::UntestableVotes { .. } => {
                "give the class of some items, drawn at random, as gold: 20 tell much, 50 more"
            }
            Alarm::FewGold { .. } => "give the class of more items, drawn at random",
            Alarm::DependentAnnotators { .. } => {
                "leave out annotators who copy; where most pairs depend on each other, items differ in difficulty, and only labels will tell"
            }
            Alarm::OutvotedClass { .. } => {
                "its name may be another's: check some of its items by hand, or merge the two"
            }
            Alarm::AnnotatorsUnclear { .. } => {
                "the annotators hardly tell some classes apart: merge them, or give more votes"
            }
            Alarm::OtherCrowd { .. } => "give more votes: these do not decide between the two",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enormous_numbers_have_few_digits() {
        let loss = || "log".to_owned();
        let alarms = [
            Alarm::Impossible { loss: loss(), risk: -1e300, least: 1e300 },
            Alarm::OtherFeatures { loss: loss(), risk: 1e300, joint_error: 1e299 },
            Alarm::OtherGroups { groups: Vec::new(), loss: loss(), difference: -1e300, joint_error: 1e300 },
            Alarm::FewRows { needed: 1e27, given: Given::Class },
            Alarm::HeavyTail { loss: loss(), rows: 1e300 },
            Alarm::TooWide { loss: loss(), width: Some(1e300), guessing: 1.0 },
        ];
        for alarm in alarms {
            assert!(alarm.to_string().len() < 200, "{alarm}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_told_by_its_number() {
        let outside =
            |risk, high| Alarm::OutsideRange { loss: "log".into(), risk, low: 0.0, high }.to_string();
        assert!(outside(-0.019, None).contains("-0.0190, below 0.0000"));
        assert!(outside(3.25, Some(3.0)).contains("3.2500, above 3.0000"));
    }
}
