//! Marked-up text, HTML or SVG. Whatever is put into it is escaped here, and nowhere else.

use std::fmt::{Display, Write};

/// Names and values of attributes. The names are the program's own.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// Elements and text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Markup(String);

impl Markup {
    /// Adds an element, and to it what `inside` adds.
    pub(crate) fn within(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.open(tag, attributes);
        self.0.push('>');
        inside(self);
        let _ = write!(self.0, "</{tag}>");
        self
    }

    /// Adds an element that holds a text.
    pub(crate) fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        text: impl Display,
    ) -> &mut Self {
        self.within(tag, attributes, |inside| {
            inside.text(text);
        })
    }

    /// Adds an element that holds nothing.
    pub(crate) fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.open(tag, attributes);
        self.0.push_str("/>");
        self
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, text: impl Display) -> &mut Self {
        escape(&text.to_string(), &mut self.0);
        self
    }

    /// Adds what is marked up already.
    pub(crate) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Adds what the program itself has written, as it is.
    pub(crate) fn fixed(&mut self, text: &'static str) -> &mut Self {
        self.0.push_str(text);
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }

    fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            escape(&value.to_string(), &mut self.0);
            self.0.push('"');
        }
    }
}

/// Adds a text with what means something to HTML or XML written otherwise. What XML does not allow, and what turns the direction of the
/// text after it around, is shown as a replacement character: letters that are read from right to left need none of it.
fn escape(text: &str, out: &mut String) {
    for symbol in text.chars() {
        match symbol {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(symbol),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}')
            }
            _ if symbol.is_control() => out.push('\u{fffd}'),
            _ => out.push(symbol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_a_text_or_an_attribute() {
        let hostile = "</title><script>alert(1)</script>\" onload='x' & \u{202e}\u{0}\u{1b}[31m\u{ffff}";
        let mut markup = Markup::default();
        markup.element("p", &[("class", &hostile)], hostile);
        let text = markup.into_string();
        assert_eq!(text.matches('<').count(), 2, "{text}");
        assert_eq!(text.matches('"').count(), 2, "{text}");
        assert!(!text.contains(['\'', '\u{202e}', '\u{0}', '\u{1b}', '\u{ffff}']), "{text}");
        assert!(text.contains("&lt;script&gt;") && text.contains("[31m"), "{text}");
    }

    #[test]
    fn letters_of_every_direction_stay() {
        let mut markup = Markup::default();
        markup.text("שלום 猫 🐈 é");
        assert_eq!(markup.into_string(), "שלום 猫 🐈 é");
    }

    #[test]
    fn elements_are_closed_in_order() {
        let mut markup = Markup::default();
        markup.within("g", &[("x", &1.5)], |inside| {
            inside.empty("line", &[]).element("text", &[], "a");
        });
        assert_eq!(markup.into_string(), "<g x=\"1.5\"><line/><text>a</text></g>");
    }
}
