//! What a Parquet footer claims, looked at before the decoder believes it.
//!
//! The decoder reserves memory for as many children as a group claims to have, and recurses as deep as groups go: 34 bytes made it ask for
//! 17 GB, and 40 KB overflow the stack. Neither can be caught.

use super::thrift::Compact;
use crate::error::Error;
use crate::read::format::Format;
use crate::read::location::Location;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Groups within groups.
const DEEPEST: usize = 100;
/// What the decoder makes of a column of a row group, in bytes, and of an element of the schema: more than either takes.
const CHUNK: u64 = 1024;
const ELEMENT: u64 = 512;

/// Reads and checks the footer of a file.
pub(super) fn check(location: &Location, file: &mut File) -> Result<(), Error> {
    let unreadable = |source| location.unreadable(source);
    let no_footer = || location.truncated(Format::Parquet, "it does not end with the footer of one");
    let length = location.length();
    let mut end = [0; 8];
    if length < 12 {
        return Err(no_footer());
    }
    file.seek(SeekFrom::Start(length - 8)).map_err(unreadable)?;
    file.read_exact(&mut end).map_err(unreadable)?;
    let [a, b, c, d, magic @ ..] = end;
    if magic != *b"PAR1" {
        return Err(no_footer());
    }
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    let start = (length - 8).checked_sub(footer).ok_or_else(|| {
        location.truncated(Format::Parquet, format!("its footer claims {footer} bytes, more than there are"))
    })?;
    location.allow(footer.saturating_mul(2), "its footer")?;
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let bytes = location.bytes(&mut file.take(footer), footer)?;
    let claims = Claims::of(&bytes).map_err(|reason| location.corrupt(Format::Parquet, reason))?;
    location.allow(claims.bytes(footer), "its footer")
}

/// How much there is of what a footer describes.
#[derive(Debug, Default, PartialEq)]
struct Claims {
    elements: u64,
    chunks: u64,
    row_groups: u64,
}

impl Claims {
    /// What the decoder will need for it.
    fn bytes(&self, footer: u64) -> u64 {
        let each = self.chunks.saturating_mul(CHUNK);
        let schema = self.elements.saturating_add(self.row_groups).saturating_mul(ELEMENT);
        footer.saturating_mul(2).saturating_add(each).saturating_add(schema)
    }

    fn of(footer: &[u8]) -> Result<Self, String> {
        let mut claims = Self::default();
        let mut wrong = None;
        let mut compact = Compact::new(footer);
        let read = compact.each_field(|compact, field| match field.id {
            2 => {
                claims.elements = compact.structs(field)?;
                wrong = wrong.take().or(check_schema(compact, claims.elements)?);
                Some(())
            }
            4 => {
                claims.row_groups = compact.structs(field)?;
                for _ in 0..claims.row_groups {
                    claims.chunks += read_row_group(compact)?;
                }
                Some(())
            }
            _ => compact.skip(field),
        });
        match (wrong, read) {
            (Some(wrong), _) => Err(wrong),
            (None, None) => Err("its footer is not complete".into()),
            (None, Some(())) => Ok(claims),
        }
    }
}

/// Reads the elements of a schema, which are a tree in the order of its branches, and says what is wrong with it.
fn check_schema(compact: &mut Compact<'_>, elements: u64) -> Option<Option<String>> {
    // Of the groups that the present element is in, how many children are still to come.
    let mut open: Vec<u64> = Vec::new();
    let mut wrong = None;
    for at in 0..elements {
        let mut children = 0;
        compact.each_field(|compact, field| match field.id {
            5 => {
                children = compact.whole(field)?;
                Some(())
            }
            _ => compact.skip(field),
        })?;
        let left = elements - at - 1;
        if wrong.is_some() {
            continue;
        }
        if let Some(parent) = open.last_mut() {
            *parent -= 1;
        }
        match u64::try_from(children) {
            Ok(0) => {}
            Ok(children) if children <= left => open.push(children),
            _ => {
                wrong = Some(format!("a group of its schema claims {children} children, and {left} follow"));
            }
        }
        if open.len() > DEEPEST {
            wrong = Some(format!("its schema has more than {DEEPEST} groups within each other"));
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(wrong)
}

/// The number of columns of a row group.
fn read_row_group(compact: &mut Compact<'_>) -> Option<u64> {
    let mut chunks = 0;
    compact.each_field(|compact, field| match field.id {
        1 => {
            chunks = compact.structs(field)?;
            (0..chunks).try_for_each(|_| compact.skip_struct())
        }
        _ => compact.skip(field),
    })?;
    Some(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element of a schema with so many children.
    fn element(children: i64) -> Vec<u8> {
        let mut coded = (children << 1 ^ children >> 63) as u64;
        let mut bytes = vec![0x48, 1, b'g', 0x15];
        while coded >= 0x80 {
            bytes.push(coded as u8 | 0x80);
            coded >>= 7;
        }
        bytes.extend([coded as u8, 0]);
        bytes
    }

    fn footer(elements: &[i64]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc];
        let count = elements.len();
        bytes.extend([count as u8 | 0x80, (count >> 7) as u8 | 0x80, (count >> 14) as u8]);
        elements.iter().for_each(|children| bytes.extend(element(*children)));
        bytes.push(0);
        bytes
    }

    #[test]
    fn trees_are_as_deep_and_as_wide_as_they_claim() {
        assert_eq!(Claims::of(&footer(&[2, 0, 1, 0])).map(|claims| claims.elements), Ok(4));
        let deep: Vec<i64> = [1; DEEPEST].into_iter().chain([0]).collect();
        assert!(Claims::of(&footer(&deep)).is_ok());
        let deeper: Vec<i64> = [1; DEEPEST + 1].into_iter().chain([0]).collect();
        assert!(Claims::of(&footer(&deeper)).is_err_and(|wrong| wrong.contains("within each other")));
        for children in [-1, 2, i64::from(i32::MAX)] {
            let refused = Claims::of(&footer(&[1, children, 0]));
            assert!(refused.is_err_and(|wrong| wrong.contains(&children.to_string())), "{children}");
        }
    }
}
