//! The page that answers are put on: one file, without script and without network.

use super::verdict::sentence;
use crate::draw::{Picture, STYLE, Table};
use crate::json::Made;
use crate::markup::Markup;
use crate::text::Align;

/// Nothing is fetched, run, framed or sent; the only style is the page's own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// A table of more rows is shown to who asks for it.
const LONG: usize = 24;
/// The look of the page; that of its pictures is theirs.
const LAYOUT: &str = include_str!("page.css");

/// How far an answer is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing speaks against it.
    Trusted,
    /// What it rests on could not be tested.
    Untested,
    /// Something speaks against it.
    Doubted,
}

impl Standing {
    /// In a sign and in words, and the class of its colours.
    fn shown(self) -> [&'static str; 3] {
        match self {
            Standing::Trusted => ["\u{2713}", "Nothing speaks against it", "standing good"],
            Standing::Untested => ["?", "Untested", "standing warn"],
            Standing::Doubted => ["\u{2715}", "Not to be trusted", "standing bad"],
        }
    }
}

/// What is known in a word or a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// What it is.
    pub what: String,
    /// What it says.
    pub value: String,
    /// What goes with it.
    pub remark: String,
}

impl Tile {
    /// What is known in a word or a number, and what goes with it.
    pub fn new(what: impl Into<String>, value: impl Into<String>, remark: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), remark: remark.into() }
    }
}

/// A part of the page under a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    title: String,
    words: Vec<String>,
    picture: Option<Picture>,
    table: Option<Table>,
    facts: Vec<(String, String)>,
    wide: bool,
}

impl Section {
    /// An empty part under a heading.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With a paragraph more.
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.words.push(words.into());
        self.words.retain(|words| !words.is_empty());
        self
    }

    /// With a picture, and its numbers under it.
    pub fn picture(mut self, picture: Option<Picture>) -> Self {
        self.picture = picture;
        self
    }

    /// With a table that is all there is to see.
    pub fn table(mut self, table: Table) -> Self {
        self.table = Some(table);
        self
    }

    /// With what is what.
    pub fn facts<S: Into<String>>(mut self, facts: impl IntoIterator<Item = (S, String)>) -> Self {
        self.facts.extend(facts.into_iter().map(|(what, value)| (what.into(), value)));
        self
    }

    /// Over the whole width of the page.
    pub fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    fn put(&self, page: &mut Markup) {
        let class = if self.wide { "card wide" } else { "card" };
        page.within("section", &[("class", &class)], |section| {
            section.element("h2", &[], &self.title);
            for words in &self.words {
                section.element("p", &[], words);
            }
            if let Some(picture) = &self.picture {
                figure(section, picture);
            }
            match &self.table {
                Some(shown) if shown.rows.len() > LONG => {
                    section.within("details", &[], |details| {
                        details.element(
                            "summary",
                            &[],
                            format!("All {} rows of the table", shown.rows.len()),
                        );
                        table(details, &self.title, shown);
                    });
                }
                Some(shown) => table(section, &self.title, shown),
                None => {}
            }
            if !self.facts.is_empty() {
                facts(section, &self.facts);
            }
        });
    }
}

/// An answer as a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What it is about, in two or three words.
    pub about: &'static str,
    /// How far to trust it.
    pub standing: Standing,
    /// The answer in a sentence.
    pub headline: String,
    /// What more there is to say of it, in a paragraph each.
    pub lead: Vec<String>,
    /// What speaks against it, and what to do about each.
    pub reasons: Vec<(String, String)>,
    /// What people came for.
    pub tiles: Vec<Tile>,
    /// All else.
    pub sections: Vec<Section>,
}

impl Page {
    /// The picture of the first section, which is what the answer is about.
    pub fn picture(&self) -> Option<&Picture> {
        self.sections.first()?.picture.as_ref()
    }

    /// The page as a document: made how, and by which command. The same answer is the same bytes.
    pub fn html(&self, made: &Made, command: &str) -> String {
        let mut page = Markup::default();
        page.fixed("<!doctype html>\n").within("html", &[("lang", &"en")], |html| {
            html.within("head", &[], |head| {
                head.empty("meta", &[("charset", &"utf-8")]);
                head.empty("meta", &[("http-equiv", &"Content-Security-Policy"), ("content", &POLICY)]);
                head.empty(
                    "meta",
                    &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")],
                );
                head.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
                head.element("title", &[], format!("{} \u{2013} {}", self.headline, self.about));
                style(head);
            });
            html.within("body", &[("class", &"triview")], |body| {
                body.within("main", &[], |main| {
                    main.within("header", &[], |header| {
                        header.within("p", &[("class", &"brand")], |brand| {
                            brand.element("b", &[], "triview").text(" \u{b7} ").text(self.about);
                        });
                        self.verdict(header, "h1");
                    });
                    self.against(main, "h2");
                    self.known(main);
                    main.within("div", &[("class", &"cards")], |cards| {
                        self.sections.iter().for_each(|section| section.put(cards));
                        made_by(made, command).put(cards);
                    });
                });
            });
        });
        page.into_string() + "\n"
    }

    /// What of it fits in a notebook: the verdict, what people came for, and the first picture.
    pub fn card(&self) -> String {
        let mut card = Markup::default();
        card.within("div", &[("class", &"triview note")], |card| {
            style(card);
            self.verdict(card, "h3");
            self.against(card, "h4");
            self.known(card);
            if let Some(picture) = self.picture() {
                figure(card, picture);
            }
        });
        card.into_string()
    }

    fn verdict(&self, page: &mut Markup, heading: &'static str) {
        let [sign, words, class] = self.standing.shown();
        page.within("p", &[("class", &class)], |standing| {
            standing.element("span", &[("aria-hidden", &"true")], sign).text(" ").text(words);
        });
        page.element(heading, &[], &self.headline);
        for words in &self.lead {
            page.element("p", &[], words);
        }
    }

