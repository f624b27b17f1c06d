//! What can be asked of the commands that learn: `train`, `score`, `adapt` and `reproduce`.

use crate::args::{MORE, trimmed};
use crate::picture_args::PictureArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use triview_table::Origin;

/// Train a model with labels, view by view
#[derive(Debug, Args)]
#[command(long_about = "Train a model with labels, view by view.\n\n\
    A feature table has columns `view:feature` (`image:0`, `image:1`, `text:length`, ...) or one list column a view, and a \
    column with the class of each row. The model is multinomial logistic regression, linear in each view: what it says of \
    a class is the sum of what its views say, which is what `estimate` and `adapt` start from. It is written as a \
    safetensors file with `weight.<view>` and `bias.<view>`. Rows without a label are left out.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview train old.parquet --label digit -o seed.safetensors\n  \
    triview train old.csv --label digit --method lbfgs --penalty 0.01 -o seed.safetensors")]
pub(crate) struct TrainArgs {
    /// Feature tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The column with the class of each row
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: String,
    /// The model to write
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// The views to use, three or more [default: all]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) views: Option<Vec<String>>,
    /// How to minimise the log loss
    #[arg(long, value_name = "METHOD", default_value = "adagrad")]
    pub(crate) method: TrainMethod,
    /// AdaGrad: length of the first step in each coordinate
    #[arg(long, value_name = "LENGTH", default_value_t = 0.04, hide_short_help = true)]
    pub(crate) step: f64,
    /// AdaGrad: how often every row is seen
    #[arg(long, value_name = "N", default_value_t = 10, hide_short_help = true)]
    pub(crate) epochs: usize,
    /// AdaGrad: rows that one step averages the gradient over
    #[arg(long, value_name = "ROWS", default_value_t = 20, hide_short_help = true)]
    pub(crate) minibatch: usize,
    /// L-BFGS: penalty on half the squared parameters of standardised features
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.01, hide_short_help = true)]
    pub(crate) penalty: f64,
}

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrainMethod {
    /// Stochastic gradients with AdaGrad's steps, as in the paper
    Adagrad,
    /// Limited-memory quasi-Newton, with a penalty
    Lbfgs,
}

/// Score a feature table with a model
#[derive(Debug, Args)]
#[command(long_about = "Score a feature table with a model.\n\n\
    Writes a score table, columns `view:class`, that `estimate` takes, with the other columns of the rows beside them. With --label \
    the labels are checked and carried along under the name `label`.")]
#[command(after_help = MORE, after_long_help = "Example:\n  \
    triview score new.parquet --model seed.safetensors -o scores.parquet\n  \
    triview estimate scores.parquet")]
pub(crate) struct ScoreArgs {
    /// Feature tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The model, as `train` and `adapt` write it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The score table to write: .csv, .parquet, .arrow or .npy
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A column with the class of each row, empty where it is not known
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Other columns to carry along [default: all]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) keep: Option<Vec<String>>,
}

/// Adapt a model to rows without labels
#[derive(Debug, Args)]
#[command(long_about = "Adapt a model to rows without labels.\n\n\
    The seed model need only be right on average: it says which class is which. The views, independent given the class, \
    label each other, and a new model is fitted to those labels in a ball that keeps their noise in bounds. Half of the rows \
    judge what the other half made, and the other way round: the risk of the result is estimated on rows that neither the \
    model nor the labels saw, with an interval, beside the seed model's. The model is written if it is better, by a judgement that \
    can be relied on: views that depend on each other make any model look better. Otherwise the exit status is 1, and nothing is \
    written but with --force.\n\n\
    Labels are used where there are some: those of the rows themselves (--label), and those of an old domain (--source), whose \
    rows are of another distribution and get the weight that the judgement chooses, which may be none.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview adapt new.parquet --model seed.safetensors -o adapted.safetensors\n  \
    triview adapt new.parquet --model seed.safetensors --label digit -o adapted.safetensors\n  \
    triview adapt new.parquet --model seed.safetensors --source old.parquet --source-label digit -o adapted.safetensors\n  \
    triview adapt new.parquet --model seed.safetensors -o adapted.safetensors --report adapted.html\n  \
    triview adapt new.parquet --model seed.safetensors --radius 2 --no-judgement -o adapted.safetensors")]
pub(crate) struct AdaptArgs {
    /// Feature tables; `-` reads CSV from standard input
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) inputs: Vec<Origin>,
    /// The seed model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The adapted model to write
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// A column with the class of the few rows of which it is known; those count with it
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Labelled feature tables of an old domain, to be used beside the rows
    #[arg(long, value_name = "TABLE", requires = "source_label")]
    pub(crate) source: Vec<Origin>,
    /// The column with the class of each row of the source
    #[arg(long, value_name = "COLUMN", requires = "source")]
    pub(crate) source_label: Option<String>,
    /// The source's share in what is minimised, from 0 to less than 1 [default: the one with the smallest estimated risk]
    #[arg(long, value_name = "SHARE", requires = "source")]
    pub(crate) source_weight: Option<f64>,
    /// The loss to minimise: log, hinge (the sum of the views' own) or exponential
    #[arg(long, value_name = "LOSS", default_value = "log")]
    pub(crate) loss: String,
    /// Radius of the ball of parameters, in standardised features [default: the one with the smallest estimated risk]
    #[arg(long, value_name = "RHO")]
    pub(crate) radius: Option<f64>,
    /// How far above the smallest value in the ball the minimisation may stop
    #[arg(long, value_name = "GAP", default_value_t = 0.001)]
    pub(crate) gap: f64,
    /// Write the model even if nothing says that it is better than the seed
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not estimate the risk of the result; needs --radius, and takes a third of the time
    #[arg(long)]
    pub(crate) no_judgement: bool,
    /// Level of confidence of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    pub(crate) level: f64,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Redraw the paper's experiments on MNIST
#[derive(Debug, Args)]
#[command(long_about = "Redraw the paper's experiments on MNIST.\n\n\
    Figure a: the risk of a model trained at distortion 0 on images distorted more and more, by the tensor method, tensor and \
    L-BFGS, and two passes, beside the truth, the validation risk and the predictive entropy. Figures b and c: the error \
    rate of a model trained with 10,000 and with 300 labels, of that model adapted without labels, and of one trained with \
    labels on the distorted images. Each as SVG and CSV, with pixels clipped to 1 and not, and some images.")]
#[command(after_help = MORE, after_long_help = "Example:\n  triview reproduce --mnist data/mnist -o reproduction")]
pub(crate) struct ReproduceArgs {
    /// Folder with MNIST's four idx files (scripts/mnist.sh obtains them)
    #[arg(long, value_name = "DIR")]
    pub(crate) mnist: PathBuf,
    /// Folder to write to; made if it is not there
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    pub(crate) output: PathBuf,
    /// Draws that the figures' means and error bars are of
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) draws: u32,
    /// One draw, two distortions and fewer rows: less than a minute, to see that it works
    #[arg(long, conflicts_with = "draws")]
    pub(crate) quick: bool,
}
