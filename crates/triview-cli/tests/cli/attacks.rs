//! Files from strangers, and machines that fail: no panic, no hang, a status of the contract, and nothing half-written.

use crate::support::{Folder, Run};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs a command as it is, and looks at what no command may do.
fn survives(command: assert_cmd::Command) -> Run {
    let shown = format!("{command:?}");
    let run = Run::of(command);
    assert!((0..=2).contains(&run.code), "{shown}: {run:?}");
    assert!(!run.stderr.contains("panicked") && !run.stderr.contains("has a bug"), "{shown}: {run:?}");
    assert!(run.code != 2 || run.stdout.is_empty(), "{shown}: {run:?}");
    run
}

/// Every finding of the fuzz targets, and what reads it.
#[test]
fn no_finding_is_a_panic_on_standard_error() {
    let folder = Folder::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../triview-table/tests/corpus");
    let mut files = 0;
    for kind in fs::read_dir(&corpus).expect("the corpus").flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(kind.path()).expect("a folder").flatten() {
            files += 1;
            let path = file.path();
            let path = path.to_str().expect("a name in UTF-8");
            match kind.file_name().to_str() {
                Some("moments" | "model") => survives(folder.command(&["inspect", path])),
                Some("votes") => survives(folder.command(&["estimate", "--votes", path])),
                Some("features") => {
                    survives(folder.command(&["train", path, "--label", "label", "-o", "m.safetensors"]))
                }
                _ => survives(folder.command(&["diagnose", "--input", "score", path])),
            };
        }
    }
    assert!(files > 50, "{files} files");
}

#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let folder = Folder::with_scores();
    let scores = folder.read("scores.csv");
    let (head, rows) = scores.split_once('\n').expect("a header");
    folder.write("growing.csv", format!("{head}\n{}", rows.repeat(20)));
    let over = AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = OpenOptions::new().append(true).open(folder.path("growing.csv")).expect("a file");
            while !over.load(Ordering::Relaxed) {
                file.write_all(rows.as_bytes()).expect("room");
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let run = survives(folder.command(&["estimate", "growing.csv"]));
        over.store(true, Ordering::Relaxed);
        run
    });
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("`growing.csv` changed while it was being read"), "{}", run.stderr);
}

#[test]
fn memory_is_a_limit_that_can_be_set() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "20000", "-o", "scores.parquet"]);
    let refused = folder.refused(&["estimate", "--memory", "1MiB", "scores.parquet"]);
    assert!(refused.contains("`scores.parquet`") && refused.contains("1.0 MiB are allowed"), "{refused}");
    folder.answered(&["estimate", "--memory", "64MiB", "scores.parquet"]);
    assert!(
        folder.refused(&["estimate", "--memory", "lots", "scores.parquet"]).contains("no amount of memory")
    );
}

#[test]
fn the_same_moments_are_not_counted_twice() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "-o", "a.moments"]);
    for twice in [["a.moments", "a.moments"], ["a.moments", "./a.moments"]] {
        let refused = folder.refused(&["estimate", twice[0], twice[1]]);
        assert!(twice.iter().all(|name| refused.contains(&format!("`{name}`"))), "{refused}");
        assert!(refused.contains("counted twice"), "{refused}");
    }
}

