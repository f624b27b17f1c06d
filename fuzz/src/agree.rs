//! One thing said in two ways: the same table in every format, sums of parts and of the whole, an answer as text and as JSON.

use crate::choices::Choices;
use crate::readers::put;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::fs;
use triview::data::{Batch, InMemory, Sample, Schema, Source};
use triview::features::FeatureChoice;
use triview::{Moments, Params, loss};
use triview_report::json::EstimateObject;
use triview_report::text;
use triview_report::words::Front;
use triview_table::{Input, ReadOptions, Table, write_scores};

/// Scores of three views and two classes, written.
fn write(numbers: &[f64], ending: &str) -> Vec<u8> {
    let path = put(b"", ending);
    let schema = Schema::numbered(3, 2).expect("three views and two classes");
    let batch = Batch::from_rows(numbers, 3, 2).expect("finite numbers");
    let labels = vec![None; batch.rows()];
    write_scores(&path, &schema, [Ok((batch, labels))].into_iter()).expect("the fuzz target can write");
    fs::read(&path).expect("and read")
}

/// The same table has the same bits in every format.
pub fn agree(bytes: &[u8]) {
    let finite =
        bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().expect("eight bytes")));
    let mut numbers: Vec<f64> = finite.filter(|number| number.is_finite()).take(600).collect();
    numbers.truncate(numbers.len() / 6 * 6);
    if numbers.is_empty() {
        return;
    }
    for ending in ["csv", "parquet", "arrow", "npy"] {
        let path = put(&write(&numbers, ending), ending);
        let options = ReadOptions { input: Input::Score, ..Default::default() };
        let table = Table::open(&[path], &options).expect("what was written can be opened");
        let mut read = Vec::new();
        for batch in table.batches().expect("and read") {
            let batch = batch.expect("and read");
            for row in 0..batch.rows() {
                read.extend((0..6).map(|cell| batch.column(cell / 2, cell % 2)[row].to_bits()));
            }
        }
        let written: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        assert_eq!(read, written, "{ending}");
    }
}

