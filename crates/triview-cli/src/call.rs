//! The questions of the command line, asked by another program.
//!
//! What can be asked is what can be typed, under the names of the flags with underscores: one definition, with its defaults, its ranges
//! and what excludes what.

mod summed;

pub use crate::answer::{Answer, Shown};
use crate::answer::{in_words, made};
use crate::args::{Cli, Command, Global, InputArgs};
use crate::inputs::{in_file, open_tables, refuse_moments};
use crate::output;
pub use crate::progress::Listener;
use crate::progress::Progress;
use anyhow::Result;
use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
pub use summed::{Columns, SummedBy, diagnose, labeller};
use triview::data::{Sample, Source};
use triview::moments::Accumulator;
use triview::{Moments, Plan};
use triview_report::html::{self, Beside};
use triview_report::json::{self, EstimateObject};
use triview_report::text;
use triview_report::words::Front;
use triview_table::Origin;

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Whether it is given, of an option that has no value.
    Flag(bool),
    /// Its value, or its values.
    Texts(Vec<String>),
    /// A table in place of a file.
    Table(Origin),
}

/// A question.
#[derive(Debug)]
pub struct Call<'a> {
    /// The verb.
    pub verb: &'a str,
    /// What it is asked of.
    pub tables: Vec<Origin>,
    /// Its options by name, with underscores.
    pub options: Vec<(String, Value)>,
    /// Who is told how far it is.
    pub listener: Option<Arc<dyn Listener>>,
}

/// Answers a question.
///
/// # Errors
/// Why it cannot be answered, in words that name no flag.
pub fn call(call: Call<'_>) -> Result<Answer, String> {
    let cli = call.understood()?;
    crate::run(&cli).map_err(|error| in_words(&error, FRONT))
}

/// Some rows, and how their risk is to be estimated: what plans are made of, and accumulators given.
#[derive(Debug)]
pub struct Asked {
    input: InputArgs,
    global: Global,
}

impl Asked {
    /// Of these tables and options, which are those of `diagnose`.
    ///
    /// # Errors
    /// What is wrong with an option.
    pub fn new(
        tables: Vec<Origin>,
        options: Vec<(String, Value)>,
        listener: Arc<dyn Listener>,
    ) -> Result<Self, String> {
        let cli = Call { verb: "diagnose", tables, options, listener: Some(listener) }.understood()?;
        match cli.command {
            Command::Diagnose(args) => Ok(Self { input: args.input, global: cli.global }),
            other => Err(format!("{other:?} plans nothing")),
        }
    }

    /// Plans what is summed, by these rows.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read or planned by.
    pub fn plan(&self) -> Result<Plan, String> {
        self.planned().map_err(|error| in_words(&error, FRONT))
    }

    fn planned(&self) -> Result<Plan> {
        let InputArgs { inputs, table, method } = &self.input;
        let estimator = method.estimator(&self.global)?;
        refuse_moments(inputs, "a plan")?;
        let table = open_tables(inputs, table, None, None)?;
        let progress = Progress::new(&self.global);
        let sample = Sample::of(&progress.watch(&table, table.rows()))?;
        progress.spin("planning");
        Ok(in_file(&table, estimator.plan(&sample))?)
    }

    /// Adds these rows to the sums of a plan.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read or summed; the sums are then of no use.
    pub fn add(&self, plan: &Plan, sums: &mut Accumulator) -> Result<(), String> {
        self.added(plan, sums).map_err(|error| in_words(&error, FRONT))
    }

    fn added(&self, plan: &Plan, sums: &mut Accumulator) -> Result<()> {
        refuse_moments(&self.input.inputs, "an accumulator")?;
        let table = open_tables(&self.input.inputs, &self.input.table, Some(plan.schema()), None)?;
        for batch in Progress::new(&self.global).watch(&table, table.rows()).batches()? {
            sums.update(&*batch?)?;
        }
        Ok(())
    }
}

