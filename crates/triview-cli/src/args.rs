//! What can be asked on the command line.

use crate::label_args::{CompareArgs, FewLabelsArgs, LabelArgs, VoteArgs};
use crate::learning_args::{AdaptArgs, ReproduceArgs, ScoreArgs, TrainArgs};
use crate::monitor_args::MonitorArgs;
use crate::picture_args::PictureArgs;
use crate::progress::Listener;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::sync::Arc;
use triview::estimator::{Estimator, Params};
use triview::features::FeatureChoice;
use triview::lab::Preset;
use triview::latent::Latent;
use triview::loss;
use triview_report::words::Front;
use triview_table::{ClassPattern, Input, Keep, Memory, Origin, Pattern, Period, ReadOptions};

/// What the short help ends with: it leaves out what few ask for.
pub(crate) const MORE: &str = "All options, with examples: --help";

/// How wrong is a model on data without labels?
#[derive(Debug, Parser)]
#[command(name = "triview", version, arg_required_else_help = true, max_term_width = 100)]
#[command(long_about = "How wrong is a model on data without labels?\n\n\
    Takes a table of scores: three views of each example that are independent given its class (or more, which are \
    grouped into three), each with one score a class. Answers with the risk of the model on those rows, and needs no labels for it.\n\n\
    Exit status: 0 answered; 1 answered, but a diagnostic says not to trust it; 2 could not answer.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview demo\n  \
    triview simulate -o scores.parquet\n  \
    triview estimate scores.parquet")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Default, Args)]
pub(crate) struct Global {
    /// Threads to work with [default: one for each core]; the answer is the same for any number
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    pub(crate) threads: Option<u16>,
    /// Seed of everything random: same input and same seed, same answer
    #[arg(long, global = true, value_name = "S", default_value_t = 0, hide_short_help = true)]
    pub(crate) seed: u64,
    /// The most memory that decoding may take [default: 2GiB]; a file that takes more is refused
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true)]
    pub(crate) memory: Option<Memory>,
    /// Neither notes nor progress on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// What was asked, as it can be asked again.
    #[arg(skip)]
    pub(crate) command: String,
    /// Whose words answers are in.
    #[arg(skip)]
    pub(crate) front: Front,
    /// Who is told how far the work is, in place of the terminal.
    #[arg(skip)]
    pub(crate) listener: Option<Arc<dyn Listener>>,
}

