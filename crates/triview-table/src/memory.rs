//! How much memory decoding may take.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// Whether this thread asks for memory that it can do without.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Asks for memory that the system may refuse.
pub(crate) fn trying<T>(ask: impl FnOnce() -> T) -> T {
    let before = TRYING.replace(true);
    let asked = ask();
    TRYING.set(before);
    asked
}

/// Whether memory that cannot be had is no reason to end: a reader asks for it, and makes an error of the refusal that names its file. For
/// the allocator of a program that otherwise ends there.
pub fn is_asking_for_memory() -> bool {
    TRYING.try_with(Cell::get).unwrap_or(false)
}

/// The most memory that decoding a table may take at a time: what the file claims is counted before it is unpacked, so that a small file
/// cannot take all there is. Rows that an estimate of many classes keeps are not counted.
///
/// ```
/// use triview_table::Memory;
///
/// let memory: Memory = "500MB".parse()?;
/// assert_eq!((memory.bytes(), Memory::default().to_string()), (500_000_000, "2.0 GiB".into()));
/// # Ok::<(), triview_table::NoMemory>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory(u64);

/// A text that says no amount of memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount of memory; write such as `500MB`, `4GiB` or a number of bytes, 1 MiB at least")]
pub struct NoMemory(String);

/// Less would not hold a batch of scores.
const LEAST: u64 = 1 << 20;

impl Memory {
    /// So many bytes.
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

/// What is allowed where nothing is said.
static USUAL: AtomicU64 = AtomicU64::new(2 << 30);

/// Sets what is allowed where nothing is said: 2 GiB otherwise. For programs to call once at their start; a library should not.
pub fn set_default_memory(memory: Memory) {
    USUAL.store(memory.0, Ordering::Relaxed);
}

impl Default for Memory {
    fn default() -> Self {
        Self(USUAL.load(Ordering::Relaxed))
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes < 1 << 20 => write!(f, "{bytes} bytes"),
            bytes if bytes < 1 << 30 => write!(f, "{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
            bytes => write!(f, "{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
        }
    }
}

impl FromStr for Memory {
    type Err = NoMemory;

    fn from_str(text: &str) -> Result<Self, NoMemory> {
        let refused = || NoMemory(text.to_owned());
        let plain = text.trim().to_ascii_lowercase();
        let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit: f64 = match &plain[digits.len()..] {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => f64::from(1 << 10),
            "mib" => f64::from(1 << 20),
            "gib" => f64::from(1 << 30),
            "tib" => 1024.0 * f64::from(1 << 30),
            _ => return Err(refused()),
        };
        let amount: f64 = digits.trim().parse().map_err(|_| refused())?;
        let bytes = amount * unit;
        if !(LEAST as f64..=u64::MAX as f64).contains(&bytes) {
            return Err(refused());
        }
        Ok(Self(bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        for (text, bytes) in
            [("1048576", 1 << 20), ("3 MiB", 3 << 20), ("1.5gb", 1_500_000_000), ("2G", 2_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Memory(bytes)), "{text}");
        }
        for text in ["", "GB", "-1GB", "1 MB 2", "1000", "0", "NaN", "inf", "1e300TB", "4 GiBs"] {
            assert!(text.parse::<Memory>().is_err_and(|error| error.to_string().contains(text)), "{text}");
        }
    }
}
