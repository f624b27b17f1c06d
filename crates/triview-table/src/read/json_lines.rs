//! JSON Lines, one object a line: written anew as the CSV table that it is.

use crate::error::Error;
use crate::read::location::Location;
use crate::read::spool::Spool;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

/// No line may be longer: what has none is another kind of file.
const LONGEST: u64 = 1 << 24;

/// Where a file is read from: itself, or the table that was made of it where its first line is an object.
pub(crate) fn unrolled(location: Location, spooled: &mut Vec<Spool>) -> Result<Location, Error> {
    let Ok(file) = location.open() else { return Ok(location) };
    let mut first = String::new();
    let mut lines = BufReader::new(file).take(LONGEST);
    while first.trim().is_empty() {
        first.clear();
        match lines.read_line(&mut first) {
            Ok(0) | Err(_) => return Ok(location),
            Ok(_) => {}
        }
        if !first.trim_start().is_empty() && !first.trim_start().starts_with('{') {
            return Ok(location);
        }
    }
    if serde_json::from_str::<Map<String, Value>>(&first).is_err() {
        return Ok(location);
    }
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    objects(&location, |_, object| {
        for (name, _) in object {
            if known.insert(name.clone()) {
                names.push(name);
            }
        }
        Ok(())
    })?;
    let unwritten = |source: io::Error| Error::Read { path: location.name.clone(), source };
    let mut table = Spool::new().map_err(unwritten)?;
    let mut out = BufWriter::new(&mut table);
    let header = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    writeln!(out, "{header}").map_err(unwritten)?;
    objects(&location, |line, object| {
        let text = |name: &String| match object.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(quoted(text)),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(Value::Bool(flag)) => Ok(flag.to_string()),
            Some(Value::Array(_) | Value::Object(_)) => Err(Error::JsonLine {
                path: location.name.clone(),
                line,
                reason: format!("`{name}` is a list or an object"),
            }),
        };
        let row = names.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(",");
        writeln!(out, "{row}").map_err(unwritten)
    })?;
    out.flush().map_err(unwritten)?;
    drop(out);
    let path = table.path().to_owned();
    spooled.push(table);
    Ok(location.copied_to(&path))
}

/// Calls a function with every object of a file and the number of its line.
fn objects(
    location: &Location,
    mut call: impl FnMut(u64, Map<String, Value>) -> Result<(), Error>,
) -> Result<(), Error> {
    location.unless_changed(each_object(location, &mut call))
}

fn each_object(
    location: &Location,
    call: &mut impl FnMut(u64, Map<String, Value>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut lines = BufReader::new(location.open_whole()?);
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        let read =
            (&mut lines).take(LONGEST).read_line(&mut text).map_err(|source| location.unreadable(source))?;
        if read == 0 {
            break;
        }
        if text.trim().is_empty() {
            continue;
        }
        let object = serde_json::from_str(&text).map_err(|error| Error::JsonLine {
            path: location.name.clone(),
            line,
            reason: error.to_string(),
        })?;
        call(line, object)?;
    }
    Ok(())
}

/// A field of CSV: always between quotes, which an empty text or one with commas needs.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
