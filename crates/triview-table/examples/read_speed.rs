//! Times the reading of a table: `cargo run --release -p triview-table --example read_speed -- FILE...`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::path::PathBuf;
use std::time::Instant;
use triview::data::Source;
use triview_table::{Error, ReadOptions, Table};

fn main() -> Result<(), Error> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    for prefetch in [false, true] {
        let table = Table::open(&paths, &ReadOptions { prefetch, ..ReadOptions::default() })?;
        let start = Instant::now();
        let mut rows = 0;
        for batch in table.batches()? {
            rows += batch?.rows();
        }
        let seconds = start.elapsed().as_secs_f64();
        let rate = rows as f64 / seconds / 1e6;
        println!("{rows} rows in {seconds:.2} s, {rate:.2} million a second (prefetch: {prefetch})");
    }
    Ok(())
}
