//! A store, written: all of it, or nothing.

use crate::error::Error;
use crate::schema;
use crate::store::{Added, Digest, Part, Place, Store, added};
use rusqlite::{OptionalExtension, params};
use triview::Plan;
use triview::monitoring::{KeptRows, PeriodAnswer};

/// Writes to a store that nobody else writes to meanwhile. What is not committed has not happened.
#[derive(Debug)]
pub struct Adding<'a> {
    store: &'a mut Store,
    open: bool,
}

impl<'a> Adding<'a> {
    pub(crate) fn begin(store: &'a mut Store) -> Result<Self, Error> {
        store.connection.execute_batch("BEGIN IMMEDIATE").map_err(|source| store.refused(source))?;
        let adding = Self { store, open: true };
        // Another process may have made the tables while this one waited.
        let version = adding.store.connection.pragma_query_value(None, "user_version", |row| row.get(0));
        let version: i64 = version.map_err(|source| adding.store.refused(source))?;
        if version < schema::VERSION {
            schema::update(&adding.store.connection, version)
                .map_err(|source| adding.store.refused(source))?;
        }
        adding.store.brought_up_to_date();
        Ok(adding)
    }

    /// The store as it is within this.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// The file with this content, where it has been added.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn known(&self, digest: &Digest) -> Result<Option<Added>, Error> {
        let query = "SELECT digest, name, rows, added FROM file WHERE digest = ?1";
        let found = self.store.connection.query_row(query, [digest.as_slice()], added);
        found.optional().map_err(|source| self.store.refused(source))
    }

    /// Remembers that a file was added.
    ///
    /// # Errors
    /// [`Error::Full`] and its like.
    pub fn add_file(&mut self, file: &Added) -> Result<(), Error> {
        self.execute(
            "INSERT INTO file (digest, name, rows, added) VALUES (?1, ?2, ?3, ?4)",
            params![file.digest.as_slice(), file.name, file.rows as i64, file.added],
        )
    }

    /// Sets the plan of all moments.
    ///
    /// # Errors
    /// [`triview::Error::UnsavableLoss`], [`Error::Full`] and its like.
    pub fn set_plan(&mut self, plan: &Plan) -> Result<(), Error> {
        self.set("plan", &plan.to_bytes()?)
    }

    /// Remembers something under a name.
    ///
    /// # Errors
    /// [`Error::Full`] and its like.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        self.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)", params![name, value])
    }

    /// Adds rows to a period: their moments, some of them, and those with labels. Its answer is made again.
    ///
    /// # Errors
    /// [`Error::LetGo`], [`Error::Twice`], [`triview::Error::PlansDiffer`], [`Error::Damaged`], [`Error::Full`] and its like.
    pub fn add(&mut self, place: &Place, part: Part) -> Result<(), Error> {
        let merged = match self.store.part(place)? {
            None if self.store.has(place)? => return Err(self.let_go_of(place)),
            None => part,
            Some(mut sum) => {
                self.expect_others(place, &sum.kept, &part.kept)?;
                self.expect_others(place, &sum.labelled, &part.labelled)?;
                sum.moments = sum.moments.merge(&part.moments)?;
                sum.kept.merge(part.kept);
                sum.labelled.merge(part.labelled);
                sum
            }
        };
        let rows = merged.moments.rows() as i64;
        let (moments, kept) = (merged.moments.to_bytes()?, merged.kept.to_bytes());
        let labelled = (!merged.labelled.is_empty()).then(|| merged.labelled.to_bytes());
        self.execute(
            "INSERT OR REPLACE INTO part (period, segment, rows, moments, kept, labelled) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![place.period, place.stored_segment(), rows, moments, kept, labelled],
        )?;
        self.forget_answer(place)
    }

    /// Remembers rows of a period that were added before and whose class is known now.
    ///
    /// # Errors
    /// [`Error::LetGo`], [`Error::Twice`], [`Error::Damaged`], [`Error::Full`] and its like.
    pub fn add_labels(&mut self, place: &Place, labelled: KeptRows) -> Result<(), Error> {
        let mut part = self.store.part(place)?.ok_or_else(|| self.let_go_of(place))?;
        self.expect_others(place, &part.labelled, &labelled)?;
        part.labelled.merge(labelled);
        self.execute(
            "UPDATE part SET labelled = ?3 WHERE period = ?1 AND segment = ?2",
            params![place.period, place.stored_segment(), part.labelled.to_bytes()],
        )?;
        self.forget_answer(place)
    }

    /// Refuses rows that are in the period already, in a file of other bytes.
    fn expect_others(&self, place: &Place, known: &KeptRows, more: &KeptRows) -> Result<(), Error> {
        match known.again_in(more) {
            0 => Ok(()),
            rows => Err(Error::Twice { period: place.period.clone(), rows }),
        }
    }

    fn let_go_of(&self, place: &Place) -> Error {
        Error::LetGo { path: self.store.path.clone(), period: place.period.clone() }
    }

    fn forget_answer(&mut self, place: &Place) -> Result<(), Error> {
        self.execute(
            "DELETE FROM answer WHERE period = ?1 AND segment = ?2",
            params![place.period, place.stored_segment()],
        )
    }

    /// Keeps the answer of a period as it is in this store, and how it was made.
    ///
    /// # Errors
    /// [`Error::Full`] and its like.
    pub fn keep_answer(&mut self, place: &Place, made_by: &str, answer: &PeriodAnswer) -> Result<(), Error> {
        let text = serde_json::to_string(answer)
            .map_err(|error| Error::Damaged { path: self.store.path.clone(), reason: error.to_string() })?;
        self.execute(
            "INSERT OR REPLACE INTO answer (period, segment, made_by, answer) VALUES (?1, ?2, ?3, ?4)",
            params![place.period, place.stored_segment(), made_by, text],
        )
    }

    /// Lets go of a period's moments and rows; its answer stays. Says whether it has: where there is no answer yet that was `made_by` these
    /// means, nothing is let go of.
    ///
    /// # Errors
    /// [`Error::Full`] and its like.
    pub fn let_go(&mut self, place: &Place, made_by: &str) -> Result<bool, Error> {
        let statement = "UPDATE part SET moments = NULL, kept = NULL, labelled = NULL WHERE period = ?1 AND segment = ?2
             AND EXISTS (SELECT 1 FROM answer WHERE answer.period = ?1 AND answer.segment = ?2 AND made_by = ?3)";
        let values = params![place.period, place.stored_segment(), made_by];
        let changed = self.store.connection.execute(statement, values);
        changed.map(|places| places > 0).map_err(|source| self.store.refused(source))
    }

    fn execute(&mut self, statement: &str, values: impl rusqlite::Params) -> Result<(), Error> {
        self.store
            .connection
            .execute(statement, values)
            .map(|_| ())
            .map_err(|source| self.store.refused(source))
    }

    /// Makes it so.
    ///
    /// # Errors
    /// [`Error::Full`] and its like; nothing is changed then.
    pub fn commit(mut self) -> Result<(), Error> {
        self.store.connection.execute_batch("COMMIT").map_err(|source| self.store.refused(source))?;
        self.open = false;
        Ok(())
    }
}