/// The verbs. What each does is said by its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Estimate(EstimateArgs),
    Diagnose(DiagnoseArgs),
    Compare(CompareArgs),
    Label(LabelArgs),
    Moments(MomentsArgs),
    Inspect(InspectArgs),
    Monitor(Box<MonitorArgs>),
    Hmm(HmmArgs),
    Train(TrainArgs),
    Score(ScoreArgs),
    Adapt(AdaptArgs),
    Simulate(SimulateArgs),
    Demo(DemoArgs),
    Reproduce(ReproduceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Estimate the risk from unlabelled scores
#[derive(Debug, Args)]
#[command(long_about = "Estimate the risk from unlabelled scores.\n\n\
    A score table has columns `view:class` (`image:cat`, `image:dog`, `text:cat`, ...) or one list column a view. \
    CSV, Parquet, Arrow IPC and NPY are told apart by the file's ending; several files make one data set. Other \
    columns are ignored. A view without any score in a row is missing in it. Moments made by `triview moments` are taken in place of tables.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview estimate scores.parquet\n  \
    triview estimate --views image,text,audio --input probability monday.csv tuesday.csv\n  \
    triview estimate --group title+body,image,audio articles.parquet\n  \
    triview estimate --by month scores.parquet\n  \
    triview estimate --latent auto scores.parquet\n  \
    triview estimate --latent complaint=2,praise=1 scores.parquet\n  \
    triview estimate --metrics scores.parquet\n  \
    triview estimate --model image scores.parquet\n  \
    triview estimate --model image --witness hospital scores.parquet\n  \
    triview estimate --each --svg models.svg scores.parquet\n  \
    triview estimate --prediction 'p:*' scores.parquet\n  \
    triview estimate --by month --report risk.html scores.parquet\n  \
    triview estimate --label digit scores.parquet\n  \
    triview estimate --label digit --label-budget 0.02 --label-rows next.csv scores.parquet\n  \
    triview estimate --label digit --by month --each scores.parquet\n  \
    triview estimate --votes crowd.csv\n  \
    triview estimate --votes crowd.csv --gold known.csv\n  \
    triview estimate --json scores.csv | jq .risk\n  \
    zcat scores.csv.gz | triview estimate -\n  \
    triview estimate part1.moments part2.moments")]
pub(crate) struct EstimateArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Also the Brier score, hinge loss, calibration error, macro F1, AUC and confusion matrix
    #[arg(long)]
    pub(crate) metrics: bool,
    /// Also judge every view as a model of its own, and compare them
    #[arg(long)]
    pub(crate) each: bool,
    /// Also judge another model's probabilities, in columns of these names: 'p:*', one a class for which the star stands
    ///
    /// It may be no sum of views, such as an average of probabilities or a joint network. Its columns are never views.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub(crate) prediction: Option<ClassPattern>,
    /// Also answer for each value of this column on its own
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// By the hour, day, week or month of --by's column of times, or by so many units of a number
    #[arg(long, value_name = "PERIOD", requires = "by", hide_short_help = true)]
    pub(crate) period: Option<Period>,
    /// Also tau, singular values, distances and the fit: how well it is known
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Votes instead of scores: hard predictions, or the labels of a crowd's annotators
    ///
    /// One row a vote (columns item, annotator, vote) or one row an item (a column of classes for each annotator, empty where it did not
    /// vote).
    #[arg(long, conflicts_with_all = ["metrics", "each", "prediction", "model", "by", "amplify", "save_posterior", "features", "input", "witness", "cluster", "group", "loss", "feature_map", "latent"])]
    pub(crate) votes: bool,
    #[command(flatten)]
    pub(crate) crowd: VoteArgs,
    /// For scores with a few enormous values: also the risk that most of so many groups of rows agree on
    #[arg(long, value_name = "GROUPS", hide_short_help = true)]
    pub(crate) amplify: Option<usize>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    /// Also write the feature map of a second pass, for `moments --posterior`
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) save_posterior: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) labels: FewLabelsArgs,
}

/// Test whether the views are independent given the class
#[derive(Debug, Args)]
#[command(long_about = "Test whether the views are independent given the class.\n\n\
    The estimate rests on it: views that depend on each other within a class make the risk look smaller than it is. \
    Shows which pair of views depends on each other, within which class and how strongly, so that one knows what to \
    drop or regroup, and how hard the classes are to tell apart. Exit status 1 when something speaks against the \
    estimate.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview diagnose scores.parquet\n  \
    triview diagnose scores.parquet --report views.html --svg dependence.svg\n  \
    triview diagnose scores.parquet --remedies\n  \
    triview diagnose part1.moments part2.moments --json | jq .independence.p_value")]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Also try what may help where the views depend on each other: other groups, a view fewer, more latent states, a column for a witness; and
    /// say what labels would cost
    ///
    /// Each is an estimate of all rows. No more are begun after a minute, or thirty times as long as the estimate takes.
    #[arg(long)]
    pub(crate) remedies: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
}

/// Turn a table into its moments, which are small and can be merged with others
#[derive(Debug, Args)]
#[command(long_about = "Turn a table into its moments, which are small and can be merged with others.\n\n\
    Moments are sums over blocks of rows: three megabytes for ten classes, however many the rows, and less for few rows. \
    Those of parts of a data set, made with --like one of them, give together the answer of the whole.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview moments monday.parquet -o monday.moments\n  \
    triview moments tuesday.parquet --like monday.moments -o tuesday.moments\n  \
    triview estimate monday.moments tuesday.moments\n\n\
    A second pass over the same parts, with features fitted to the first:\n  \
    triview estimate monday.moments tuesday.moments --save-posterior week.posterior\n  \
    triview moments monday.parquet --posterior week.posterior -o monday2.moments")]
