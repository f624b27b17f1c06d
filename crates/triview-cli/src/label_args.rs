//! What can be asked about labels: `label`, `estimate --label`, and `compare`.

use crate::args::{MORE, MethodArgs, TableArgs, trimmed};
use crate::picture_args::PictureArgs;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use triview_table::Origin;

/// Tables of votes: which column is what, and which items' classes are known.
#[derive(Debug, Args)]
pub(crate) struct VoteArgs {
    /// The column that names the item [default: item, task, item_id, Task ID and the like]
    #[arg(long, value_name = "COLUMN", help_heading = "Votes", requires = "votes", hide_short_help = true)]
    pub(crate) item: Option<String>,
    /// The column that names the annotator, of a table with one row a vote [default: annotator, worker, judge, worker_id and the
    /// like]
    #[arg(long, value_name = "COLUMN", help_heading = "Votes", requires = "votes", hide_short_help = true)]
    pub(crate) annotator: Option<String>,
    /// The column of the vote, of a table with one row a vote [default: vote, label, response, Answer and the like]
    #[arg(long, value_name = "COLUMN", help_heading = "Votes", requires = "votes", hide_short_help = true)]
    pub(crate) vote: Option<String>,
    /// A table of items whose class is known, drawn at random (columns item and label): the error rate then holds whatever
    /// annotators have in common
    #[arg(long, value_name = "TABLE", help_heading = "Votes", requires = "votes", hide_short_help = true)]
    pub(crate) gold: Option<Origin>,
    /// Votes are numbers (stars, scores of judges, probabilities): the classes are what lies between these, such as 0.5 or 3,7
    #[arg(
        long,
        value_name = "NUMBER,...",
        help_heading = "Votes",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "votes",
        hide_short_help = true
    )]
    pub(crate) cuts: Option<Vec<f64>>,
    /// Votes for each class, as all annotators vote, that are added to every annotator's [default: 3 and half the number of
    /// classes; 0 is the most likely crowd]
    #[arg(long, value_name = "N", help_heading = "Votes", requires = "votes", hide_short_help = true)]
    pub(crate) smoothing: Option<f64>,
}

/// Write surrogate labels and class posteriors for each row
#[derive(Debug, Args)]
#[command(long_about = "Write surrogate labels and class posteriors for each row.\n\n\
    For each view the columns `surrogate.<view>:<class>`: what the other views say of the row's class, one-hot on average over \
    the rows of a class, so that any loss that is linear in the label can be trained on without labels (docs/labels.md); and \
    `posterior:<class>`, the probability of each class by all views. Rows keep their order, and the other columns go with \
    them. A .npy file has the axes (rows, views and last the posterior, classes), without other columns. Exit status 1 when a \
    diagnostic speaks against the labels.\n\n\
    With --votes the labels of a crowd's items, or of what judges say: `item`, `label`, `posterior:<class>`, `majority`, `votes` \
    (how many), `agreement` (the share of them for the label) and `difficulty` (how likely it is that annotators guess on it); \
    `mean` too where classes are three numbers or more.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview label --votes crowd.csv -o labels.csv\n  \
    triview label --votes crowd.csv --gold known.csv -o labels.csv --annotators annotators.csv --review look.csv\n  \
    triview label scores.parquet -o labels.parquet\n  \
    triview label monday.csv tuesday.csv --keep id,day -o labels.csv\n  \
    triview label scores.npy -o labels.npy")]
pub(crate) struct LabelArgs {
    /// Score tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The labels to write: .csv, .parquet, .arrow or .npy
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The columns beside the scores or votes that go with their rows [default: all]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) keep: Option<Vec<String>>,
    /// Votes instead of scores, one row a vote or one row an item: write the labels of the items
    #[arg(long, conflicts_with_all = ["input", "cluster", "group", "loss", "feature_map", "latent"])]
    pub(crate) votes: bool,
    /// Also write what is known of each annotator: votes, error, confusion matrix, what a vote is worth
    #[arg(long, value_name = "FILE", help_heading = "Votes", requires = "votes")]
    pub(crate) annotators: Option<PathBuf>,
    /// Also write the items to look at first, those whose label is likeliest to be wrong
    #[arg(long, value_name = "FILE", help_heading = "Votes", requires = "votes")]
    pub(crate) review: Option<PathBuf>,
    /// A column with the class of the items for which it is known, drawn at random, and empty elsewhere
    #[arg(long, value_name = "COLUMN", help_heading = "Votes", requires = "votes")]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) crowd: VoteArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}

