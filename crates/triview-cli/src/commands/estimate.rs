//! `triview estimate`: the risk from unlabelled scores.

use crate::answer::Answer;
use crate::args::{EstimateArgs, Global};
use crate::inputs::{Inputs, note_changes};
use crate::json::{self, EstimateObject};
use crate::output;
use crate::printer;
use crate::progress::Progress;
use anyhow::Result;
use triview_table::state;

/// Estimates from tables or states; saves the second pass's feature map where asked.
pub(crate) fn run(args: &EstimateArgs, global: &Global) -> Result<Answer> {
    let estimator = args.method.estimator(global)?;
    if let Some(path) = &args.save_posterior {
        output::check(path, &args.inputs)?;
    }
    let inputs = Inputs::open(&args.inputs, &args.table, &args.method)?;
    let progress = Progress::new(global.quiet);
    let moments = match inputs {
        Inputs::States(moments) => *moments,
        Inputs::Tables(table) => {
            let source = progress.watch(&table, table.rows());
            let moments = estimator.moments(&source, &estimator.look(&source)?)?;
            note_changes(&table, &progress);
            moments
        }
    };
    progress.spin("fitting");
    let estimate = estimator.solve(&moments)?;
    if let Some(path) = &args.save_posterior {
        state::write_header(path, &estimator.posterior(&moments)?)?;
    }
    drop(progress);
    let text = if args.json {
        json::to_text(&EstimateObject::new(&estimate))?
    } else {
        printer::estimate(&estimate)
    };
    Ok(Answer::new(text).trusted(estimate.trusted()))
}
