//! Sentences of a treebank in CoNLL-U format.

use std::error::Error;

/// A sentence, or a paragraph of them: words and their tags.
pub(crate) type Sentence = Vec<(String, String)>;

/// The tag of a word that has none yet.
pub(crate) const UNTAGGED: &str = "_";

/// Reads the words and universal tags of a CoNLL-U file: tab-separated columns, sentences apart by empty lines. Comments, ranges of
/// words (`3-4`) and empty nodes (`3.1`) are left out.
pub(crate) fn read(path: &str) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
    let mut sentences = vec![Vec::new()];
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            sentences.push(Vec::new());
        } else if !line.starts_with('#') {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, word, _, tag, ..] = fields.as_slice() else {
                return Err(format!("`{path}`, line {}: fewer than four columns", at + 1).into());
            };
            if id.bytes().all(|byte| byte.is_ascii_digit())
                && let Some(sentence) = sentences.last_mut()
            {
                sentence.push((word.to_lowercase(), (*tag).to_owned()));
            }
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    if sentences.is_empty() { Err(format!("`{path}` has no sentences").into()) } else { Ok(sentences) }
}