impl Drop for Adding<'_> {
    fn drop(&mut self) {
        if self.open {
            // Where even this fails, the next who opens the store finds it as it was. After a write that the disk refused it is looking again
            // that brings back what was there before.
            let _ = self.store.connection.execute_batch("ROLLBACK");
            let _ = self.store.connection.pragma_query_value(None, "user_version", |_| Ok(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_leaves_the_store_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("m.store");
        let mut store = Store::open_or_create(&path).expect("a store");
        let mut adding = store.begin().expect("nobody else");
        adding.set("small", b"kept").expect("room");
        adding.commit().expect("room");
        let before = std::fs::read(&path).expect("a file");
        store.connection.execute_batch("PRAGMA max_page_count = 16").expect("a limit");
        let mut adding = store.begin().expect("nobody else");
        adding.set("small", b"changed").expect("room");
        let full = adding.set("large", &vec![7; 1 << 20]).and_then(|()| adding.commit());
        assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
        assert_eq!(store.setting("small").expect("a setting"), Some(b"kept".to_vec()));
        assert_eq!(store.setting("large").expect("no setting"), None);
        assert_eq!(std::fs::read(&path).expect("a file"), before);
    }

    #[test]
    fn nothing_is_let_go_of_that_has_no_answer() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = Store::open_or_create(&folder.path().join("m.store")).expect("a store");
        let place = Place::whole("2026-W01");
        let mut adding = store.begin().expect("nobody else");
        adding.execute("INSERT INTO part VALUES ('2026-W01', '', 1, x'00', NULL, NULL)", []).expect("room");
        assert!(!adding.let_go(&place, "us").expect("room"));
        adding.keep_answer(&place, "others", &PeriodAnswer::default()).expect("room");
        assert!(!adding.let_go(&place, "us").expect("room"));
        adding.keep_answer(&place, "us", &PeriodAnswer::default()).expect("room");
        assert!(adding.let_go(&place, "us").expect("room"));
    }
}
