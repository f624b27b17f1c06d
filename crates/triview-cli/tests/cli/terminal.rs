//! What makes the program at home on a terminal: short help, completions, manual pages, Ctrl-C.

use crate::support::Folder;

/// Every command.
const COMMANDS: [&str; 15] = [
    "estimate",
    "diagnose",
    "compare",
    "label",
    "moments",
    "inspect",
    "hmm",
    "train",
    "score",
    "adapt",
    "simulate",
    "demo",
    "reproduce",
    "completions",
    "man",
];

#[test]
fn the_short_help_of_every_command_fits_a_screen() {
    let folder = Folder::new();
    for command in COMMANDS {
        let short = folder.answered(&[command, "-h"]).stdout;
        assert!(short.lines().count() <= 40, "{command}: {} lines\n{short}", short.lines().count());
        let long = folder.answered(&[command, "--help"]).stdout;
        assert!(long.lines().count() >= short.lines().count(), "{command}");
        assert!(long.contains("Example"), "{command} has no example");
    }
    assert!(folder.answered(&["-h"]).stdout.lines().count() <= 40);
}

#[test]
fn shells_complete_commands_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.answered(&["completions", shell]).stdout;
        assert!(COMMANDS.iter().all(|command| script.contains(command)), "{shell}");
        assert!(script.contains("label-budget"), "{shell}");
    }
    assert!(folder.refused(&["completions", "cmd.exe"]).contains("bash"));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = Folder::new();
    folder.answered(&["man", "-o", "man1"]);
    let page = folder.read("man1/triview.1");
    assert!(page.contains("without labels"), "{page}");
    for command in COMMANDS {
        assert!(folder.read(&format!("man1/triview-{command}.1")).contains(command));
    }
}

#[test]
fn nothing_is_coloured_off_a_terminal_or_where_it_is_not_wanted() {
    let folder = Folder::with_scores();
    let mut command = folder.command(&["estimate", "--nonsense"]);
    command.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    let run = crate::support::Run::of(command);
    assert!(run.code == 2 && !run.stderr.contains('\u{1b}'), "{run:?}");
    let run = folder.answered(&["estimate", "scores.csv"]);
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'));
}

/// Work that takes minutes is over within a second of Ctrl-C, and leaves no half of a file.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_at_once() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    for (signal, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let mut long = Command::new(env!("CARGO_BIN_EXE_triview"))
            .current_dir(folder.path("."))
            .args(["simulate", "--classes", "100", "--rows", "50000000", "-o", "endless.csv"])
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        std::thread::sleep(Duration::from_millis(700));
        assert!(long.try_wait().expect("a status").is_none(), "it was over too soon");
        let asked = Instant::now();
        let sent = Command::new("kill").args([signal, &long.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let left = long.wait().expect("a status");
        assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
        assert_eq!(left.code(), Some(status));
        let files = std::fs::read_dir(folder.path(".")).expect("a folder").count();
        assert_eq!(files, 0, "{signal} leaves something behind");
    }
}