/// The answer of moments.
///
/// # Errors
/// Whatever keeps these moments from being answered.
pub fn solve(moments: &Moments, level: f64, seed: u64) -> Result<Answer, String> {
    let solved = moments.solve(level, seed).map_err(|error| in_words(&error.into(), FRONT))?;
    let estimate = solved.estimate();
    let made = made(seed, &[]);
    let object = json::to_text(&EstimateObject::new(&estimate, FRONT, Some(&made)));
    let object = object.map_err(|error| error.to_string())?;
    let shown = text::estimate(&estimate, None, FRONT, false);
    let page = html::estimate(&estimate, Beside::default(), FRONT);
    let command = format!("moments.solve(level={level}, seed={seed})");
    let global = Global { front: FRONT, command, ..Global::default() };
    let answer = Answer::new(shown).with_json(object, false).trusted(estimate.trusted());
    answer.with_page(&page, &made, &global, None).map_err(|error| in_words(&error, FRONT))
}

/// Whose words answers are in.
const FRONT: Front = Front::Python;

impl Call<'_> {
    /// The same as what can be typed.
    fn understood(self) -> Result<Cli, String> {
        let Call { verb, tables, options, listener } = self;
        let command = in_python(verb, &options);
        let mut given = tables;
        let mut arguments: Vec<OsString> = vec!["triview".into(), verb.into()];
        let positional = given.len();
        for (name, value) in options {
            let flag = format!("--{}", name.replace('_', "-"));
            match value {
                Value::Flag(true) => arguments.push(flag.into()),
                Value::Flag(false) => {}
                Value::Texts(texts) if TABLES.contains(&name.as_str()) => {
                    for text in texts {
                        arguments.push(format!("{flag}={}", given.len()).into());
                        given.push(Origin::File(text.into()));
                    }
                }
                Value::Texts(texts) => {
                    arguments.extend(texts.into_iter().map(|text| OsString::from(format!("{flag}={text}"))));
                }
                Value::Table(table) => {
                    arguments.push(format!("{flag}={}", given.len()).into());
                    given.push(table);
                }
            }
        }
        arguments.push("--".into());
        arguments.extend((0..positional).map(|at| OsString::from(at.to_string())));
        let mut cli = parse(verb, arguments, given)?;
        cli.global.front = FRONT;
        cli.global.command = command;
        cli.global.listener = listener;
        Ok(cli)
    }
}

/// Writes a text to a file, whole or not at all.
///
/// # Errors
/// Why it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = output::check(path, []).and_then(|()| output::write_text(path, text));
    written.map_err(|error| in_words(&error, FRONT))
}

/// Options that are files of the package's own, or where to put something.
const FILES: [&str; 15] = [
    "output",
    "annotators",
    "review",
    "label_rows",
    "model",
    "transition",
    "truth",
    "report",
    "svg",
    "csv",
    "prometheus",
    "export",
    "save_plan",
    "like",
    "merge",
];

/// Options that are asked of a store each time, and not said of it once.
const SHOWN: [&str; 2] = ["baseline", "limit"];

/// A question as it is asked in Python, but for its tables.
fn in_python(verb: &str, options: &[(String, Value)]) -> String {
    let votes = options.iter().any(|(name, _)| name == "votes");
    let function = match verb {
        "hmm" => "sequences",
        _ if votes => "votes",
        verb => verb,
    };
    let quoted = |text: &String| if text.parse::<f64>().is_ok() { text.clone() } else { format!("{text:?}") };
    // Models of features are files, those of score tables are views.
    let is_file =
        |name: &str| FILES.contains(&name) && (name != "model" || ["score", "adapt"].contains(&verb));
    let said = options.iter().filter(|(name, _)| name != "votes" && !is_file(name));
    let said = said.filter_map(|(name, value)| match value {
        Value::Flag(false) => None,
        Value::Flag(true) => Some((name, format!("{name}=True"))),
        Value::Texts(texts) if texts.len() == 1 => Some((name, format!("{name}={}", quoted(&texts[0])))),
        Value::Texts(texts) => {
            Some((name, format!("{name}=[{}]", texts.iter().map(quoted).collect::<Vec<_>>().join(", "))))
        }
        Value::Table(_) => Some((name, format!("{name}=..."))),
    });
    let is_shown = |name: &str| verb == "monitor" && SHOWN.contains(&name);
    let (shown, said): (Vec<_>, Vec<_>) = said.partition(|(name, _)| is_shown(name));
    let words = |said: Vec<(&String, String)>| said.into_iter().map(|(_, said)| said).collect::<Vec<_>>();
    let all = [vec!["...".to_owned()], words(said)].concat().join(", ");
    match verb {
        "monitor" => format!("triview.Monitor({all}).show({})", words(shown).join(", ")),
        _ => format!("triview.{function}({all})"),
    }
}

