//! A crowd behind votes, and how long it takes to find: `scripts/bench_votes.py` runs it beside crowd-kit.
//!
//!     dawid_skene FILE CLASSES ANNOTATORS ITEMS [SMOOTHING]
//!
//! The file has three unsigned 32-bit numbers a vote, the lowest byte first: item, annotator, class. Prints JSON.

mod timing;

use std::error::Error;
use std::fs;
use std::io::Write;
use timing::processor_seconds;
use triview::votes::{Smoothing, Stop, Vote, VoteParams, Votes, dawid_skene, default_smoothing, majority};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, numbers @ ..] = args.as_slice() else { return Err("a file is needed".into()) };
    let number = |at: usize| -> Result<usize, Box<dyn Error>> {
        Ok(numbers.get(at).ok_or("numbers are needed")?.parse()?)
    };
    let (k, annotators, items) = (number(0)?, number(1)?, number(2)?);
    let smoothing = numbers.get(3).map(|text| text.parse::<f64>()).transpose()?;
    let bytes = fs::read(file)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let vote = |row: &[u8]| Vote { item: word(row), annotator: word(&row[4..]), class: word(&row[8..]) };
    let given: Vec<Vote> = bytes.chunks_exact(12).map(vote).collect();

    // What crowd-kit does: from the votes to every item's posterior.
    let start = processor_seconds();
    let votes = Votes::new(k, annotators, items, &given)?;
    let sorted = processor_seconds() - start;
    let smoothed = match smoothing {
        Some(0.0) => Smoothing::none(k),
        other => Smoothing::pooled(&votes, other.unwrap_or(default_smoothing(k))),
    };
    let fitted = dawid_skene(&votes, majority(&votes, &smoothed), &smoothed, Stop::default());
    let posteriors = fitted.crowd.posteriors(&votes);
    let em = processor_seconds() - start;

    // All that triview says of a crowd, from the same votes.
    let start = processor_seconds();
    let classes: Vec<String> = (0..k).map(|class| class.to_string()).collect();
    let estimate = VoteParams::new().smoothing(smoothing).check()?.estimate(&votes, &classes)?;
    let whole = sorted + processor_seconds() - start;

    writeln!(
        std::io::stdout(),
        "{}",
        serde_json::json!({
            "seconds": em,
            "iterations": fitted.iterations,
            "whole_seconds": whole,
            "majority_log_likelihood": fitted.log_likelihood,
            "majority_objective": estimate.fit.majority_objective,
            "log_likelihood": estimate.fit.log_likelihood,
            "objective": estimate.fit.objective,
            "converged": estimate.fit.converged,
            "start": estimate.fit.start.name(),
            "error_rate": estimate.error_rate.value,
            "standard_error": estimate.error_rate.standard_error,
            "items": posteriors.len() / k,
            "labels": estimate.labels(),
        })
    )?;
    Ok(())
}