/// A number in [-1, 1) that a place and a seed always have.
fn noise(at: usize, seed: u64) -> f64 {
    let mixed = (at as u64 ^ seed << 32).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// A feature map: mostly one that is quickly fitted.
fn features(choices: &mut Choices<'_>) -> FeatureChoice {
    match choices.below(16) {
        1 => FeatureChoice::Auto,
        2..6 => FeatureChoice::Softmax,
        _ => FeatureChoice::Scores,
    }
}

/// Scores of three views for some classes, row by row, that say something of a class; the bytes that are left change some of them.
fn scores(rows: usize, k: usize, choices: &mut Choices<'_>) -> Vec<f64> {
    let (seed, strength) = (u64::from(choices.byte()), f64::from(choices.byte()) / 32.0);
    let score = |cell: usize| {
        let (row, class) = (cell / (3 * k), cell % k);
        let of_row = (noise(row, seed + 1000) + 1.0) * k as f64 / 2.0;
        f64::from(u8::from(of_row as usize == class)) * strength + 2.0 * noise(cell, seed)
    };
    let mut scores: Vec<f64> = (0..rows * 3 * k).map(score).collect();
    while choices.any() {
        let at = choices.below(scores.len());
        scores[at] = f64::from(i16::from_le_bytes([choices.byte(), choices.byte()])) / 1024.0;
    }
    scores
}

/// All sums of moments by the name of what they are, and the largest.
fn sums(moments: &Moments) -> (Vec<(String, Vec<f64>)>, f64) {
    let bytes = moments.to_bytes().expect("moments can be saved");
    let tensors = SafeTensors::deserialize(&bytes).expect("and read");
    let mut sums: Vec<(String, Vec<f64>)> = tensors
        .iter()
        .filter(|(_, tensor)| tensor.dtype() == Dtype::F64)
        .map(|(name, tensor)| {
            let cells = tensor.data().chunks_exact(8);
            let cells = cells.map(|cell| f64::from_le_bytes(cell.try_into().expect("eight bytes")));
            (name.to_owned(), cells.collect())
        })
        .collect();
    sums.sort_by(|one, two| one.0.cmp(&two.0));
    let largest = sums.iter().flat_map(|(_, cells)| cells).fold(1.0, |most: f64, sum| most.max(sum.abs()));
    (sums, largest)
}

/// The sums of parts, merged in any order, are those of the whole: to 1e-9 of the largest.
pub fn parts(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (k, rows, name) = (2 + choices.below(3), 1 + choices.below(600), choices.of(&loss::names()));
    let features = features(&mut choices);
    let mut cuts: Vec<usize> = (0..choices.below(6)).map(|_| choices.below(rows + 1)).collect();
    cuts.extend([0, rows]);
    cuts.sort_unstable();
    let order: Vec<usize> = cuts.iter().map(|_| choices.below(8)).collect();
    let scores = scores(rows, k, &mut choices);
    let batch = |from: usize, to: usize| {
        Batch::from_rows(&scores[from * 3 * k..to * 3 * k], 3, k).expect("finite numbers")
    };
    let schema = Schema::numbered(3, k).expect("three views");
    let estimator = Params::new().loss(name).features(features).check().expect("a loss that there is");
    let Ok(plan) = estimator.plan(&Sample::new(schema, batch(0, rows))) else { return };
    let sum = |from: usize, to: usize| {
        let mut sums = plan.accumulator().expect("few classes").starting_at(from as u64);
        sums.update(&batch(from, to)).and_then(|()| sums.finish())
    };
    let Ok(whole) = sum(0, rows) else { return };
    let mut merged: Vec<Moments> =
        cuts.windows(2).map(|cut| sum(cut[0], cut[1]).expect("no part is larger than the whole")).collect();
    for at in order {
        if merged.len() > 1 {
            let one = merged.remove(at % merged.len());
            let at = at % merged.len();
            merged[at] = one.merge(&merged[at]).expect("parts of one plan");
        }
    }
    let merged = merged.pop().expect("a part");
    assert_eq!((merged.rows(), merged.blocks()), (whole.rows(), whole.blocks()));
    let ((merged, _), (whole, largest)) = (sums(&merged), sums(&whole));
    for ((name, merged), (of_whole, whole)) in merged.iter().zip(&whole) {
        assert_eq!((name, merged.len()), (of_whole, whole.len()));
        for (one, other) in merged.iter().zip(whole) {
            assert!((one - other).abs() <= 1e-9 * largest, "{name}: {one} and {other}");
        }
    }
}

/// Whether a printed number is another, rounded to the digits that are printed.
fn is_rounded(printed: &str, number: f64) -> bool {
    let (digits, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    let unit = 10_f64.powi(exponent.parse::<i32>().expect("an exponent") - decimals);
    let printed: f64 = printed.parse().expect("a number");
    (printed - number).abs() <= 0.5 * unit * (1.0 + 1e-6) + 1e-12 * number.abs()
}

/// The words of the line of the text that begins with these.
fn line<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix(begin)).expect("every answer has this line");
    line.split_whitespace().collect()
}

/// What is printed first of all is what the JSON says: the risk, its error and interval, the error rate, and whether to trust them.
pub fn told(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (k, rows, name) = (2 + choices.below(2), 60 + choices.below(400), choices.of(&loss::names()));
    let features = features(&mut choices);
    let batch = Batch::from_rows(&scores(rows, k, &mut choices), 3, k).expect("finite numbers");
    let source = InMemory::new(Schema::numbered(3, k).expect("three views"), [batch]);
    let estimator =
        Params::new().loss(name).features(features).threads(1).check().expect("a loss that there is");
    let Ok(estimate) = estimator.estimate(&source) else { return };
    let text = text::estimate(&estimate, None, Front::CommandLine, true);
    let json = serde_json::to_value(EstimateObject::new(&estimate, Front::CommandLine, None)).expect("JSON");
    let is = |printed: &str, value: &Value| match value.as_f64() {
        Some(number) => is_rounded(printed, number),
        None => printed == "unknown",
    };
    assert_eq!(text.contains("NOT TO BE TRUSTED"), json["trusted"] == Value::Bool(false), "{text}{json}");
    if let [risk, "±", error, ..] = line(&text, "risk ")[..] {
        assert!(is(risk, &json["risk"]) && is(error, &json["standard_error"]), "{text}{json}");
    }
    if let [low, "to", high, ..] = line(&text, "interval ")[..] {
        let interval = &json["interval"];
        assert!(is(low, &interval["low"]) && is(high, &interval["high"]), "{text}{json}");
    }
    match line(&text, "error rate ")[..] {
        ["not", "known:", ..] => assert!(json["error_rate"].is_null(), "{text}{json}"),
        [rate, "±", ..] => assert!(is(rate, &json["error_rate"]), "{text}{json}"),
        [rate, ..] => assert!(is(rate, &json["error_rate"]), "{text}{json}"),
        [] => panic!("{text}"),
    }
}
