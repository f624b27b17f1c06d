//! What can keep triview from answering.

use std::fmt;

/// The result of anything that can be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a question cannot be answered. A fit that ends badly is not among these: it is a
/// [`Status`](crate::estimator::Status) of the result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too few rows have a label.
    #[error(
        "{labels} of the rows have a label, and an interval takes {needed}: label more rows, drawn at random, or leave the labels out"
    )]
    FewLabels {
        /// Rows with a label.
        labels: usize,
        /// Labels that are needed.
        needed: usize,
    },
    /// Fewer than three views.
    #[error(
        "{} view(s) given ({}), three or more are needed, witnesses included: the method rests on three views that are independent given the \
         class",
        views.len(), views.join(", ")
    )]
    ViewCount {
        /// The views there are.
        views: Vec<String>,
    },
    /// More views than are looked at in pairs.
    #[error("{views} views: more than {most} are not supported; choose some of them")]
    TooManyViews {
        /// Views given.
        views: usize,
        /// The most that can be answered.
        most: usize,
    },
    /// A place in a list of groups where a view should stand and none does.
    #[error("group {place} of `{text}` lacks a view; write three groups of views, such as `a+b,c,d+e`")]
    EmptyGroup {
        /// The group, from 1.
        place: usize,
        /// The groups as they were given.
        text: String,
    },
    /// A name in a list of groups that is not a view's.
    #[error("there is no view `{view}` to group; the views are {}", known.join(", "))]
    UnknownView {
        /// The name.
        view: String,
        /// The views there are.
        known: Vec<String>,
    },
    /// A name in a list of numbers of latent states that is not a class's.
    #[error("there is no class `{class}` to have latent states; the classes are {}", known.join(", "))]
    UnknownClass {
        /// The name.
        class: String,
        /// The classes there are.
        known: Vec<String>,
    },
    /// A view that stands twice in a list of groups.
    #[error("view `{view}` is grouped twice; each view belongs to one group")]
    RepeatedView {
        /// The view.
        view: String,
    },
    /// A view that a list of groups forgets.
    #[error("view `{view}` is in no group; name it in one, or leave the view out")]
    UngroupedView {
        /// The view.
        view: String,
    },
    /// Not three groups.
    #[error("`{text}` makes {groups} group(s) of views, three are needed, such as `a+b,c,d+e`")]
    GroupCount {
        /// Groups given.
        groups: usize,
        /// The groups as they were given.
        text: String,
    },
    /// Fewer than two classes.
    #[error("{} class(es) given ({}), at least two are needed", classes.len(), classes.join(", "))]
    ClassCount {
        /// The classes there are.
        classes: Vec<String>,
    },
    /// A name that stands twice.
    #[error("the {kind} `{name}` is given twice; names must differ")]
    DuplicateName {
        /// `view` or `class`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A score that is NaN or infinite; where a model made it while it was adapted, `row` is counted from the first of all rows.
    #[error(
        "row {row} of the batch, view {view}, class {class}: the score is {value}; scores must be finite numbers"
    )]
    NotFinite {
        /// Row within the batch, from 0.
        row: usize,
        /// Position of the view.
        view: usize,
        /// Position of the class.
        class: usize,
        /// The score.
        value: f64,
    },
    /// A view without a feature.
    #[error("view `{view}` has no feature; give it one, or leave the view out")]
    NoFeatures {
        /// The view.
        view: String,
    },
    /// A covariate that is NaN or infinite.
    #[error(
        "row {row} of the batch, view {view}, covariate {covariate}: it is {value}; covariates must be finite numbers"
    )]
    CovariateNotFinite {
        /// Row within the batch, from 0.
        row: usize,
        /// Position of the view.
        view: usize,
        /// Position of the covariate.
        covariate: usize,
        /// The covariate.
        value: f64,
    },
    /// Not as many of something as are needed.
    #[error("{given} {what} are given where {needed} are needed")]
    Shape {
        /// What.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there should be.
        needed: usize,
    },
    /// A label that is no class.
    #[error("row {row} of the batch: the label is class {class}, counted from 0, of {k} classes")]
    LabelOutside {
        /// Row within the batch, from 0.
        row: usize,
        /// The label.
        class: usize,
        /// Classes.
        k: usize,
    },
    /// A prediction that is no probabilities.
    #[error(
        "row {row} of the batch: the prediction {values:?} is no probabilities, each from 0 to 1 and together 1; give those of the model"
    )]
    NotProbabilities {
        /// Row within the batch, from 0.
        row: usize,
        /// What is said of each class.
        values: Vec<f64>,
    },
    /// A chance of a label that is none.
    #[error(
        "row {row} of the batch has a label and {value} for its chance of one: a number above 0 and at most 1 is needed"
    )]
    LabelChance {
        /// Row within the batch, from 0.
        row: usize,
        /// What is said of it.
        value: f64,
    },
    /// A feature that is NaN or infinite.
    #[error(
        "row {row} of the batch, view {view}, feature {feature}: it is {value}; features must be finite numbers"
    )]
    FeatureNotFinite {
        /// Row within the batch, from 0.
        row: usize,
        /// Position of the view.
        view: usize,
        /// Position of the feature.
        feature: usize,
        /// The feature.
        value: f64,
    },
    /// A model with a parameter that is NaN or infinite.
    #[error("the model has a {value} among the parameters of view {view}; train it again")]
    ModelNotFinite {
        /// Position of the view.
        view: usize,
        /// The parameter.
        value: f64,
    },
    /// More covariates than can be used.
    #[error(
        "view `{view}` has {covariates} features beside its scores: at most {most} are used; give fewer, such as their principal \
         components"
    )]
    TooManyCovariates {
        /// The view, or group of views.
        view: String,
        /// Its covariates.
        covariates: usize,
        /// The most that are used.
        most: usize,
    },
    /// More classes than memory can hold.
    #[error("{k} classes: more than {most} are not supported")]
    TooManyClasses {
        /// Classes given.
        k: usize,
        /// The most that can be answered.
        most: usize,
    },
    /// More classes than third moments are formed for.
    #[error(
        "{k} classes: third moments of more than {most} are not formed, so that nothing can be saved, merged, split or label rows; a plain \
         estimate answers from the rows themselves"
    )]
    NoMoments {
        /// Classes given.
        k: usize,
        /// The most that there are moments for.
        most: usize,
    },
    /// More rows than can be kept in memory.
    #[error(
        "{rows} rows of {k} classes: the features of at most {most} are kept in memory; give an even sample of the rows, \
         such as every tenth"
    )]
    TooManyRows {
        /// Rows given.
        rows: u64,
        /// The most that are kept.
        most: u64,
        /// Classes.
        k: usize,
    },
    /// More segments than the moments of which fit in memory.
    #[error(
        "the rows are of more than {most} segments; each needs rows and memory of its own: segment by a column with \
         fewer values, such as the month instead of the day"
    )]
    TooManySegments {
        /// The most that are answered apart.
        most: usize,
    },
    /// Sums that are too large for floating-point numbers.
    #[error(
        "the scores, or the features beside them, are too large: sums of their products overflow; look for enormous ones, or scale all of \
         them down"
    )]
    Overflow,
    /// A loss that is not a finite number for a row.
    #[error(
        "row {}: the {loss} loss of view `{view}` for class `{class}` is {value}; scale the scores down, or take \
         another loss",
        row + 1
    )]
    LossNotFinite {
        /// Name of the loss.
        loss: String,
        /// The row, counted from zero.
        row: u64,
        /// Name of the view.
        view: String,
        /// Name of the class.
        class: String,
        /// What the loss made of its score.
        value: f64,
    },
    /// Too few rows to say anything.
    #[error("{rows} row(s): at least {needed} are needed for {k} classes")]
    TooFewRows {
        /// Rows given.
        rows: u64,
        /// Rows needed.
        needed: u64,
        /// Classes.
        k: usize,
    },
    /// A view that is missing in every row.
    #[error("view `{view}` is missing in every row that was looked at; leave the view out")]
    NeverPresent {
        /// The view.
        view: String,
    },
    /// A witness that has one value, or none.
    #[error(
        "the witness `{witness}` has {}: it tells no classes apart; leave it out",
        value.as_ref().map_or("no two values".into(), |value| format!("the value `{value}` in every row that has one"))
    )]
    ConstantWitness {
        /// The witness.
        witness: String,
        /// Its value.
        value: Option<String>,
    },
    /// A witness of which no value, or hardly any, stands in two rows.
    #[error(
        "the witness `{witness}` has {values} values in {rows} rows: nothing is known of a value that stands in one row; give a column whose \
         values many rows have in common, such as the shop instead of the receipt"
    )]
    WitnessOfRows {
        /// The witness.
        witness: String,
        /// Different values.
        values: u64,
        /// Rows that have one.
        rows: u64,
    },
    /// A witness with fewer values than there are classes.
    #[error(
        "the witness `{witness}` tells {values} values apart, and {k} classes take as many values at least: give a column with more, or \
         group it with a view"
    )]
    FewValues {
        /// The witness, or group of witnesses.
        witness: String,
        /// Its values.
        values: usize,
        /// Classes.
        k: usize,
    },
    /// A witness that says nothing but what a view, the label or another witness says.
    #[error(
        "the witness `{witness}` follows from {of}: it must be independent of it given the class; leave it out"
    )]
    WitnessCopies {
        /// The witness.
        witness: String,
        /// What it follows from, in words.
        of: String,
    },
    /// Witnesses, and no view with scores.
    #[error("there are witnesses ({}) and no view with scores: nothing is judged", witnesses.join(", "))]
    NoScores {
        /// The witnesses.
        witnesses: Vec<String>,
    },
    /// A view whose scores never change.
    #[error(
        "the scores of view `{view}` are constant: it says nothing of the class; leave it out or mend it"
    )]
    ConstantView {
        /// The view.
        view: String,
    },
    /// A view whose scores vary in too few directions to tell the classes apart.
    #[error(
        "the scores of view `{view}` vary in {rank} direction(s) only; telling {k} classes apart takes at least {}",
        k - 1
    )]
    RankDeficientView {
        /// The view.
        view: String,
        /// Directions in which its features vary.
        rank: usize,
        /// Classes.
        k: usize,
    },
    /// More latent states than a view can tell apart.
    #[error(
        "view `{view}` varies in {rank} direction(s) only, and tells at most {} of {states} latent states apart; ask for fewer \
         states, or give it covariates that tell more apart",
        rank + 1
    )]
    TooManyStates {
        /// The view.
        view: String,
        /// Directions in which its features vary.
        rank: usize,
        /// States asked for.
        states: usize,
    },
    /// Two views that determine each other.
    #[error(
        "views `{first}` and `{second}` are copies of each other: they cannot be independent given the class"
    )]
    IdenticalViews {
        /// One view.
        first: String,
        /// The other.
        second: String,
    },
    /// Moments that are not sums of the same things.
    #[error(
        "the moments do not match: {what} is {left} in one and {right} in the other; sum all parts by one plan"
    )]
    PlansDiffer {
        /// What differs.
        what: &'static str,
        /// Its value in the first.
        left: String,
        /// Its value in the second.
        right: String,
    },
    /// Moments, or a plan of them, whose content cannot be.
    #[error("not valid moments: {reason}")]
    InvalidMoments {
        /// What is wrong.
        reason: String,
    },
    /// Bytes that are neither moments nor a plan of them.
    #[error("not moments: {found}")]
    NotMoments {
        /// What was found instead.
        found: &'static str,
    },
    /// Bytes of another version of the format.
    #[error(
        "the moments are of format version {found}, and this program reads version {known}; sum the rows again"
    )]
    OtherVersion {
        /// Their version.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// A loss that could not be read back.
    #[error(
        "the loss `{name}` is one of your own: moments of it can be merged and solved here, but not saved, because nothing in a file \
         could say what it is"
    )]
    UnsavableLoss {
        /// Its name.
        name: String,
    },
    /// A parameter out of its range.
    #[error("{name} is {value}: {expected}")]
    InvalidParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Too few of several independent estimates to see which of them agree.
    #[error(
        "only {solved} of {groups} groups of rows could be solved, and more than half are needed; one could not, because: {reason}"
    )]
    NoMajority {
        /// Groups that were solved.
        solved: usize,
        /// Groups there are.
        groups: usize,
        /// What kept the first of the others from it.
        reason: String,
    },
    /// A seed model that does not break the symmetry between the classes.
    #[error(
        "the seed model is too weak to tell which class is which: the best naming of the classes leads the second-best by \
         {gap:.3}, between {low:.3} and {high:.3}; train another seed with a smaller step \
         or more labels, or give more rows"
    )]
    WeakSeed {
        /// By how much the risk of the second-best naming is larger.
        gap: f64,
        /// The lower end of its interval.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A loss that does not exist.
    #[error("there is no loss `{name}`; known: {}", known.join(", "))]
    UnknownLoss {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A model that is to be judged and is none of the views.
    #[error("there is no view `{view}` to judge; there are {}", views.join(", "))]
    NoSuchModel {
        /// The name given.
        view: String,
        /// The views there are.
        views: Vec<String>,
    },
    /// A loss of the whole prediction where its mean cannot be estimated.
    #[error("the mean of the {loss} loss is not known: {reason}")]
    NoMean {
        /// The loss.
        loss: &'static str,
        /// Why.
        reason: Unmeasured,
    },
    /// Not as many potentials as states need.
    #[error("{given} log potential(s) of {what} given where the states need {needed}")]
    Potentials {
        /// `transitions` or `first states`.
        what: &'static str,
        /// Potentials given.
        given: usize,
        /// Potentials needed.
        needed: usize,
    },
    /// A potential that is not a number, or plus infinity.
    #[error(
        "the log potential from `{from}` to `{to}` is {value}; it must be a finite number, or minus infinity for what cannot be"
    )]
    Potential {
        /// The state before, or `initial`.
        from: String,
        /// The state after.
        to: String,
        /// Its value.
        value: f64,
    },
    /// Every state is forbidden to be the first.
    #[error(
        "the log potential of every first state is minus infinity: no sequence can begin; give one that is finite"
    )]
    NoFirstState,
    /// A state that no transition leads to.
    #[error(
        "no transition leads to state `{state}` and it is no first state: the model can never be in it; leave the state out, or \
         give a finite log potential"
    )]
    UnreachableState {
        /// The state.
        state: String,
    },
    /// States that are not those of the potentials.
    #[error(
        "the emission scores are of the states {}, the potentials of {}; both must have the same names",
        emission.join(", "), potentials.join(", ")
    )]
    OtherStates {
        /// The states of the emission scores.
        emission: Vec<String>,
        /// The states of the potentials.
        potentials: Vec<String>,
    },
    /// An emission score that is NaN or infinite.
    #[error(
        "sequence {sequence} of the batch, token {token}, state {state}: the emission score is {value}; scores must be finite \
         numbers, so give a floor such as -30 to what the model holds impossible"
    )]
    EmissionNotFinite {
        /// Sequence within the batch, from 0.
        sequence: usize,
        /// Token within the sequence, from 0.
        token: usize,
        /// Position of the state.
        state: usize,
        /// The score.
        value: f64,
    },
    /// A sequence that no labelling of finite score fits.
    #[error(
        "sequence {} (of length {length}) has no possible labelling: the transitions that it needs are all minus infinity", sequence + 1
    )]
    ImpossibleSequence {
        /// The sequence, from 0.
        sequence: u64,
        /// Its tokens.
        length: usize,
    },
    /// States that do not occur where states are told apart.
    #[error(
        "the tokens with at least {margin} before and after them are hardly ever in {}, and cannot tell {} apart from the others; leave out \
         states that do not occur, and join sequences (sentences to paragraphs) where states occur at their ends only",
        states.join(", "), if states.len() == 1 { "it" } else { "them" }
    )]
    UnseenStates {
        /// The states.
        states: Vec<String>,
        /// Tokens left out at either end.
        margin: usize,
    },
    /// Too few sequences with labels for an interval.
    #[error(
        "{sequences} sequence(s) of three tokens or more have labels, and an interval takes {needed}: label more whole sequences, drawn at \
         random, or leave the labels out"
    )]
    FewLabelledSequences {
        /// Sequences with labels.
        sequences: usize,
        /// Sequences that are needed.
        needed: usize,
    },
    /// Transitions under which neighbours say nothing of a token.
    #[error(
        "the model's transitions have no memory: what is before and after a token says nothing of its state, and the method rests on \
         it; estimate from three views of each token instead"
    )]
    NoMemory,
    /// No sequence has a token with a past and a future.
    #[error(
        "all {sequences} sequence(s) are shorter than three tokens: a token is told by what is before it, in it and after it"
    )]
    AllTooShort {
        /// Sequences given.
        sequences: u64,
    },
    /// Too few sequences to identify each position by itself.
    #[error(
        "{sequences} sequence(s) are too few to identify states position by position, which takes {needed}; pool the positions"
    )]
    FewAtAPosition {
        /// Sequences of three tokens or more.
        sequences: u64,
        /// Sequences that are needed.
        needed: u64,
    },
    /// An annotator who votes twice on an item.
    #[error("annotator {annotator} votes twice on item {item}, counted from 0; keep one of the two votes")]
    DuplicateVote {
        /// The item, from 0.
        item: usize,
        /// The annotator, from 0.
        annotator: usize,
    },
    /// Fewer than three annotators.
    #[error(
        "{annotators} annotator(s) voted, and three are needed: how often two agree does not say which of them is right"
    )]
    FewAnnotators {
        /// Annotators with a vote.
        annotators: usize,
    },
    /// No item with three votes.
    #[error(
        "none of {items} item(s) has votes of three annotators: how often two agree does not say which of them is right; give \
         items with three votes or more"
    )]
    NoThreeVotes {
        /// Items.
        items: usize,
    },
    /// A class that nobody votes for.
    #[error("nobody votes for class `{class}`: votes cannot tell how often it occurs; leave it out")]
    UnvotedClass {
        /// The class.
        class: String,
    },
    /// More votes, or larger confusion matrices, than there is room for.
    #[error(
        "{votes} votes of {annotators} annotators for {k} classes are too many: one confusion matrix for each annotator does \
         not fit in memory; merge rare classes, or leave out annotators with few votes"
    )]
    TooManyBallots {
        /// Annotators.
        annotators: usize,
        /// Classes.
        k: usize,
        /// Votes.
        votes: usize,
    },
    /// A mistake in triview itself: no input should lead here.
    #[error("internal error: {0}; please report it")]
    Internal(&'static str),
}

