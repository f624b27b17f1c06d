//! Whether witnesses can be what they are given for.

use crate::data::{Batch, Partition, Schema};
use crate::error::{Error, Result};
use crate::numeric::argmax;
use crate::settings::witness::LABELS_COMPARED;
use std::collections::HashMap;

/// Refuses a witness that has too few values to tell the classes apart, where no view is in its group, and one that follows from the scores of
/// a view or from the labels.
pub(super) fn check(schema: &Schema, partition: &Partition, rows: &Batch) -> Result<()> {
    let (scored, k) = (schema.scored().len(), schema.k());
    for (name, group) in partition.names(schema.views()).into_iter().zip(partition.iter()) {
        let values =
            1 + group.iter().map(|&view| schema.covariates(view).len().saturating_sub(1)).sum::<usize>();
        if group.iter().all(|&view| view >= scored) && values < k {
            return Err(Error::FewValues { witness: name, values, k });
        }
    }
    for (view, witness) in (scored..).zip(schema.witnesses()) {
        let values = values(rows, view);
        let copies = |of: String| Error::WitnessCopies { witness: witness.name().to_owned(), of };
        for (other, name) in schema.scored().iter().enumerate() {
            if follows(rows, &values, other) {
                return Err(copies(format!("the scores of view `{name}`")));
            }
        }
        let labelled = |row: usize| Some((values[row]?, rows.label(row)?));
        let labelled: Vec<(usize, usize)> = (0..rows.rows()).filter_map(labelled).collect();
        if labelled.len() >= LABELS_COMPARED && one_to_one(&labelled) {
            return Err(copies("the label".to_owned()));
        }
    }
    Ok(())
}

/// The value of a witness in each row.
fn values(rows: &Batch, view: usize) -> Vec<Option<usize>> {
    let mut values = vec![None; rows.rows()];
    for (value, indicators) in rows.covariates(view).chunks_exact(rows.rows().max(1)).enumerate() {
        for (of_row, indicator) in values.iter_mut().zip(indicators) {
            if *indicator > 0.5 {
                *of_row = Some(value);
            }
        }
    }
    values
}

/// Whether the values are those of a view's prediction by other names, or intervals of one of its scores (of two classes, their difference).
fn follows(rows: &Batch, values: &[Option<usize>], view: usize) -> bool {
    let there: Vec<(usize, usize)> = (0..rows.rows())
        .filter(|&row| !rows.is_missing(view, row))
        .filter_map(|row| Some((row, values[row]?)))
        .collect();
    let score = |row: usize, class: usize| rows.column(view, class)[row];
    let predicted = |row: usize| argmax((0..rows.k()).map(|class| score(row, class)));
    let votes: Vec<(usize, usize)> = there.iter().map(|&(row, value)| (value, predicted(row))).collect();
    if one_to_one(&votes) {
        return true;
    }
    let two = rows.k() == 2;
    (0..if two { 1 } else { rows.k() }).any(|class| {
        let by = |row: usize| if two { score(row, 1) - score(row, 0) } else { score(row, class) };
        intervals(there.iter().map(|&(row, value)| (by(row), value)).collect())
    })
}

/// Whether each value of the one goes with one of the other, and there is more than one.
fn one_to_one(pairs: &[(usize, usize)]) -> bool {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    let alike =
        pairs.iter().all(|&(a, b)| *there.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a);
    alike && there.len() > 1
}

/// Whether numbers with the same value lie together, and there is more than one value.
fn intervals(mut numbers: Vec<(f64, usize)>) -> bool {
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut seen = vec![];
    for pair in numbers.chunk_by(|a, b| a.1 == b.1) {
        if seen.contains(&pair[0].1) {
            return false;
        }
        seen.push(pair[0].1);
    }
    // A score of a few values, such as a vote, may well be in the order of something else.
    let mut cut =
        numbers.chunk_by(|a, b| a.0 == b.0).map(|equal| equal.iter().all(|own| own.1 == equal[0].1));
    seen.len() > 1 && cut.all(|whole| whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::Witness;

    /// Two views of two classes and a witness, row by row, with the errors that it is refused with.
    fn checked(witness: impl Fn(usize) -> String, label: impl Fn(usize) -> usize) -> Result<()> {
        const ROWS: usize = 1_000;
        let odds = |row: usize, view: usize| ((row * (7 + 4 * view) + 13 * view) % 101) as f64 / 101.0 - 0.4;
        let scores = |view: usize| {
            (0..2 * ROWS).map(|at| if at < ROWS { 0.0 } else { odds(at - ROWS, view) }).collect()
        };
        let texts: Vec<String> = (0..ROWS).map(witness).collect();
        let witness = Witness::of("w", texts.iter().map(String::as_str))?;
        let places = texts.iter().map(|text| witness.place(text)).collect();
        let rows = Batch::with_witnesses(ROWS, vec![scores(0), scores(1)], &[(&witness, places)])?;
        let rows = rows.with_labels((0..ROWS).map(|row| Some(label(row))).collect())?;
        let names = |names: [&str; 2]| names.map(String::from).to_vec();
        let schema = Schema::with_witnesses(names(["a", "b"]), names(["x", "y"]), Vec::new(), vec![witness])?;
        check(&schema, &Partition::single(), &rows)
    }

    fn copied(witness: impl Fn(usize) -> String) -> Option<String> {
        match checked(witness, |row| (row / 3) % 2) {
            Ok(()) => None,
            Err(Error::WitnessCopies { of, .. }) => Some(of),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn copies_are_found() {
        let odds = |row: usize, view: usize| ((row * (7 + 4 * view) + 13 * view) % 101) as f64 / 101.0 - 0.4;
        assert_eq!(copied(|row| format!("hospital {}", row % 3)), None);
        assert_eq!(
            copied(|row| if odds(row, 1) > 0.0 { "yes" } else { "no" }.into()).unwrap(),
            "the scores of view `b`"
        );
        assert_eq!(copied(|row| format!("{:.6}", 3.0 * odds(row, 0))).unwrap(), "the scores of view `a`");
        assert_eq!(
            copied(|row| if (row / 3) % 2 == 0 { "sick" } else { "well" }.into()).unwrap(),
            "the label"
        );
    }

    #[test]
    fn as_many_values_are_needed_as_classes() {
        let schema = |classes: usize| {
            let names = |count: usize| (0..count).map(|name| name.to_string()).collect();
            let witness = Witness::of("w", ["x", "y"].repeat(50)).unwrap();
            Schema::with_witnesses(names(2), names(classes), Vec::new(), vec![witness]).unwrap()
        };
        let rows = Batch::new(0, vec![Vec::new(); 3]).unwrap();
        assert_eq!(check(&schema(2), &Partition::single(), &rows), Ok(()));
        let refused = Error::FewValues { witness: "w".into(), values: 2, k: 3 };
        assert_eq!(check(&schema(3), &Partition::single(), &rows), Err(refused));
    }
}
