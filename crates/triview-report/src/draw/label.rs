//! Text in drawings, which has no measure of its own: how wide it may be in whatever typeface the reader has.

use crate::text::name;
use unicode_width::UnicodeWidthChar;

/// How wide a symbol is in a wide typeface (DejaVu Sans), in units of the size of its letters.
fn of(symbol: char) -> f64 {
    match symbol {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '(' | ')' | '!' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 1.02,
        'A'..='Z' | '±' | '<' | '>' | '=' | '+' | '−' | '&' => 0.84,
        _ if symbol.is_ascii() => 0.64,
        _ => match symbol.width().unwrap_or(1) {
            0 => 0.0,
            1 => 0.84,
            _ => 1.3,
        },
    }
}

/// How wide a text is at the most, in units of the size of its letters.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(of).sum()
}

/// A name that is no wider than `room`, in units of the size of its letters.
pub(crate) fn cut(text: &str, room: f64) -> String {
    // What would move a cursor is written out.
    let shown = name(text, usize::MAX);
    if width(&shown) <= room {
        return shown;
    }
    let mut left = room - of('…');
    let mut short: String = shown
        .chars()
        .take_while(|symbol| {
            left -= of(*symbol);
            left >= 0.0
        })
        .collect();
    short.push('…');
    short
}

/// A text in lines that are no wider than `room`, broken between words.
pub(crate) fn lines(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = cut(word, room);
        match lines.last_mut() {
            Some(line) if width(line) + of(' ') + width(&word) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_their_room() {
        assert_eq!(cut("cat", 3.0), "cat");
        for hostile in
            ["W".repeat(200), "猫".repeat(200), "🐈‍⬛".repeat(90), "שלום ".repeat(50), "a\u{1b}\n".repeat(40)]
        {
            let short = cut(&hostile, 8.0);
            assert!(short.ends_with('…') && width(&short) <= 8.0, "{short}");
            assert!(!short.contains(['\n', '\u{1b}']), "{short}");
        }
    }

    #[test]
    fn text_is_broken_between_words() {
        let broken = lines("one two three four", 6.0);
        assert!(broken.len() > 1 && broken.iter().all(|line| width(line) <= 6.0), "{broken:?}");
        assert_eq!(broken.join(" "), "one two three four");
    }
}