impl Error {
    /// Whether data were read, and do not tell classes or states apart: labels of some of them may answer all the same.
    pub fn is_of_identification(&self) -> bool {
        matches!(
            self,
            Error::UnseenStates { .. }
                | Error::NoMemory
                | Error::FewAtAPosition { .. }
                | Error::TooFewRows { .. }
                | Error::ConstantView { .. }
                | Error::RankDeficientView { .. }
                | Error::IdenticalViews { .. }
        )
    }

    /// The same of a batch that so many rows came before.
    #[must_use]
    pub fn after(mut self, rows: usize) -> Self {
        match &mut self {
            Error::NotFinite { row, .. }
            | Error::CovariateNotFinite { row, .. }
            | Error::FeatureNotFinite { row, .. }
            | Error::NotProbabilities { row, .. }
            | Error::LabelChance { row, .. }
            | Error::LabelOutside { row, .. } => *row += rows,
            _ => {}
        }
        self
    }

    /// The same with another number for the row of the data set that it names, if it names one.
    #[must_use]
    pub(crate) fn with_row(mut self, number: impl FnOnce(u64) -> u64) -> Self {
        if let Error::LossNotFinite { row, .. } = &mut self {
            *row = number(*row);
        }
        self
    }
}

/// Why nothing is known of the whole prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unmeasured {
    /// Sums were at hand, and no rows.
    NoRows,
    /// Too few of the rows were sampled.
    FewRows {
        /// Rows in the sample.
        rows: usize,
        /// Rows that are needed.
        needed: u64,
    },
    /// All rows are in one block, so that nothing is known of any error.
    OneBlock,
    /// The rows have other views, classes or covariates than those that were summed.
    OtherRows,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasured::NoRows => {
                f.write_str("it takes rows, and moments have none: estimate from the tables")
            }
            Unmeasured::FewRows { rows, needed } => {
                write!(
                    f,
                    "it takes {needed} rows, and {rows} are in the sample of all rows: estimate from these rows alone"
                )
            }
            Unmeasured::OtherRows => f.write_str(
                "its rows have other views, classes or covariates than those that were summed: sample the rows of the moments",
            ),
            Unmeasured::OneBlock => {
                f.write_str("all rows are in one block: give clusters of fewer rows, or none")
            }
        }
    }
}

impl std::error::Error for Unmeasured {}
