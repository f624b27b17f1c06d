//! The tables of a store, and how older ones become today's.

use rusqlite::Connection;

/// What marks a store among SQLite's files: `triv`.
pub(crate) const APPLICATION: i64 = 0x7472_6976;
/// The version of the tables.
pub(crate) const VERSION: i64 = 2;

/// What turns a store of each version into one of the next; an empty file is of version 0.
const STEPS: [&str; VERSION as usize] = [
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
     CREATE TABLE file (
         digest BLOB PRIMARY KEY, name TEXT NOT NULL, rows INTEGER NOT NULL, added INTEGER NOT NULL
     ) WITHOUT ROWID;
     CREATE TABLE part (
         period TEXT NOT NULL, segment TEXT NOT NULL, rows INTEGER NOT NULL, moments BLOB, kept BLOB,
         UNIQUE (period, segment)
     );
     CREATE TABLE answer (
         period TEXT NOT NULL, segment TEXT NOT NULL, made_by TEXT NOT NULL, answer TEXT NOT NULL,
         PRIMARY KEY (period, segment)
     ) WITHOUT ROWID;",
    // Labels that come later than their rows.
    "ALTER TABLE part ADD COLUMN labelled BLOB;",
];

/// Brings the tables up to date, inside the caller's transaction.
pub(crate) fn update(connection: &Connection, from: i64) -> rusqlite::Result<()> {
    for step in &STEPS[from.clamp(0, VERSION) as usize..] {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)
}
