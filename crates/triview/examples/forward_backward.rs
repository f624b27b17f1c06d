//! Times forward-backward on one thread: what `scripts/bench_hmmlearn.py` sets beside hmmlearn's.
//!
//! Reads emission scores as raw numbers (64 bits, little-endian, token by token), `k` for each token, and cuts them into sequences of
//! equal length. The transition log potentials are those of staying with probability 0.6. Prints the fastest of so many turns in
//! processor seconds, and the sum of all log partition functions.
//!
//! ```console
//! $ cargo run --release --example forward_backward -- scores.bin 10 100 5
//! ```

mod timing;

use std::error::Error;
use std::io::Write;
use timing::processor_seconds;
use triview::sequences::{Chain, Paths};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, k, length, turns] = args.as_slice() else {
        return Err("usage: forward_backward SCORES STATES LENGTH TURNS".into());
    };
    let (k, length, turns): (usize, usize, usize) = (k.parse()?, length.parse()?, turns.parse()?);
    let bytes = std::fs::read(path)?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let scores: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let names = (0..k).map(|state| state.to_string()).collect();
    let stay = |at: usize| if at / k == at % k { 0.6 } else { 0.4 / (k - 1) as f64 };
    let transition = (0..k * k).map(|at| stay(at).ln()).collect();
    let chain = Chain::new(names, Some(vec![-(k as f64).ln(); k]), transition)?;
    let mut fastest = f64::INFINITY;
    let (mut log_likelihood, mut first) = (0.0, 0.0);
    for _ in 0..turns {
        let start = processor_seconds();
        (log_likelihood, first) = (0.0, 0.0);
        for sequence in scores.chunks_exact(k * length) {
            let messages = chain.messages(sequence, Paths::All);
            log_likelihood += messages.log_z;
            // Keeps the posteriors from being left out as unused.
            first += messages.posteriors()[0];
        }
        fastest = fastest.min(processor_seconds() - start);
    }
    writeln!(
        std::io::stdout(),
        "{{\"seconds\": {fastest:?}, \"log_likelihood\": {log_likelihood:?}, \"first\": {first:?}}}"
    )?;
    Ok(())
}
