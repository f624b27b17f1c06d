//! Files of transition potentials.

use crate::error::Error;
use crate::read::location::Location;
use std::path::Path;
use triview::sequences::Chain;

/// The row of first states.
pub(crate) const INITIAL: &str = "initial";

/// Reads the log potentials of a chain: CSV with the states' names in its header and first column, row `a`, column `b` the log
/// potential from `a` to `b`, and optionally a row `initial`.
///
/// # Errors
/// [`Error::Transitions`] for what is not such a square, [`Error::NotANumber`], and those of [`Chain::new`].
pub fn read_transitions(path: &Path) -> Result<Chain, Error> {
    let location = Location::of(path);
    location.unless_changed(read(&location))
}

fn read(location: &Location) -> Result<Chain, Error> {
    let path = location.name.as_path();
    let refuse = |reason: String| Error::Transitions { path: path.into(), reason };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(location.open_whole()?);
    let broken = |error: csv::Error| refuse(format!("it cannot be read: {error}"));
    let header = reader.headers().map_err(broken)?;
    let states: Vec<String> = header.iter().skip(1).map(|name| name.trim().to_owned()).collect();
    let k = states.len();
    if k < 2 {
        return Err(refuse(format!("its header names {k} state(s), at least two are needed")));
    }
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; k];
    let mut initial = None;
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(broken)?;
        let name = record.get(0).unwrap_or_default().trim();
        if record.len() != k + 1 {
            let found = record.len().saturating_sub(1);
            return Err(refuse(format!("row {} (`{name}`) has {found} potential(s) for {k} states", at + 1)));
        }
        let number = |place: usize| {
            let text = record.get(place + 1).unwrap_or_default().trim();
            text.parse::<f64>().map_err(|_| Error::NotANumber {
                path: path.into(),
                row: at as u64 + 1,
                column: states[place].clone(),
                text: text.to_owned(),
            })
        };
        let potentials = (0..k).map(number).collect::<Result<Vec<f64>, Error>>()?;
        let slot = match states.iter().position(|state| state == name) {
            Some(state) => &mut rows[state],
            None if name == INITIAL => &mut initial,
            None => {
                return Err(refuse(format!("row {} is of `{name}`, which its header does not name", at + 1)));
            }
        };
        if slot.replace(potentials).is_some() {
            return Err(refuse(format!("row {} is the second of `{name}`", at + 1)));
        }
    }
    if let Some(state) = rows.iter().position(Option::is_none) {
        return Err(refuse(format!("it has no row for state `{}`", states[state])));
    }
    Ok(Chain::new(states, initial, rows.into_iter().flatten().flatten().collect())?)
}
