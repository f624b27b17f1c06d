//! Thrift's compact protocol, as far as footers and page headers of Parquet have to be looked at before they are believed.
//!
//! Written by hand because readers that make values of it allocate what a damaged length claims, and recurse as deep as it goes: here
//! nothing is allocated, and every element that a list claims must be there.

/// Structs within structs; a footer has some six.
const DEEPEST: usize = 32;

/// Types of values, by their numbers in the protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Bytes, and how far they have been read. Everything is nothing where they end too early.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
}

/// A field of a struct: its number and the type of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) id: i64,
    kind: u8,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// How many bytes have not been read.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A whole number, which has its sign in the last bit.
    fn signed(&mut self) -> Option<i64> {
        let coded = self.unsigned()?;
        Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    /// Calls a function with every field of a struct; it reads the value, or passes over it by [`Compact::skip`].
    pub(super) fn each_field(&mut self, mut read: impl FnMut(&mut Self, Field) -> Option<()>) -> Option<()> {
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.signed()?,
                more => id.checked_add(i64::from(more))?,
            };
            read(self, Field { id, kind: head & 0x0f })?;
        }
    }

    /// The whole number of a field; nothing where its value is something else.
    pub(super) fn whole(&mut self, field: Field) -> Option<i64> {
        matches!(field.kind, I16..=I64).then(|| self.signed())?
    }

    /// The number of structs in a list that a field is; nothing where it is something else. They are to be read next.
    pub(super) fn structs(&mut self, field: Field) -> Option<u64> {
        let (count, kind) = if field.kind == LIST { self.list()? } else { return None };
        (kind == STRUCT || count == 0).then_some(count)
    }

    /// The number and the type of a list's elements, of which each takes a byte at least.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.unsigned()?,
            few => u64::from(few),
        };
        (count <= self.left() as u64).then_some((count, head & 0x0f))
    }

    /// Passes over the value of a field.
    pub(super) fn skip(&mut self, field: Field) -> Option<()> {
        match field.kind {
            // The type of such a field is its value.
            TRUE | FALSE => Some(()),
            kind => self.skip_value(kind, DEEPEST),
        }
    }

    /// Passes over a struct.
    pub(super) fn skip_struct(&mut self) -> Option<()> {
        self.skip_value(STRUCT, DEEPEST)
    }

    fn skip_value(&mut self, kind: u8, deepest: usize) -> Option<()> {
        let deeper = deepest.checked_sub(1)?;
        match kind {
            TRUE | FALSE | BYTE => self.pass(1),
            I16..=I64 => self.unsigned().map(|_| ()),
            DOUBLE => self.pass(8),
            UUID => self.pass(16),
            BINARY => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_value(kind, deeper))
            }
            MAP => {
                let count = self.unsigned()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_value(kinds >> 4, deeper)?;
                    self.skip_value(kinds & 0x0f, deeper)
                })
            }
            STRUCT => self.each_field(|compact, field| match field.kind {
                TRUE | FALSE => Some(()),
                kind => compact.skip_value(kind, deeper),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fields_and_lists() {
        // Field 1 is -2; field 3 a list of two structs, each with field 1 = true; field 20 a text.
        let bytes = [0x15, 3, 0x29, 0x2c, 0x11, 0, 0x11, 0, 0x08, 40, 2, b'h', b'i', 0];
        let mut found = Vec::new();
        let read = Compact::new(&bytes).each_field(|compact, field| {
            found.push(field.id);
            match field.id {
                1 => (compact.whole(field)? == -2).then_some(()),
                3 => {
                    let structs = compact.structs(field)?;
                    (0..structs).try_for_each(|_| compact.skip_struct())
                }
                _ => compact.skip(field),
            }
        });
        assert_eq!((read, found), (Some(()), vec![1, 3, 20]));
        for length in 0..bytes.len() {
            assert_eq!(Compact::new(&bytes[..length]).skip_struct(), None, "cut to {length}");
        }
        assert_eq!(Compact::new(&bytes).skip_struct(), Some(()));
    }

    #[test]
    fn what_claims_more_than_there_is_ends_early() {
        let many = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        assert_eq!(Compact::new(&many).skip_struct(), None);
        let deep = [0x1c; 10_000];
        assert_eq!(Compact::new(&deep).skip_struct(), None);
    }
}
