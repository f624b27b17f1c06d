//! A store, read.

use crate::adding::Adding;
use crate::error::Error;
use crate::schema::{APPLICATION, VERSION};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use triview::monitoring::{KeptRows, PeriodAnswer};
use triview::{Moments, Plan};

/// What a file is known by.
pub type Digest = [u8; 16];

/// The most rows of a period that anybody has; more are damage, and their sum may be no number.
const MOST_ROWS: u64 = 1 << 48;

/// How much of a database is no plain table, and how many columns are computed: such things are run when they are read, and may have no end.
const OTHERS: [&str; 2] = [
    "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR coalesce(rootpage, 0) <= 0",
    "SELECT count(*) FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND c.hidden <> 0",
];

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// A period, of one segment or of all rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The period's name.
    pub period: String,
    /// The segment's; nothing for all rows.
    pub segment: Option<String>,
}

/// What is remembered of a period's rows, or of a segment's in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Their moments.
    pub moments: Moments,
    /// Some of them.
    pub kept: KeptRows,
    /// Those whose class is known.
    pub labelled: KeptRows,
}

/// A file that has been added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// What it is known by.
    pub digest: Digest,
    /// What it was called.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// When it was added, in seconds since 1970.
    pub added: i64,
}

/// A store.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// The version of its tables; 0 where it has none yet.
    version: i64,
    writable: bool,
}