pub(crate) struct MomentsArgs {
    /// Score tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The file to write
    #[arg(long, short, value_name = "MOMENTS")]
    pub(crate) output: PathBuf,
    /// Also sum what judging every view as a model of its own takes
    #[arg(long)]
    pub(crate) each: bool,
    /// Use the views, groups, classes, loss and feature map of these moments, so that the two can be merged
    #[arg(long, value_name = "MOMENTS", conflicts_with_all = ["posterior", "feature_map", "loss", "group", "latent", "model", "each"])]
    pub(crate) like: Option<PathBuf>,
    /// Use the feature map that `estimate --save-posterior` wrote
    #[arg(long, value_name = "FILE", conflicts_with_all = ["feature_map", "loss", "group", "latent", "model", "each"])]
    pub(crate) posterior: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}

/// Show what moments or a model hold
#[derive(Debug, Args)]
#[command(after_help = MORE, after_long_help = "Example:\n  triview inspect monday.moments")]
pub(crate) struct InspectArgs {
    /// Moments, a model, or a feature map that `estimate --save-posterior` wrote
    #[arg(value_name = "MOMENTS|MODEL")]
    pub(crate) input: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Estimate the risk of a sequence model: a hidden Markov model or a linear CRF
#[derive(Debug, Args)]
#[command(
    long_about = "Estimate the risk of a sequence model, a hidden Markov model or a linear CRF, from unlabelled sequences.\n\n\
    A table of sequences has one row a token: the columns `sequence`, `position` and one `emission:<state>` for each state with the \
    model's emission score (a log potential, log p(x | state) of a hidden Markov model). A sequence's rows lie together, ordered by \
    position. CSV, Parquet and Arrow IPC are told apart by the file's ending; other columns are ignored. The transition file is CSV \
    with the states' names in its header and first column, row the state before, column the state after, log potentials (-inf for what \
    cannot be), and optionally a row `initial`.\n\n\
    Answers with the risk of the labelling, -log p(labels | sequence), its emission and transition parts, the per-token error of the \
    Viterbi and of the posterior decoding, and how often states and transitions truly occur, all without labels. Needs chains with \
    memory: where the tokens before and after one say nothing of its state, nothing is identified, and the answer says so. With \
    --label, a column with the true states of some whole sequences and empty elsewhere, the risk and the token error have intervals \
    that hold whatever the chain does; they come first where the answer without labels is not to be trusted."
)]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview simulate --hmm -o chains.parquet\n  \
    triview hmm chains.parquet --transition transition.csv\n  \
    triview hmm chains.parquet --transition transition.csv --label state\n  \
    triview hmm chains.parquet --transition transition.csv --output labels.parquet\n  \
    triview hmm chains.parquet --transition transition.csv --adapt --output better.csv --save-transition adapted.csv")]
pub(crate) struct HmmArgs {
    /// Tables of sequences; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The model's log potentials of transitions
    #[arg(long, short, value_name = "FILE")]
    pub(crate) transition: PathBuf,
    /// A column with the true states of some whole sequences, drawn at random, and empty elsewhere: ten at the least, fifty say much
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Identify the states at each position by itself, for sequences whose emissions or transitions change along the way; it
    /// takes fifty sequences a state, and more for narrow intervals
    #[arg(long, hide_short_help = true)]
    pub(crate) by_position: bool,
    /// Also write each token's Viterbi state and posterior: .csv, .parquet or .arrow
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Label with the model that the data suggest, re-estimated without labels, instead of the given one; nothing is written where it
    /// cannot be told to be better
    #[arg(long, requires = "output")]
    pub(crate) adapt: bool,
    /// Also write the log probabilities of transitions of the model that the data suggest, where it can be told to be better
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) save_transition: Option<PathBuf>,
    /// Write what the model that the data suggest says even where it cannot be told to be better
    #[arg(long, hide_short_help = true)]
    pub(crate) force: bool,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make a score table whose true risk is known
