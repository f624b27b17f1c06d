//! The binary `triview`.

mod allocator;

use allocator::Allocator;
#[cfg(unix)]
use allocator::end;
use std::process::ExitCode;
#[cfg(unix)]
use triview_table::remove_temporary_files;

/// The system's allocator gives memory back and asks for it again all along: a sixth of the time of an estimate from few rows.
#[global_allocator]
static ALLOCATOR: Allocator<mimalloc::MiMalloc> = Allocator(mimalloc::MiMalloc);

/// Removes temporary files when the program is told to end, and ends with the status that shells expect.
#[cfg(unix)]
fn clean_up_at_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    // Where no thread can be had the signals do what they always do.
    let _ = std::thread::Builder::new().name("triview-signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_temporary_files();
            end(128 + signal);
        }
    });
}

#[cfg(not(unix))]
fn clean_up_at_signals() {}

fn main() -> ExitCode {
    clean_up_at_signals();
    triview_cli::main(std::env::args_os()).into()
}