#[test]
fn names_do_not_act_on_the_terminal() {
    let folder = Folder::with_scores();
    let refused = folder.refused(&["estimate", "\u{1b}[31mred\u{7}.csv"]);
    assert!(refused.contains(r"`\u{1b}[31mred\u{7}.csv`") && !refused.contains('\u{1b}'), "{refused}");
    let mut table = folder.table("scores.csv");
    table[0].push("note\u{1b}]0;title\u{7}".into());
    table[1..].iter_mut().for_each(|row| row.push("x".into()));
    folder.write_table("scores.csv", &table);
    let run = folder.answered(&["estimate", "scores.csv"]);
    assert!(run.stderr.contains(r"note\u{1b}]0;title") && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[test]
fn numbers_that_are_too_large_are_refused_in_words() {
    let folder = Folder::new();
    let refused =
        folder.refused(&["simulate", "--crowd", "--rows", "18446744073709551615", "-o", "votes.csv"]);
    assert!(refused.contains("18446744073709551615") && !refused.contains("bug"), "{refused}");
}

#[test]
fn no_output_is_called_after_standard_output() {
    let folder = Folder::with_scores();
    assert!(folder.refused(&["moments", "scores.csv", "-o", "-"]).contains("`./-`"));
}

#[test]
fn a_stream_of_arrow_that_was_cut_between_messages_is_said() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "4000", "-o", "scores.arrow"]);
    let file = fs::read(folder.path("scores.arrow")).expect("a file");
    // Between the magic and its padding, and the footer with the marker before it, a file is a stream.
    let footer = u32::from_le_bytes(file[file.len() - 10..file.len() - 6].try_into().expect("four bytes"));
    let end = file.len() - 10 - footer as usize;
    let begin = file.windows(4).position(|bytes| bytes == [0xff; 4]).expect("a message");
    folder.write("whole.arrows", &file[begin..end]);
    let run = folder.answered(&["estimate", "whole.arrows"]);
    assert!(!run.stderr.contains("end marker"), "{}", run.stderr);
    assert_eq!(&file[end - 8..end], [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    folder.write("cut.arrows", &file[begin..end - 8]);
    let run = folder.answered(&["estimate", "cut.arrows"]);
    assert!(run.stderr.contains("`cut.arrows` is an Arrow stream without an end marker"), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn out_of_memory_is_said_and_leaves_nothing() {
    let folder = Folder::with_scores();
    for (kilobytes, args) in
        [(400_000, "simulate --crowd --rows 30000000 -o votes.csv"), (400_000, "estimate scores.csv")]
    {
        let mut limited = assert_cmd::Command::new("sh");
        let program = env!("CARGO_BIN_EXE_triview");
        limited
            .current_dir(folder.path("."))
            .args(["-c", &format!("ulimit -v {kilobytes}; exec {program} {args}")]);
        let run = survives(limited);
        assert!(run.code != 2 || run.stderr.contains("memory") || run.stderr.contains("thread"), "{run:?}");
    }
    assert!(!folder.path("votes.csv").exists());
}

/// A disk that fails where a file is put into its place: what was there stays, and the status says so. That of writing itself is tested in
/// the crate that writes.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fails_leaves_the_old_file() {
    if Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "-o", "part.moments"]);
    let old = fs::read(folder.path("part.moments")).expect("a file");
    for call in ["fsync", "linkat", "rename"] {
        let mut traced = assert_cmd::Command::new("strace");
        traced.current_dir(folder.path(".")).args(["-f", "-qq", "-o", "/dev/null", "-e"]);
        traced.args([&format!("inject={call}:error=EIO:when=1"), env!("CARGO_BIN_EXE_triview")]);
        let run = survives({
            traced.args(["moments", "scores.csv", "--seed", "1", "-o", "part.moments"]);
            traced
        });
        assert!(run.code == 2 && run.stderr.contains("is still there"), "{call}: {run:?}");
        assert!(fs::read(folder.path("part.moments")).expect("a file") == old, "{call}");
        let left = fs::read_dir(folder.path(".")).expect("a folder").flatten();
        let hidden = |name: &std::ffi::OsString| name.as_encoded_bytes()[0] == b'.';
        let left: Vec<_> = left.map(|entry| entry.file_name()).filter(hidden).collect();
        assert!(left.is_empty(), "{call} leaves {left:?}");
    }
}

/// A disk that fails while it is read, at any of the calls that read the file: the file is named, and nothing is answered of half of it.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_cannot_be_read_is_said() {
    if Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    let folder = Folder::new();
    for name in ["s.csv", "s.parquet", "s.arrow", "s.npy"] {
        folder.answered(&["simulate", "--rows", "3000", "-o", name]);
    }
    folder.answered(&["moments", "s.csv", "-o", "s.moments"]);
    for name in ["s.csv", "s.parquet", "s.arrow", "s.npy", "s.moments"] {
        let mut failed = 0;
        for when in [1, 2, 3, 5, 8, 13] {
            let mut traced = assert_cmd::Command::new("strace");
            traced.current_dir(folder.path(".")).args(["-f", "-qq", "-o", "/dev/null", "-P"]);
            traced.arg(folder.path(name)).arg("-e");
            traced
                .args([&format!("inject=read,pread64:error=EIO:when={when}"), env!("CARGO_BIN_EXE_triview")]);
            let run = survives({
                traced.args(["estimate", name, "--threads", "1"]);
                traced
            });
            let said = run.stderr.contains(name) && run.stderr.contains("Input/output error");
            assert!(run.code != 2 || said, "{name}, call {when}: {run:?}");
            failed += usize::from(run.code == 2);
        }
        assert!(failed > 0, "{name} is read by other calls");
    }
}

/// A pipe that gives bytes one by one, and then none for a while: slow, and in the end answered.
#[cfg(unix)]
#[test]
fn a_slow_disk_is_waited_for() {
    let folder = Folder::with_scores();
    let program = env!("CARGO_BIN_EXE_triview");
    let mut slow = assert_cmd::Command::new("sh");
    let script =
        format!("(head -c 1000 scores.csv; sleep 1; tail -c +1001 scores.csv) | {program} estimate -");
    slow.current_dir(folder.path(".")).args(["-c", &script]);
    let begun = Instant::now();
    assert_eq!(survives(slow).code, 0);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}