/// What a few labels are used for.
#[derive(Debug, Args)]
pub(crate) struct FewLabelsArgs {
    /// A column with the class of a few rows, drawn at random, and empty elsewhere: the interval then holds whatever the
    /// views do
    #[arg(long, value_name = "COLUMN", help_heading = "A few labels", conflicts_with_all = ["amplify", "save_posterior"])]
    pub(crate) label: Option<String>,
    /// A column with the chance that each labelled row had to be drawn, where these were not all alike
    #[arg(
        long,
        value_name = "COLUMN",
        help_heading = "A few labels",
        requires = "label",
        hide_short_help = true
    )]
    pub(crate) label_weight: Option<String>,
    /// Also say how many labels would bring the interval of the risk to this width
    #[arg(long, value_name = "WIDTH", help_heading = "A few labels", conflicts_with_all = ["amplify", "save_posterior"])]
    pub(crate) label_budget: Option<f64>,
    /// Write the rows to label next, drawn at random from those without a label: .csv, .parquet or .arrow
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "A few labels",
        requires = "label_budget",
        hide_short_help = true
    )]
    pub(crate) label_rows: Option<PathBuf>,
    /// Draw more of the rows that the posterior is unsure of, and write their chances in a column `inclusion`, for --label-weight
    #[arg(
        long,
        help_heading = "A few labels",
        requires = "label_rows",
        conflicts_with = "label",
        hide_short_help = true
    )]
    pub(crate) stratify: bool,
    /// The columns beside the scores that are written with these rows [default: all]
    #[arg(
        long,
        value_name = "COLUMN,...",
        value_delimiter = ',',
        value_parser = trimmed,
        help_heading = "A few labels",
        requires = "label_rows", hide_short_help = true)]
    pub(crate) keep: Option<Vec<String>>,
}

impl FewLabelsArgs {
    /// Refuses a width that none can be.
    pub(crate) fn check(&self) -> Result<()> {
        match self.label_budget.filter(|width| !(width.is_finite() && *width > 0.0)) {
            Some(width) => {
                bail!("--label-budget is {width}: the width of an interval, a number above zero, is needed")
            }
            None => Ok(()),
        }
    }

    /// Whether anything is asked for.
    pub(crate) fn any(&self) -> bool {
        self.label.is_some() || self.label_budget.is_some()
    }
}

/// Set the estimate beside what others say without labels
#[derive(Debug, Args)]
#[command(long_about = "Set the estimate beside what others say without labels.\n\n\
    The predictive entropy and the average confidence, which the model has of itself; difference of confidence, average \
    thresholded confidence (ATC), validation and importance-weighted validation, which compare with labelled rows of an old domain \
    (--source); Dawid and Skene's expectation maximisation, the Gaussian margin, agreement rates and the spectral meta-learner, which \
    look at the views. Where one does not apply the answer says why. With --label all stand beside the truth, and no method sees \
    it. Exit status 1 when a diagnostic speaks against triview's own estimate.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview compare scores.parquet\n  \
    triview compare new.parquet --source old.parquet --label digit\n  \
    triview compare new.csv --source old.csv --source-label label --report field.html --json")]
pub(crate) struct CompareArgs {
    /// Score tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// A column with the class of rows, to show the truth by
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// A score table of the same model in the old domain, with labels
    #[arg(long, value_name = "TABLE")]
    pub(crate) source: Option<Origin>,
    /// Its column of labels [default: that of --label, or label]
    #[arg(long, value_name = "COLUMN", requires = "source")]
    pub(crate) source_label: Option<String>,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}
