//! Aligned text that fits a report, whatever the names in it.

use comfy_table::{CellAlignment, Table, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No line is longer than this.
pub const WIDTH: usize = 100;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For names.
    Left,
    /// For numbers.
    Right,
}

/// Rows of cells as lines of text, columns two spaces apart.
pub fn aligned(columns: &[Align], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for row in rows {
        table.add_row(row);
    }
    let last = columns.len().saturating_sub(1);
    for (index, align) in columns.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, if index == last { 0 } else { 2 }));
            column.set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
    }
    table.trim_fmt()
}

/// Names and what they are, one to a line.
pub fn facts(facts: &[(&str, String)]) -> String {
    let rows = facts.iter().map(|(what, value)| vec![(*what).to_owned(), value.clone()]);
    aligned(&[Align::Left, Align::Left], rows)
}

/// A name that can stand in a line: nothing that moves the cursor, and no wider than `width`.
pub fn name(name: &str, width: usize) -> String {
    let mut shown = String::new();
    for symbol in name.chars() {
        if symbol.width().is_none() { shown.extend(symbol.escape_default()) } else { shown.push(symbol) }
    }
    if shown.width() <= width {
        return shown;
    }
    let mut room = width.saturating_sub(1);
    let mut short: String = shown
        .chars()
        .take_while(|symbol| {
            let wide = symbol.width().unwrap_or(0);
            let fits = wide <= room;
            room = room.saturating_sub(wide);
            fits
        })
        .collect();
    short.push('…');
    short
}

/// Names in one line of at most `width`, those that do not fit counted.
pub fn names(all: &[String], width: usize) -> String {
    let each = (width / all.len().clamp(1, 3)).saturating_sub(6);
    let mut line = String::new();
    for (index, next) in all.iter().enumerate() {
        let next = name(next, each);
        let rest = format!(" and {} more", all.len() - index);
        let comma = if index == 0 { 0 } else { 2 };
        let reserve = if index + 1 == all.len() { 0 } else { rest.width() };
        if line.width() + comma + next.width() + reserve > width {
            return line + &rest;
        }
        if index > 0 {
            line.push_str(", ");
        }
        line.push_str(&next);
    }
    line
}

/// Text broken between words into lines of at most `width`; the second and later lines are indented.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = name(word, width.saturating_sub(indent));
        let line = lines.last_mut().expect("never empty");
        if line.trim().is_empty() {
            line.push_str(&word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(" ".repeat(indent) + &word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_owned(), "1.5".to_owned()], vec!["long".to_owned(), "10.5".to_owned()]];
        assert_eq!(aligned(&[Align::Left, Align::Right], rows), "a      1.5\nlong  10.5");
    }

    #[test]
    fn names_are_cut_by_their_width() {
        assert_eq!(name("cat", 3), "cat");
        assert_eq!(name("catalogue", 5), "cata…");
        assert_eq!(name("猫猫猫", 5), "猫猫…");
        assert_eq!(name("a\nb\u{1b}[31m", 40), "a\\nb\\u{1b}[31m");
        assert!(name(&"x".repeat(500), 12).width() <= 12);
    }

    #[test]
    fn a_list_of_names_is_counted_where_it_is_cut() {
        let all: Vec<String> = (0..1000).map(|class| format!("class {class}")).collect();
        let line = names(&all, 60);
        assert!(line.width() <= 60, "{line}");
        assert_eq!(line, "class 0, class 1, class 2, class 3, class 4 and 995 more");
        assert_eq!(names(&all[..2], 60), "class 0, class 1");
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 8, 2), "one two\n  three");
        assert!(wrapped(&"x".repeat(300), 20, 2).lines().all(|line| line.width() <= 20));
    }
}