#[derive(Debug, Args)]
#[command(long_about = "Make a score table whose true risk is known.\n\n\
    Writes the scores with a `label` column that `estimate` ignores, and beside it `scores.truth.json` with the risk that the \
    labels give, its standard error, the error rate, the class prior and the conditional risk matrices.")]
#[command(after_help = MORE, after_long_help = "Example:\n  \
    triview simulate --classes 6 --rows 100000 -o scores.parquet\n  \
    triview estimate scores.parquet\n  \
    jq '.risk, .standard_error' scores.truth.json\n\n\
    A crowd, with spammers among the annotators:\n  \
    triview simulate --crowd --classes 4 --annotators 100 -o votes.csv\n  \
    triview estimate --votes votes.csv")]
pub(crate) struct SimulateArgs {
    /// The setting to draw from
    #[arg(long, value_name = "NAME", value_parser = presets())]
    pub(crate) preset: Option<Preset>,
    /// Number of views, named a, b, c, ... [default: three]
    #[arg(long, value_name = "V", value_parser = clap::value_parser!(u16).range(3..=64))]
    pub(crate) views: Option<u16>,
    /// Number of classes [default: the preset's]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(2..=1000), hide_short_help = true)]
    pub(crate) classes: Option<u16>,
    /// Share of the rows in which the first two views depend on each other
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_short_help = true)]
    pub(crate) shared: f64,
    /// Share of the rows that are hard in all views at once, or of a crowd's items that are hard for everybody
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, conflicts_with = "hmm", hide_short_help = true)]
    pub(crate) hard: f64,
    /// Number of subclasses of each class, which the model does not know: given the class the views then depend on each
    /// other [default: the preset's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100), hide_short_help = true)]
    pub(crate) subclasses: Option<u16>,
    /// Probability of each view to be missing in a row
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_short_help = true)]
    pub(crate) missing: f64,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,
    /// The loss whose mean the truth is
    #[arg(long, value_name = "NAME", value_parser = losses())]
    pub(crate) loss: Option<String>,
    /// The votes of a crowd instead, one row a vote; --rows is then the number of items
    #[arg(long, conflicts_with_all = ["hmm", "preset", "views", "loss", "subclasses"])]
    pub(crate) crowd: bool,
    /// Number of annotators
    #[arg(long, value_name = "N", default_value_t = 50, requires = "crowd", value_parser = clap::value_parser!(u32).range(3..), hide_short_help = true)]
    pub(crate) annotators: u32,
    /// Votes an item
    #[arg(long, value_name = "N", default_value_t = 5, requires = "crowd", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) votes: u32,
    /// Share of annotators whose votes have nothing to do with the class
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, requires = "crowd", hide_short_help = true)]
    pub(crate) spammers: f64,
    /// Share of annotators who mostly vote for another class
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, requires = "crowd", hide_short_help = true)]
    pub(crate) adversaries: f64,
    /// Number of annotators who copy half of their votes from another
    #[arg(long, value_name = "N", default_value_t = 0, requires = "crowd", hide_short_help = true)]
    pub(crate) copiers: u32,
    /// Sequences of a hidden Markov model instead; --classes is then the number of states
    #[arg(long)]
    pub(crate) hmm: bool,
    /// Number of sequences
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "hmm", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sequences: u64,
    /// Length of the shortest sequence
    #[arg(long, value_name = "N", default_value_t = 5, requires = "hmm", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) shortest: u32,
    /// Length of the longest sequence
    #[arg(long, value_name = "N", default_value_t = 200, requires = "hmm", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) longest: u32,
    /// Probability to stay in a state
    #[arg(long, value_name = "P", default_value_t = 0.6, requires = "hmm", hide_short_help = true)]
    pub(crate) stay: f64,
    /// Where to write the transitions [default: transition.csv beside the table]
    #[arg(long, value_name = "FILE", requires = "hmm", hide_short_help = true)]
    pub(crate) transition: Option<PathBuf>,
    /// The score table to write: .csv, .parquet, .arrow or .npy
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Where to write the truth [default: beside the table, .truth.json for its ending]
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
}

