//! Running the program in a folder of its own.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder that the program runs in, so that messages name files without their path.
pub(crate) struct Folder(TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    /// A folder with a simulated table `scores.csv` of three classes, its truth beside it.
    pub(crate) fn with_scores() -> Self {
        let folder = Self::new();
        folder.answered(&["simulate", "--rows", "4000", "--seed", "3", "-o", "scores.csv"]);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text file")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a writable folder");
    }

    /// Leaves only the first `keep` of a file's bytes.
    pub(crate) fn truncate(&self, name: &str, keep: impl FnOnce(usize) -> usize) {
        let bytes = fs::read(self.path(name)).expect("a file");
        self.write(name, &bytes[..keep(bytes.len())]);
    }

    /// A score table as cells, to be changed and written back by [`Folder::write_table`].
    pub(crate) fn table(&self, name: &str) -> Vec<Vec<String>> {
        self.read(name).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    pub(crate) fn write_table(&self, name: &str, table: &[Vec<String>]) {
        let lines: Vec<String> = table.iter().map(|row| row.join(",")).collect();
        self.write(name, lines.join("\n") + "\n");
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_triview"));
        command.current_dir(self.0.path()).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args))
    }

    /// Runs what must be answered.
    pub(crate) fn answered(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run
    }

    /// Runs what must be answered in JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.answered(args).stdout).expect("one JSON object")
    }

    /// Runs what cannot be answered: status 2, nothing on standard output, no word of a panic, no file made, changed or removed.
    /// Gives the message.
    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let before = self.contents();
        let run = self.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {run:?}");
        assert!(!run.stderr.contains("panicked") && !run.stderr.contains("has a bug"), "{args:?}: {run:?}");
        assert_eq!(self.contents(), before, "{args:?} left something behind");
        run.stderr.trim_end().to_owned()
    }

    /// Every file and what is in it.
    fn contents(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let entries = fs::read_dir(self.0.path()).expect("a readable folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.clone(), fs::read(path).ok()))
            .collect()
    }
}

impl Run {
    pub(crate) fn of(mut command: Command) -> Self {
        let output = command.output().expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code().expect("not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The number under a key.
pub(crate) fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("no number `{key}` in {object}"))
}

/// An answer in JSON without the line that names what it was made from.
pub(crate) fn without_inputs(answer: &str) -> String {
    let names_inputs = |line: &&str| line.starts_with("  \"inputs\": [");
    assert_eq!(answer.lines().filter(names_inputs).count(), 1, "{answer}");
    answer.lines().filter(|line| !names_inputs(line)).map(|line| format!("{line}\n")).collect()
}

/// Text or JSON with `#` for numbers that come out of floating-point sums: their last digits, and how many
/// iterations it took to get there, depend on the processor. Columns shrink to one space, as widths depend on
/// digits; how they line up is tested where they are printed.
pub(crate) fn without_numbers(text: &str) -> String {
    let hide = |word: &str| {
        let bare = word.trim_matches(|symbol: char| "[]{},.;".contains(symbol));
        let hidden = bare.contains('.') && bare.parse::<f64>().is_ok();
        if hidden { word.replace(bare, "#") } else { word.to_owned() }
    };
    let mut shown = String::new();
    for line in text.lines() {
        let indent: String = line.chars().take_while(|symbol| *symbol == ' ').collect();
        let words: Vec<String> = line.split_whitespace().map(hide).collect();
        let mut line = words.join(" ");
        if let Some((before, after)) = line.split_once("after ").filter(|_| line.starts_with("fit ")) {
            let (_, after) = after.split_once(' ').expect("a number of iterations");
            line = format!("{before}after # {after}");
        }
        if line.starts_with("\"iterations\": ") {
            line = "\"iterations\": #".to_owned();
        }
        shown += &format!("{indent}{line}\n");
    }
    shown
}

/// Numbers from 0 to 1, the same in every test: a xorshift of 64 bits.
pub(crate) fn uniform() -> impl FnMut() -> f64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}
