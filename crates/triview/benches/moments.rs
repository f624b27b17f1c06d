//! The rate of the third-moment pass beside faer's matrix product, as a Markdown table.
//!
//! Third moments are a matrix product, `q^2 x n` by `n x q`, whose left side is the Khatri-Rao product of two
//! views' features. faer is given that matrix ready-made and warm in the cache, in either order and in chunks
//! small and large, whichever is fastest; our pass reads the features of all rows and forms it on the way. All
//! sides take turns, repetition by repetition, and the fastest of each counts: what else the machine does hits
//! all of them.
//!
//! `--rows N --k K --json` times one pass of ours on one thread, for `scripts/bench_numpy.py`. Without
//! `--bench`, as under `cargo test`, everything runs once on very little.

// A bench answers on standard output.
#![allow(clippy::print_stdout)]

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;
use triview::numeric::kernel;

/// Rows in a chunk of features, for both sides.
const CHUNK: usize = 256;

/// How much is timed.
struct Size {
    /// Rows of features.
    rows: usize,
    /// Passes over them in one turn.
    passes: usize,
    /// Rows of the large Khatri-Rao product.
    large: usize,
    /// Side of the large square matrices.
    square: usize,
    /// Turns that each side gets.
    turns: usize,
}

impl Size {
    /// Some 2 GFLOP a turn on every side, so that none is likelier than another to have a turn undisturbed, on
    /// some 2 MB of features: a pass reads each chunk soon after it was made, and 30 MB would time the bus
    /// beside it (22 rather than 32 GFLOP/s at `k = 10`).
    fn full(k: usize) -> Self {
        let (rows, passes, large) = match k {
            0..16 => (8_192, 128, 4_096),
            16..48 => (2_048, 16, 2_048),
            _ => (1_024, 4, 1_024),
        };
        Self { rows, passes, large, square: 1024, turns: 15 }
    }

    fn tiny() -> Self {
        Self { rows: 2 * CHUNK, passes: 1, large: 2 * CHUNK, square: 32, turns: 1 }
    }
}

/// Features of a chunk of rows in three views, column by column.
type Chunk = [Vec<f64>; 3];

fn features(rows: usize, q: usize) -> Vec<Chunk> {
    let mut rng = Pcg64::seed_from_u64(0);
    let mut view = || (0..CHUNK * q).map(|_| rng.random_range(-1.0..1.0)).collect();
    (0..rows.div_ceil(CHUNK)).map(|_| std::array::from_fn(|_| view())).collect()
}

/// Our pass over some chunks.
fn tensor(chunks: &[Chunk], q: usize) -> Vec<f64> {
    let mut out = vec![0.0; q * q * q];
    for [u1, u2, u3] in chunks {
        kernel::tensor(u1, u2, u3, CHUNK, [q; 3], &mut out);
    }
    out
}

/// Whether the rows of data lie next to each other (as ours do) or apart (as faer's kernel reads them).
#[derive(Clone, Copy)]
enum Order {
    RowsTogether,
    RowsApart,
}

/// A Khatri-Rao product and the matrix it is multiplied by.
struct Product {
    left: Vec<f64>,
    right: Vec<f64>,
    n: usize,
    q: usize,
    order: Order,
}

impl Product {
    /// Of `n` rows, over and over those of a chunk.
    fn new([u1, u2, u3]: &Chunk, n: usize, q: usize, order: Order) -> Self {
        let left =
            |pair: usize, i: usize| u1[pair / q * CHUNK + i % CHUNK] * u2[pair % q * CHUNK + i % CHUNK];
        let right = |c: usize, i: usize| u3[c * CHUNK + i % CHUNK];
        let (left, right) = match order {
            Order::RowsTogether => (
                (0..q * q * n).map(|at| left(at / n, at % n)).collect(),
                (0..q * n).map(|at| right(at / n, at % n)).collect(),
            ),
            Order::RowsApart => (
                (0..q * q * n).map(|at| left(at % (q * q), at / (q * q))).collect(),
                (0..q * n).map(|at| right(at % q, at / q)).collect(),
            ),
        };
        Self { left, right, n, q, order }
    }

    fn add_to(&self, out: &mut [f64]) {
        let (n, q) = (self.n, self.q);
        let (left, right) = match self.order {
            Order::RowsTogether => (
                MatRef::from_row_major_slice(&self.left, q * q, n),
                MatRef::from_row_major_slice(&self.right, q, n).transpose(),
            ),
            Order::RowsApart => (
                MatRef::from_column_major_slice(&self.left, q * q, n),
                MatRef::from_row_major_slice(&self.right, n, q),
            ),
        };
        matmul(MatMut::from_row_major_slice_mut(out, q * q, q), Accum::Add, left, right, 1.0, Par::Seq);
    }