/// Watch it work: train on digits, shift them, compare the estimate with the truth
#[derive(Debug, Args)]
#[command(
    long_about = "Watch it work: train on digits, shift them, compare the estimate with the truth.\n\n\
    Trains a logistic model on composites of handwritten digits, then darkens their rims more and more. At each \
    step it shows the true risk, which takes labels, beside three numbers that take none: the estimate, the \
    risk measured before the shift, and the model's own entropy. Draws the four curves as an SVG, and a page with them."
)]
#[command(after_help = MORE, after_long_help = "Example:\n  triview demo --svg digits.svg --report digits.html")]
pub(crate) struct DemoArgs {
    /// Where to draw the four curves
    #[arg(long, value_name = "FILE", default_value = "triview-demo.svg")]
    pub(crate) svg: PathBuf,
    /// Where to write the page to look at
    #[arg(long, value_name = "FILE", default_value = "triview-demo.html")]
    pub(crate) report: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print what completes commands and options in a shell
#[derive(Debug, Args)]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview completions bash > ~/.local/share/bash-completion/completions/triview\n  \
    triview completions zsh > ~/.zfunc/_triview\n  \
    triview completions fish > ~/.config/fish/completions/triview.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Write the manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = MORE, after_long_help = "Example:\n  triview man -o ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder to write them to, which is made if it is not there
    #[arg(long, short, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
}

/// What to answer from, and how.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Score tables or moments, not both; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE|MOMENTS")]
    pub(crate) inputs: Vec<Origin>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}

/// What rows are answered by: the values of a column, or its periods of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By<'a> {
    pub(crate) column: &'a str,
    pub(crate) period: Option<Period>,
}

/// How a table is to be read.
#[derive(Debug, Clone, Args)]
pub(crate) struct TableArgs {
    /// How the columns of scores are named, such as '{view}_{class}' [default: {view}:{class}]
    #[arg(long, value_name = "PATTERN", help_heading = "Reading tables")]
    pub(crate) columns: Option<Pattern>,
    /// The views to use, three or more [default: all]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = trimmed, help_heading = "Reading tables")]
    pub(crate) views: Option<Vec<String>>,
    /// The classes, in the order of list columns or of the answer [default: the first view's]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = trimmed, help_heading = "Reading tables", hide_short_help = true)]
    pub(crate) classes: Option<Vec<String>>,
    /// Columns view:feature that are no scores but tell latent states of a view apart that its scores do not, with or without
    /// their view, or by how they begin: blur,text:length,x*
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = trimmed, help_heading = "Reading tables", hide_short_help = true)]
    pub(crate) features: Option<Vec<String>>,
    /// Columns without scores that tell classes apart by how their values are distributed, such as a hospital, a shop or a week: each is a
    /// view that identifies and is not judged
    ///
    /// Given the class it must have nothing to do with the other views, and it needs as many values as there are classes. Two views and one
    /// witness are enough. Rare values are taken as one, and many numbers are cut into bins.
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = trimmed, help_heading = "Reading tables", hide_short_help = true)]
    pub(crate) witness: Option<Vec<String>>,
    /// What the numbers are [default: score]
    ///
    /// Without it numbers that look like probabilities are refused, with it they are taken as said.
    #[arg(long, value_name = "KIND", help_heading = "Reading tables")]
    pub(crate) input: Option<InputKind>,
    /// Rows with the same value in this column depend on each other (a day, a user, a document)
    #[arg(long, value_name = "COLUMN", help_heading = "Reading tables", hide_short_help = true)]
    pub(crate) cluster: Option<String>,
}

