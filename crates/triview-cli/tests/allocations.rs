//! Memory that is refused once, at any place of a small estimate: no panic, no hang, a status of the contract and a word that says why.
//!
//! This test is its own victim: it runs itself with an allocator that refuses the n-th allocation. `TRIVIEW_ALLOCATIONS=1000` tries so many
//! places instead of a few.

#[path = "../src/allocator.rs"]
mod allocator;

use allocator::Allocator;
use std::alloc::{GlobalAlloc, Layout};
use std::collections::BTreeSet;
use std::process::{Command, ExitCode, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// So many places are tried where nothing is said.
const PLACES: u64 = 40;
/// The variable that says which allocation is refused, and the one that says how many places are tried.
const REFUSED: &str = "TRIVIEW_REFUSED_ALLOCATION";
const TRIED: &str = "TRIVIEW_ALLOCATIONS";

/// Refuses one allocation.
struct Refusing;

static COUNT: AtomicU64 = AtomicU64::new(0);
static AT: AtomicU64 = AtomicU64::new(u64::MAX);

#[global_allocator]
static ALLOCATOR: Allocator<Refusing> = Allocator(Refusing);

fn is_refused() -> bool {
    COUNT.fetch_add(1, Ordering::Relaxed) == AT.load(Ordering::Relaxed)
}

// SAFETY: all of it is MiMalloc's but for a null pointer, which says that there is no memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those that MiMalloc needs.
        unsafe { mimalloc::MiMalloc.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_refused() {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { mimalloc::MiMalloc.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { mimalloc::MiMalloc.dealloc(pointer, layout) }
    }
}

fn main() -> ExitCode {
    let Ok(at) = std::env::var(REFUSED) else { return tried() };
    AT.store(at.parse().unwrap_or(u64::MAX), Ordering::Relaxed);
    let arguments = std::env::args_os().skip(1);
    let status = triview_cli::main([std::ffi::OsString::from("triview")].into_iter().chain(arguments));
    eprintln!("allocations {}", COUNT.load(Ordering::Relaxed));
    status.into()
}

/// Runs a command line with an allocation refused, and waits for it for a minute.
fn run(folder: &std::path::Path, at: u64, arguments: &[&str]) -> Output {
    let program = std::env::current_exe().expect("this program");
    let out = |name: &str| std::fs::File::create(folder.join(name)).expect("a file");
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env(REFUSED, at.to_string())
        .stdout(out("out"))
        .stderr(out("err"))
        .spawn()
        .expect("a process");
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().expect("a status") {
            Some(status) => break status,
            None if begun.elapsed() > Duration::from_secs(60) => {
                let _ = child.kill();
                break child.wait().expect("a status");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file");
    Output { status, stdout: read("out"), stderr: read("err") }
}

/// Tries places from the first allocation to the last, ever wider apart.
#[allow(clippy::print_stdout, reason = "what a test without a harness has to say")]
fn tried() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let made = run(folder, u64::MAX, &["simulate", "--rows", "2000", "-o", "scores.csv", "--quiet"]);
    assert!(made.status.success(), "{made:?}");
    let commands: [&[&str]; 2] =
        [&["estimate", "scores.csv", "--threads", "2"], &["moments", "scores.csv", "-o", "scores.moments"]];
    let places: u64 = std::env::var(TRIED).ok().and_then(|text| text.parse().ok()).unwrap_or(PLACES);
    let (mut passed, mut wrong) = (0, Vec::new());
    for command in commands {
        let whole = run(folder, u64::MAX, command);
        let said = String::from_utf8_lossy(&whole.stderr).into_owned();
        let count = said.rsplit("allocations ").next().and_then(|count| count.trim().parse::<f64>().ok());
        let count = count.expect("how many there are");
        let each = places / commands.len() as u64;
        let place = |at: u64| count.powf(at as f64 / each as f64) as u64 - 1;
        let old = std::fs::read(folder.join("scores.moments")).ok();
        for at in (0..each).map(place).collect::<BTreeSet<u64>>() {
            let run = run(folder, at, command);
            let said = String::from_utf8_lossy(&run.stderr);
            let status = run.status.code();
            let answered = matches!(status, Some(0 | 1));
            let refused = status == Some(2) && run.stdout.is_empty() && said.contains("memory");
            // What was written before is still there, and nothing lies beside it.
            let kept = std::fs::read(folder.join("scores.moments")).ok() == old;
            let names = std::fs::read_dir(folder).expect("a folder").flatten();
            let left = names.filter(|entry| entry.file_name().as_encoded_bytes()[0] == b'.').count();
            let talks = said.contains("panicked") || said.contains("has a bug");
            if (answered || refused) && kept && left == 0 && !talks {
                passed += 1;
            } else {
                wrong.push(format!("{command:?}, allocation {at}: {:?}, {left} left: {said}", run.status));
            }
        }
    }
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    println!("{passed} passed, {} failed", wrong.len());
    u8::from(!wrong.is_empty()).into()
}