    fn against(&self, page: &mut Markup, heading: &'static str) {
        if self.reasons.is_empty() {
            return;
        }
        page.within("section", &[("class", &"doubt")], |doubt| {
            doubt.element(heading, &[], "Why not, and what to do");
            doubt.within("ul", &[], |list| {
                for (reason, remedy) in &self.reasons {
                    list.within("li", &[], |item| {
                        item.element("strong", &[], sentence(reason));
                        if !remedy.is_empty() {
                            item.within("p", &[], |remedies| {
                                remedies.text("What to do: ").text(remedy).text(".");
                            });
                        }
                    });
                }
            });
        });
    }

    fn known(&self, page: &mut Markup) {
        page.within("dl", &[("class", &"tiles")], |tiles| {
            for Tile { what, value, remark } in &self.tiles {
                tiles.within("div", &[], |tile| {
                    tile.element("dt", &[], what).within("dd", &[], |shown| {
                        shown.text(value);
                        if !remark.is_empty() {
                            shown.element("small", &[], remark);
                        }
                    });
                });
            }
        });
    }
}

fn style(page: &mut Markup) {
    page.within("style", &[], |style| {
        style.fixed(STYLE).fixed(LAYOUT);
    });
}

fn figure(page: &mut Markup, picture: &Picture) {
    page.within("figure", &[], |figure| {
        figure.element("figcaption", &[], &picture.title);
        picture.inline(figure);
        figure.within("details", &[], |details| {
            details.element("summary", &[], "The same numbers as a table");
            table(details, &picture.title, &picture.table);
        });
    });
}

fn table(page: &mut Markup, caption: &str, shown: &Table) {
    let class = |align: Align| if align == Align::Right { "r" } else { "" };
    let cell =
        |row: &mut Markup, tag: &'static str, scope: Option<&'static str>, align: Align, text: &str| {
            let mut attributes: Vec<(&'static str, &dyn std::fmt::Display)> = Vec::new();
            let (scope, class) = (scope.unwrap_or_default(), class(align));
            attributes.extend((!scope.is_empty()).then_some(("scope", &scope as &dyn std::fmt::Display)));
            attributes.extend((!class.is_empty()).then_some(("class", &class as &dyn std::fmt::Display)));
            row.element(tag, &attributes, text);
        };
    page.within("div", &[("class", &"scroll")], |scroll| {
        scroll.within("table", &[], |table| {
            table.element("caption", &[], caption);
            table.within("thead", &[], |head| {
                head.within("tr", &[], |row| {
                    for (name, align) in &shown.columns {
                        cell(row, "th", Some("col"), *align, name);
                    }
                });
            });
            table.within("tbody", &[], |body| {
                for cells in &shown.rows {
                    body.within("tr", &[], |row| {
                        for (at, (text, (_, align))) in cells.iter().zip(&shown.columns).enumerate() {
                            match at {
                                0 => cell(row, "th", Some("row"), *align, text),
                                _ => cell(row, "td", None, *align, text),
                            }
                        }
                    });
                }
            });
        });
    });
}

fn facts(page: &mut Markup, facts: &[(String, String)]) {
    page.within("dl", &[("class", &"facts")], |list| {
        for (what, value) in facts {
            list.element("dt", &[], what).element("dd", &[], value);
        }
    });
}

/// How an answer was made.
fn made_by(made: &Made, command: &str) -> Section {
    let inputs = if made.inputs.is_empty() { "none".to_owned() } else { made.inputs.join(", ") };
    let facts = [
        ("version", format!("triview {}", made.version)),
        ("seed", made.seed.to_string()),
        ("inputs", inputs),
        ("command", command.to_owned()),
    ];
    Section::new("How this was made")
        .facts(facts)
        .words("The same command, inputs, seed and version give the same page, byte for byte.")
        .wide()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            about: "a test",
            standing: Standing::Doubted,
            headline: "Do not rely on </title><script>alert(1)</script>".into(),
            lead: vec!["more".into()],
            reasons: vec![("the views depend".into(), "look at <b>".into())],
            tiles: vec![Tile::new("risk", "0.5", "\u{b1} 0.1")],
            sections: vec![
                Section::new("One")
                    .words("w")
                    .table(Table::of_numbers(["class", "share"], [vec!["<i>".to_owned(), "0.5".to_owned()]])),
            ],
        }
    }

    #[test]
    fn what_is_not_to_be_trusted_says_so_before_any_number() {
        let made = Made { version: "1.2.3", seed: 7, inputs: vec!["<scores>.csv".into()] };
        let html = page().html(&made, "triview estimate '<scores>.csv'");
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("no {text} in {html}"));
        assert!(at("Not to be trusted") < at("<h1>") && at("The views depend.") < at("class=\"tiles\""));
        assert!(at("What to do: look at &lt;b&gt;.") < at("class=\"tiles\""));
        assert!(html.contains(POLICY) || html.contains(&POLICY.replace('\'', "&#39;")));
        for hostile in ["<script", "<b>", "<i>", "<scores>"] {
            let own = if hostile == "<b>" { 1 } else { 0 };
            assert_eq!(html.matches(hostile).count(), own, "{hostile}");
        }
        assert_eq!(html, page().html(&made, "triview estimate '<scores>.csv'"));
    }

    #[test]
    fn a_card_has_the_verdict_and_no_document() {
        let card = page().card();
        assert!(card.starts_with("<div") && card.ends_with("</div>") && card.contains("Not to be trusted"));
        assert!(!card.contains("<html") && !card.contains("<h1"));
    }
}