/// The names of the options of a verb; none where there is no such verb.
pub fn options(verb: &str) -> Vec<String> {
    let command = Cli::command();
    let arguments = command.find_subcommand(verb).into_iter().flat_map(|verb| verb.get_arguments());
    arguments.map(|argument| argument.get_id().to_string()).collect()
}

/// The options that are lists of names, which may contain commas and begin with blanks.
const NAMES: [&str; 6] = ["views", "classes", "features", "witness", "keep", "model"];

/// The options that are tables.
const TABLES: [&str; 6] = ["inputs", "source", "gold", "store", "add", "labels"];

/// What the arguments ask. Where a table is expected they have its number among those given; names may contain commas.
fn parse(verb: &str, arguments: Vec<OsString>, given: Vec<Origin>) -> Result<Cli, String> {
    let given: Arc<[Origin]> = given.into();
    let numbered = move |number: String| match number.parse::<usize>().ok().and_then(|at| given.get(at)) {
        Some(origin) => Ok(origin.clone()),
        None => Err("no such table"),
    };
    let command = Cli::command();
    if command.find_subcommand(verb).is_none() {
        return Err(format!("there is no `{verb}` to ask"));
    }
    let command = command.mut_subcommand(verb, |command| {
        command.mut_args(|arg| match (TABLES.contains(&arg.get_id().as_str()), arg.get_action()) {
            (true, _) => arg.value_parser(StringValueParser::new().try_map(numbered.clone())),
            (false, ArgAction::Append) if NAMES.contains(&arg.get_id().as_str()) => {
                arg.value_delimiter(None).value_parser(StringValueParser::new())
            }
            (false, ArgAction::Append) => arg.value_delimiter(None),
            _ => arg,
        })
    });
    let matches = command.try_get_matches_from(arguments).map_err(|error| refusal(&error))?;
    Cli::from_arg_matches(&matches).map_err(|error| refusal(&error))
}

/// Why arguments are refused.
fn refusal(error: &clap::Error) -> String {
    let told = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => option_name(text),
        Some(ContextValue::Strings(texts)) => {
            texts.iter().map(|text| option_name(text)).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    let (option, value) = (told(ContextKind::InvalidArg), told(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::ArgumentConflict => {
            format!("`{option}` cannot be given together with `{}`", told(ContextKind::PriorArg))
        }
        ErrorKind::MissingRequiredArgument => format!("`{option}` is needed too"),
        ErrorKind::UnknownArgument => format!("there is no option `{option}`"),
        ErrorKind::InvalidValue => {
            format!("`{option}` is `{value}`: it may be {}", told(ContextKind::ValidValue))
        }
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            format!("`{option}` is `{value}`: {reason}")
        }
        _ => error.to_string(),
    }
}

/// The name of an option as it was given: that of `--label-rows <FILE>` is `label_rows`.
fn option_name(usage: &str) -> String {
    match usage.strip_prefix("--") {
        Some(flag) => flag.split([' ', '=']).next().unwrap_or_default().replace('-', "_"),
        None => usage.to_owned(),
    }
}
