//! `triview inspect`: what moments or a model hold.

use crate::answer::Answer;
use crate::args::InspectArgs;
use anyhow::Result;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use triview::Plan;
use triview_report::json::{self, ByName, GroupingObject};
use triview_report::text::{WIDTH, facts, missing, name, names};
use triview_table::model::{self, Model};
use triview_table::moments;

/// What there is to tell of a file.
#[derive(Debug, Serialize)]
struct Contents<'a> {
    schema: u32,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<ByName<'a, u64>>,
    loss: &'a str,
    features: &'static str,
    views: &'a [String],
    groups: Vec<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<GroupingObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extra_features: Vec<String>,
    classes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    latent: Option<usize>,
    bytes: u64,
}

/// Reads the file and tells.
pub(crate) fn run(args: &InspectArgs) -> Result<Answer> {
    let path = &args.input;
    if let Ok(model) = model::read(path) {
        return inspect_model(&model, std::fs::metadata(path)?.len(), args.json);
    }
    let (plan, rows, blocks, missing) = if moments::is_moments(path) {
        let summed = moments::read(path)?;
        (summed.plan().clone(), Some(summed.rows()), Some(summed.blocks()[0]), summed.missing())
    } else {
        (moments::read_plan(path)?, None, None, Vec::new())
    };
    let contents = Contents {
        missing: json::missing(plan.schema().views(), &missing),
        ..Contents::new(&plan, rows, blocks, std::fs::metadata(path)?.len())
    };
    Ok(Answer::new(contents.text()).with_json(json::to_text(&contents)?, args.json))
}

/// What there is to tell of a model.
#[derive(Debug, Serialize)]
struct ModelContents<'a> {
    schema: u32,
    kind: &'static str,
    views: &'a [String],
    /// The number of features of each view.
    features: ByName<'a, usize>,
    classes: &'a [String],
    bytes: u64,
}

fn inspect_model(model: &Model, bytes: u64, json: bool) -> Result<Answer> {
    let (views, classes) = (model.schema.views(), model.schema.classes());
    let widths = model.features.widths();
    let counted: Vec<String> =
        views.iter().zip(&widths).map(|(view, width)| format!("{view} ({width} features)")).collect();
    let lines = [
        ("kind", "a model, linear in the features of each view".to_owned()),
        ("views", names(&counted, WIDTH - 12)),
        ("classes", format!("{}: {}", classes.len(), names(classes, WIDTH - 20))),
        ("size", HumanBytes(bytes).to_string()),
    ];
    let features = ByName { names: views, values: widths.into() };
    let contents = ModelContents { schema: json::SCHEMA, kind: "model", views, features, classes, bytes };
    Ok(Answer::new(facts(&lines) + "\n").with_json(json::to_text(&contents)?, json))
}

impl<'a> Contents<'a> {
    fn new(plan: &'a Plan, rows: Option<u64>, blocks: Option<usize>, bytes: u64) -> Self {
        Self {
            schema: json::SCHEMA,
            kind: if rows.is_some() { "moments" } else { "posterior" },
            rows,
            blocks,
            missing: None,
            loss: plan.loss().name(),
            features: plan.features(),
            views: plan.schema().views(),
            groups: json::named(plan.schema().views(), plan.partition().iter()),
            grouping: GroupingObject::new(plan.schema().views(), &plan.look().grouping),
            extra_features: plan.schema().all_covariates(),
            classes: plan.schema().classes(),
            latent: plan.latent_states(),
            bytes,
        }
    }

    fn text(&self) -> String {
        let kind = match self.rows {
            Some(_) => "moments of a score table, to be merged and estimated from",
            None => "a feature map for `moments --posterior`",
        };
        let mut lines = vec![("kind", kind.to_owned())];
        if let (Some(rows), Some(blocks)) = (self.rows, self.blocks) {
            lines.push(("rows", format!("{} in {blocks} blocks", HumanCount(rows))));
        }
        lines.push(("views", names(self.views, WIDTH - 12)));
        if self.views.len() > self.groups.len() {
            let groups: Vec<String> = self.groups.iter().map(|views| views.join("+")).collect();
            lines.push(("groups", names(&groups, WIDTH - 12)));
        }
        if let Some(ByName { names, values }) = &self.missing {
            lines.extend(missing(names, values).map(|line| ("missing", line)));
        }
        if !self.extra_features.is_empty() {
            lines.push(("beside", format!("features {}", names(&self.extra_features, WIDTH - 25))));
        }
        lines.push(("classes", format!("{}: {}", self.classes.len(), names(self.classes, WIDTH - 20))));
        if let Some(states) = self.latent {
            lines.push(("latent", format!("{states} states")));
        }
        lines.extend([
            ("loss", name(self.loss, WIDTH - 12)),
            ("features", self.features.to_owned()),
            ("size", HumanBytes(self.bytes).to_string()),
        ]);
        facts(&lines) + "\n"
    }
}