    /// The product as often as `rows` rows need, dealt out to threads.
    fn repeat(&self, rows: usize, threads: usize) {
        let times = rows.div_ceil(self.n);
        let mut outs = vec![vec![0.0; self.q * self.q * self.q]; threads];
        on_each(&mut outs, |thread, out| {
            (thread..times).step_by(threads).for_each(|_| self.add_to(out));
        });
        black_box(outs);
    }
}

/// One thread for each of some results; this one where there is one.
fn on_each<T: Send>(results: &mut [T], call: impl Fn(usize, &mut T) + Sync) {
    match results {
        [one] => call(0, one),
        all => all.par_iter_mut().enumerate().for_each(|(thread, result)| call(thread, result)),
    }
}

/// Seconds that a call takes: of the processor where this thread does it all, of the clock otherwise.
fn seconds(threads: usize, call: impl FnOnce()) -> f64 {
    let start = (Instant::now(), processor_seconds());
    call();
    match (start.1, processor_seconds()) {
        (Some(start), Some(end)) if threads == 1 => end - start,
        _ => start.0.elapsed().as_secs_f64(),
    }
}

/// Processor time that this thread has had, which does not run while other programs do.
fn processor_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
    }
    #[cfg(not(unix))]
    None
}

/// GFLOP/s of our pass, of faer on the same shape, of faer on large squares, of which each thread has its own.
fn rates(k: usize, size: &Size, threads: usize) -> [f64; 3] {
    let chunks = features(size.rows, k);
    let products = [CHUNK, size.large]
        .into_iter()
        .flat_map(|n| {
            [Order::RowsTogether, Order::RowsApart].map(|order| Product::new(&chunks[0], n, k, order))
        })
        .collect::<Vec<_>>();
    let square = Mat::from_fn(size.square, size.square, |i, j| (i + 2 * j) as f64);
    let mut results = vec![square.clone(); threads];
    let share = chunks.len().div_ceil(threads);
    let rows = size.rows * size.passes;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..size.turns {
        let ours = seconds(threads, || {
            for _ in 0..size.passes {
                if threads == 1 {
                    black_box(tensor(&chunks, k));
                } else {
                    black_box(chunks.par_chunks(share).map(|chunks| tensor(chunks, k)).collect::<Vec<_>>());
                }
            }
        });
        let same = products.iter().map(|product| seconds(threads, || product.repeat(rows, threads)));
        let same = same.fold(f64::INFINITY, f64::min);
        let large = seconds(threads, || {
            on_each(&mut results, |_, result| {
                matmul(result, Accum::Replace, &square, &square, 1.0, Par::Seq);
            });
        });
        for (best, time) in best.iter_mut().zip([ours, same, large]) {
            *best = best.min(time);
        }
    }
    let (shape, squares) = (flops(k, rows), flops(size.square, 1) * threads as f64);
    [shape / best[0] / 1e9, shape / best[1] / 1e9, squares / best[2] / 1e9]
}

/// Operations of the matrix product alone.
fn flops(q: usize, rows: usize) -> f64 {
    2.0 * (q * q * q) as f64 * rows as f64
}

/// The number after an option.
fn option(arguments: &[String], name: &str) -> Option<usize> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--json") {
        let k = option(&arguments, "--k").unwrap_or(10);
        let chunks = features(option(&arguments, "--rows").unwrap_or(8_192), k);
        let rows = chunks.len() * CHUNK;
        black_box(tensor(&chunks, k));
        let seconds = seconds(1, || drop(black_box(tensor(&chunks, k))));
        println!("{}", serde_json::json!({ "k": k, "rows": rows, "seconds": seconds }));
        return;
    }
    let full = arguments.iter().any(|argument| argument == "--bench");
    let all = rayon::current_num_threads();
    println!("| k | threads | moment pass | faer, same shape | faer, 1024^3 | of same shape | of 1024^3 |");
    println!("|---|---|---|---|---|---|---|");
    for threads in [1, all].into_iter().take(all.min(2)) {
        for k in [10, 32, 64] {
            let size = if full { Size::full(k) } else { Size::tiny() };
            let [ours, same, large] = rates(k, &size, threads);
            let ratios = format!("{:.2} | {:.2}", ours / same, ours / large);
            println!("| {k} | {threads} | {ours:.1} | {same:.1} | {large:.1} | {ratios} |");
        }
    }
    println!("\nGFLOP/s, `2 k^3` operations a row.");
}