impl TableArgs {
    /// The same for the readers, with the column that tells segments apart.
    pub(crate) fn read_options(&self, by: Option<By<'_>>) -> ReadOptions {
        ReadOptions {
            columns: self.columns.clone(),
            views: self.views.clone(),
            classes: self.classes.clone(),
            input: match self.input {
                Some(InputKind::Probability) => Input::Probability,
                Some(InputKind::Score) => Input::Score,
                None => Input::Unsaid,
            },
            features: self.features.clone().unwrap_or_default(),
            witnesses: self.witness.clone().unwrap_or_default(),
            witnessed: Vec::new(),
            cluster: self.cluster.clone(),
            prediction: None,
            segment: by.map(|by| by.column.to_owned()),
            period: by.and_then(|by| by.period),
            label: None,
            label_chance: None,
            keep: Keep::Nothing,
            prefetch: rayon::current_num_threads() > 1,
            memory: Memory::default(),
        }
    }
}

/// What the numbers in a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputKind {
    /// Additive log potentials: the model predicts the class with the largest sum over views
    Score,
    /// Probabilities, of which the logarithm is taken
    Probability,
}

/// How the risk is to be estimated.
#[derive(Debug, Clone, Args)]
pub(crate) struct MethodArgs {
    /// Judge the prediction of these views; the others only identify [default: all]
    ///
    /// The risk, the error rate and every metric are then those of the prediction that these views make by themselves.
    #[arg(long, value_name = "A[,B]", value_delimiter = ',', value_parser = trimmed, help_heading = "Method")]
    pub(crate) model: Option<Vec<String>>,
    /// How to group more than three views into three that are independent given the class, such as a+b,c,d+e
    /// [default: dependent views together, groups about equally informative]
    #[arg(long, value_name = "A+B,C,...", help_heading = "Method", hide_short_help = true)]
    pub(crate) group: Option<String>,
    /// The loss whose mean is the risk [default: log]
    ///
    /// error and brier are of the whole prediction and take rows.
    #[arg(long, value_name = "NAME", help_heading = "Method", value_parser = losses())]
    pub(crate) loss: Option<String>,
    /// What each view is identified by [default: auto]
    #[arg(long, value_name = "MAP", help_heading = "Method", value_parser = feature_maps(), hide_short_help = true)]
    pub(crate) feature_map: Option<FeatureChoice>,
    /// How many latent states the views are independent given, where one a class is too few: their number, that of
    /// some classes (cat=2,dog=1; others have one), or auto, as few as the test of independence accepts
    #[arg(long, value_name = "K|CLASS=N,...|auto", help_heading = "Method", hide_short_help = true)]
    pub(crate) latent: Option<Latent>,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "P", help_heading = "Method", default_value_t = 0.95)]
    pub(crate) level: f64,
}

impl MethodArgs {
    /// The estimator these options ask for.
    pub(crate) fn estimator(&self, global: &Global) -> triview::Result<Estimator> {
        self.estimator_of(global, false)
    }

    /// The same, and whether each view is to be judged by itself, too.
    pub(crate) fn estimator_of(&self, global: &Global, each: bool) -> triview::Result<Estimator> {
        let features = self.feature_map.unwrap_or(FeatureChoice::Auto);
        let mut params = Params::new().seed(global.seed).level(self.level).features(features).each(each);
        if let Some(loss) = &self.loss {
            params = params.loss(loss);
        }
        if let Some(views) = &self.model {
            params = params.model(views);
        }
        if let Some(groups) = &self.group {
            params = params.group(groups);
        }
        if let Some(latent) = &self.latent {
            params = params.latent(latent.clone());
        }
        params.check()
    }
}

/// A name in a list, whatever blanks stand around it.
pub(crate) fn trimmed(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().to_owned())
}

/// Names of feature maps, so that help and errors list them.
fn feature_maps() -> impl TypedValueParser<Value = FeatureChoice> {
    PossibleValuesParser::new(FeatureChoice::ALL.map(|features| features.name()))
        .try_map(|name| name.parse::<FeatureChoice>())
}

/// Names of losses, so that help and errors list them.
fn losses() -> PossibleValuesParser {
    PossibleValuesParser::new(loss::names())
}

/// Names of presets, so that help and errors list them.
fn presets() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.iter().map(|preset| preset.name()))
        .try_map(|name| name.parse::<Preset>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
