//! Quotes that are opened and never closed. Whatever splits the rows takes all that follows for one text: two thousand rows once
//! vanished in a note that began with a quote.

use memchr::{memchr, memchr2_iter};
use std::fmt;
use std::io::{self, Read};

/// The bytes of a text table as they are, in which every quote that opens a field closes it.
#[derive(Debug)]
pub(crate) struct Quotes<R> {
    input: R,
    separator: u8,
    state: State,
    /// Rows that have ended, the header among them: the number of the present one.
    row: u64,
    /// Whether the present line has anything in it; empty lines are no rows.
    begun: bool,
    /// The row in which the latest quote was opened.
    opened: u64,
    /// Bytes of a byte order mark that may still come.
    mark: &'static [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// In a field between quotes.
    Quoted,
    /// After a quote in such a field: its end, or the first of two that stand for one.
    Closing,
    /// Blanks after its end.
    Closed,
}

/// A quote that is opened in a row, and not closed as it should be.
#[derive(Debug)]
pub(crate) struct Unclosed {
    pub(crate) row: u64,
}

impl fmt::Display for Unclosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}: a quote is not closed", self.row)
    }
}

impl std::error::Error for Unclosed {}

impl<R> Quotes<R> {
    pub(crate) fn new(input: R, separator: u8) -> Self {
        let mark = b"\xef\xbb\xbf";
        Self { input, separator, state: State::Start, row: 0, begun: false, opened: 0, mark }
    }

    /// Follows some more bytes. False when a quote is closed in the middle of a text.
    fn follow(&mut self, bytes: &[u8]) -> bool {
        let skimmed = match self.state {
            State::Quoted => true,
            State::Start | State::Plain if self.mark.is_empty() => true,
            _ => false,
        };
        if skimmed && memchr(b'"', bytes).is_none() {
            self.skim(bytes);
            return true;
        }
        for &byte in bytes {
            if let [next, rest @ ..] = self.mark
                && *next == byte
                && self.state == State::Start
            {
                self.mark = rest;
                continue;
            }
            self.mark = &[];
            self.state = match (self.state, byte) {
                (State::Quoted, b'"') => State::Closing,
                (State::Quoted, _) | (State::Closing, b'"') => State::Quoted,
                (_, b'\n' | b'\r') => {
                    self.row += u64::from(self.begun);
                    self.begun = false;
                    State::Start
                }
                (_, byte) if byte == self.separator => {
                    self.begun = true;
                    State::Start
                }
                (State::Start, b'"') => {
                    self.begun = true;
                    self.opened = self.row;
                    State::Quoted
                }
                (State::Start | State::Plain, _) => {
                    self.begun = true;
                    State::Plain
                }
                (State::Closing | State::Closed, b' ') => State::Closed,
                (State::Closing | State::Closed, _) => return false,
            };
        }
        true
    }

    /// Follows bytes without a quote, which most are, line by line.
    fn skim(&mut self, bytes: &[u8]) {
        if self.state == State::Quoted || bytes.is_empty() {
            return;
        }
        let mut from = 0;
        for end in memchr2_iter(b'\n', b'\r', bytes) {
            self.row += u64::from(self.begun || end > from);
            self.begun = false;
            from = end + 1;
        }
        self.begun |= from < bytes.len();
        let last = bytes[bytes.len() - 1];
        let before_field = last == self.separator || matches!(last, b'\n' | b'\r');
        self.state = if before_field { State::Start } else { State::Plain };
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let ended_within = read == 0 && !buffer.is_empty() && self.state == State::Quoted;
        if ended_within || !self.follow(&buffer[..read]) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, Unclosed { row: self.opened }));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of the first quote that is not closed, whatever the pieces in which the bytes are read.
    fn unclosed(text: &str) -> Option<u64> {
        let found = [1, 3, 1000].map(|piece| {
            let mut quotes = Quotes::new(text.as_bytes(), b',');
            let mut buffer = vec![0; piece];
            loop {
                match quotes.read(&mut buffer) {
                    Ok(0) => return None,
                    Ok(_) => {}
                    Err(error) => {
                        let unclosed = error.get_ref().and_then(|e| e.downcast_ref::<Unclosed>());
                        return unclosed.map(|unclosed| unclosed.row);
                    }
                }
            }
        });
        assert!(found.iter().all(|row| *row == found[0]), "{found:?}");
        found[0]
    }

    #[test]
    fn what_is_closed_is_read() {
        for text in [
            "a,b\n1,2\n",
            "\u{feff}\"a\",b\r\n\"x, \"\"y\"\"\r\nz\",2\r\n",
            "a,b\n5\" pipe,2\n",
            "a,b\n\"x\" ,\"\"\n\n\"y\",2",
            "",
        ] {
            assert_eq!(unclosed(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_row_of_a_quote_that_is_not_closed_is_known() {
        assert_eq!(unclosed("a,b\n1,2\n\n3,\"oh\n5,6\n7,8\n"), Some(2));
        // Another quote ends the text, in the middle of another row.
        assert_eq!(unclosed("a,b\n1,\"oh\n5,6\n\"x\",8\n"), Some(1));
        assert_eq!(unclosed("\"a,b\n1,2\n"), Some(0));
    }
}