impl Store {
    /// Opens a store that is there.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Folder`], [`Error::Foreign`], [`Error::Newer`] and whatever keeps the file from being read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        match store.version {
            0 => Err(Error::Missing { path: path.into() }),
            _ => Ok(store),
        }
    }

    /// Opens a store, which is made by the first that is added to it.
    ///
    /// # Errors
    /// Those of [`Store::open`] but the first.
    pub fn open_or_create(path: &Path) -> Result<Self, Error> {
        Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, Error> {
        let creates = flags.contains(OpenFlags::SQLITE_OPEN_CREATE);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(Error::Folder { path: path.into() }),
            Err(_) if !creates => return Err(Error::Missing { path: path.into() }),
            _ => {}
        }
        let foreign = |found| Error::Foreign { path: path.into(), found };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = |source| named(path, source);
        let connection = Connection::open_with_flags(path, flags).map_err(database)?;
        connection.busy_timeout(PATIENCE).map_err(database)?;
        // A store may be a stranger's: its pages are looked at before they are believed, and nothing in it is run.
        for (name, value) in [("trusted_schema", false), ("cell_size_check", true)] {
            connection.pragma_update(None, name, value).map_err(database)?;
        }
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let application = pragma("application_id").map_err(database)?;
        let version = pragma("user_version").map_err(database)?;
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(database)?;
        if application != APPLICATION && (tables > 0 || version != 0) {
            return Err(foreign("it is a database of something else"));
        }
        for others in OTHERS {
            let found: i64 = connection.query_row(others, [], |row| row.get(0)).map_err(database)?;
            if found > 0 {
                return Err(foreign("it has views, triggers or computed columns, which no store has"));
            }
        }
        if version > VERSION {
            return Err(Error::Newer { path: path.into(), found: version, known: VERSION });
        }
        let writable = !connection.is_readonly("main").map_err(database)?;
        let mut store = Self { connection, path: path.into(), version, writable };
        if store.version > 0 && store.version < VERSION {
            store.begin()?.commit()?;
            store.version = VERSION;
        }
        Ok(store)
    }

    /// The same store, which messages call by another path.
    pub fn called(self, path: &Path) -> Self {
        Self { path: path.into(), ..self }
    }

    /// What is another number once another process has changed anything.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn changes_of_others(&self) -> Result<i64, Error> {
        let found = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        found.map_err(|source| self.refused(source))
    }

    /// Whether it can be written to.
    pub fn writable(&self) -> bool {
        self.writable
    }

    /// Holds the store alone, to add to it; waits for whoever else does. Tables are made, or brought up to date, with it.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::Busy`], [`Error::Full`].
    pub fn begin(&mut self) -> Result<Adding<'_>, Error> {
        if !self.writable {
            let reason = "the file, its folder or its disk is read-only".to_owned();
            return Err(Error::ReadOnly { path: self.path.clone(), reason });
        }
        Adding::begin(self)
    }

    /// The same if nobody else writes to it at this moment; nothing otherwise, or where it cannot be written to.
    ///
    /// # Errors
    /// [`Error::Full`] and its like.
    pub fn begin_now(&mut self) -> Result<Option<Adding<'_>>, Error> {
        let wait =
            |store: &Self, time| store.connection.busy_timeout(time).map_err(|source| store.refused(source));
        if !self.writable {
            return Ok(None);
        }
        wait(self, Duration::ZERO)?;
        let free = self.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok();
        wait(self, PATIENCE)?;
        if free { self.begin().map(Some) } else { Ok(None) }
    }

    /// The plan that all of its moments are of; nothing where nothing has been added yet.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn plan(&self) -> Result<Option<Plan>, Error> {
        let bytes: Option<Vec<u8>> = self.setting("plan")?;
        bytes.map(|bytes| Plan::from_bytes(&bytes).map_err(|error| self.damaged(&error))).transpose()
    }

    /// Something that is remembered under a name.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn setting(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        if self.version == 0 {
            return Ok(None);
        }
        let found =
            self.connection.query_row("SELECT value FROM setting WHERE name = ?1", [name], |row| row.get(0));
        found.optional().map_err(|source| self.refused(source))
    }

    /// All periods, of all rows and of each segment, and how many rows each has; in the order of their names.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn places(&self) -> Result<Vec<(Place, u64)>, Error> {
        let places =
            self.rows_of("SELECT period, segment, rows FROM part ORDER BY segment, period", |row| {
                let segment: String = row.get(1)?;
                Ok((Place::stored(row.get(0)?, segment), whole(row, 2)?))
            })?;
        match places.iter().find(|(_, rows)| *rows > MOST_ROWS) {
            Some((place, rows)) => Err(self.damaged(&format!("{} has {rows} rows", place.period))),
            None => Ok(places),
        }
    }

    /// The files that were added, in the order they were.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn files(&self) -> Result<Vec<Added>, Error> {
        self.rows_of("SELECT digest, name, rows, added FROM file ORDER BY added, name, digest", added)
    }

    fn rows_of<T>(
        &self,
        query: &str,
        make: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let read =
            || self.connection.prepare(query)?.query_map([], make)?.collect::<rusqlite::Result<Vec<T>>>();
        read().map_err(|source| self.refused(source))
    }

    /// What is remembered of a period; nothing where there is no such, or only its answer is left.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn part(&self, place: &Place) -> Result<Option<Part>, Error> {
        let query = "SELECT moments, kept, labelled FROM part WHERE period = ?1 AND segment = ?2 AND moments IS NOT NULL";
        type Blobs = (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);
        let found: Option<Blobs> = self
            .connection
            .query_row(query, params![place.period, place.stored_segment()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()
            .map_err(|source| self.refused(source))?;
        let Some((moments, kept, labelled)) = found else { return Ok(None) };
        let rows = |bytes: Option<Vec<u8>>| {
            bytes.map_or(Ok(KeptRows::default()), |bytes| KeptRows::from_bytes(&bytes))
        };
        let part = || -> triview::Result<Part> {
            Ok(Part { moments: Moments::from_bytes(&moments)?, kept: rows(kept)?, labelled: rows(labelled)? })
        };
        part().map(Some).map_err(|error| self.damaged(&error))
    }

    /// Whether a period has been added to, though only its answer may be left.
    pub(crate) fn has(&self, place: &Place) -> Result<bool, Error> {
        let query = "SELECT EXISTS (SELECT 1 FROM part WHERE period = ?1 AND segment = ?2)";
        let found =
            self.connection.query_row(query, params![place.period, place.stored_segment()], |row| row.get(0));
        found.map_err(|source| self.refused(source))
    }

    /// All answers that were kept, and how each was made.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    pub fn answers(&self) -> Result<BTreeMap<Place, (String, PeriodAnswer)>, Error> {
        let found = self.rows_of("SELECT period, segment, made_by, answer FROM answer", |row| {
            let place = Place::stored(row.get(0)?, row.get(1)?);
            Ok((place, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
        })?;
        // What cannot be read is made again.
        let parsed = found
            .into_iter()
            .filter_map(|(place, made_by, text)| Some((place, (made_by, serde_json::from_str(&text).ok()?))));
        Ok(parsed.collect())
    }

    /// A copy of it in a new file, as small as can be.
    ///
    /// # Errors
    /// Whatever keeps the file from being written.
    pub fn export(&self, to: &Path) -> Result<(), Error> {
        let done = self.connection.execute("VACUUM INTO ?1", [to.to_string_lossy()]);
        done.map(|_| ()).map_err(|source| named(to, source))
    }

    pub(crate) fn refused(&self, source: rusqlite::Error) -> Error {
        named(&self.path, source)
    }

    fn damaged(&self, reason: &dyn std::fmt::Display) -> Error {
        Error::Damaged { path: self.path.clone(), reason: reason.to_string() }
    }

    pub(crate) fn brought_up_to_date(&mut self) {
        self.version = VERSION;
    }
}

impl Place {
    /// A period of all rows.
    pub fn whole(period: &str) -> Self {
        Self { period: period.to_owned(), segment: None }
    }

    /// A segment's name has a mark before it, for one of no letters is one too.
    fn stored(period: String, segment: String) -> Self {
        Self { period, segment: segment.strip_prefix('=').map(str::to_owned) }
    }

    pub(crate) fn stored_segment(&self) -> String {
        self.segment.as_ref().map_or(String::new(), |segment| format!("={segment}"))
    }
}

/// A number of rows.
fn whole(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let found: i64 = row.get(column)?;
    u64::try_from(found).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, found))
}

pub(crate) fn added(row: &rusqlite::Row<'_>) -> rusqlite::Result<Added> {
    Ok(Added { digest: row.get(0)?, name: row.get(1)?, rows: whole(row, 2)?, added: row.get(3)? })
}

/// What the database says, in words that say what to do.
fn named(path: &Path, source: rusqlite::Error) -> Error {
    let path = path.to_path_buf();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::Foreign { path, found: "it does not begin like one" },
        Some(ErrorCode::DiskFull) => Error::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy { path, seconds: PATIENCE.as_secs() }
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::ReadOnly { path, reason: source.to_string() }
        }
        Some(ErrorCode::SystemIoFailure) => Error::Refused { path, reason: source.to_string() },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, reason: source.to_string() },
        _ => Error::Database { path, source },
    }
}
