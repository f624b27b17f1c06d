//! The header of an `.npy` file: a magic, a version, and a Python dictionary of three entries.

use crate::error::Error;
use crate::read::format::Format;
use crate::read::location::Location;
use std::io::{self, Read};

/// The most bytes a header may have; NumPy's own are below one hundred.
const MOST: u32 = 1 << 20;

/// The type of an array's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Scalar {
    /// Bytes of one number.
    pub(crate) fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::F16 | Scalar::I16 | Scalar::U16 => 2,
            Scalar::F32 | Scalar::I32 | Scalar::U32 => 4,
            Scalar::F64 | Scalar::I64 | Scalar::U64 => 8,
        }
    }

    fn parse(code: &str) -> Option<Self> {
        Some(match code {
            "f2" => Scalar::F16,
            "f4" => Scalar::F32,
            "f8" => Scalar::F64,
            "i1" => Scalar::I8,
            "i2" => Scalar::I16,
            "i4" => Scalar::I32,
            "i8" => Scalar::I64,
            "u1" => Scalar::U8,
            "u2" => Scalar::U16,
            "u4" => Scalar::U32,
            "u8" => Scalar::U64,
            _ => return None,
        })
    }
}

/// What the numbers are and where they begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) scalar: Scalar,
    pub(crate) big_endian: bool,
    pub(crate) fortran: bool,
    pub(crate) rows: u64,
    pub(crate) views: u64,
    pub(crate) classes: u64,
    /// Where the numbers begin.
    pub(crate) start: u64,
    /// How many bytes they take.
    pub(crate) bytes: u64,
}

impl Header {
    /// Reads the header from the beginning of a file.
    pub(crate) fn read(input: &mut impl Read, location: &Location) -> Result<Self, Error> {
        let short = |source: io::Error| match source.kind() {
            io::ErrorKind::UnexpectedEof => location.truncated(Format::Npy, "it ends within its header"),
            _ => location.unreadable(source),
        };
        let corrupt = |reason: &str| location.corrupt(Format::Npy, reason);
        let mut head = [0; 8];
        input.read_exact(&mut head).map_err(short)?;
        let (size, length) = match head[6] {
            1 => {
                let mut length = [0; 2];
                input.read_exact(&mut length).map_err(short)?;
                (10, u32::from(u16::from_le_bytes(length)))
            }
            2 | 3 => {
                let mut length = [0; 4];
                input.read_exact(&mut length).map_err(short)?;
                (12, u32::from_le_bytes(length))
            }
            _ => return Err(corrupt(&format!("its format version is {}, not 1 to 3", head[6]))),
        };
        if length > MOST {
            return Err(corrupt("its header claims an impossible length"));
        }
        let text = location.bytes(input, u64::from(length))?;
        if text.len() < length as usize {
            return Err(location.truncated(Format::Npy, "it ends within its header"));
        }
        let text = String::from_utf8_lossy(&text);
        let entries = Entries::parse(&text).ok_or_else(|| corrupt("its header is not what NumPy writes"))?;

        let unknown = || Error::ArrayType { path: location.name.clone(), found: entries.descr.to_owned() };
        let (big_endian, code) = match entries.descr.split_at_checked(1).ok_or_else(unknown)? {
            (">", code) => (true, code),
            ("<" | "|" | "=", code) => (false, code),
            _ => return Err(unknown()),
        };
        let scalar = Scalar::parse(code).ok_or_else(unknown)?;
        let &[rows, views, classes] = entries.shape.as_slice() else {
            return Err(Error::ArrayShape { path: location.name.clone(), shape: entries.shape });
        };
        let bytes = [views, classes, scalar.size() as u64]
            .into_iter()
            .try_fold(rows, u64::checked_mul)
            .ok_or_else(|| corrupt("its shape is out of range"))?;
        let start = size + u64::from(length);
        Ok(Self { scalar, big_endian, fortran: entries.fortran, rows, views, classes, start, bytes })
    }
}

/// The dictionary's entries.
#[derive(Debug, PartialEq)]
struct Entries<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<u64>,
}

impl<'a> Entries<'a> {
    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 10), }`, entries in any order.
    fn parse(text: &'a str) -> Option<Self> {
        let mut text = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !text.is_empty() {
            let (key, rest) = quoted(text)?;
            let rest = rest.trim_start().strip_prefix(':')?.trim_start();
            text = match key {
                "descr" if rest.starts_with(['\'', '"']) => {
                    let (value, rest) = quoted(rest)?;
                    descr = Some(value);
                    rest
                }
                // A structured type, a list of fields: named as it stands.
                "descr" => {
                    let (value, rest) = rest.split_at(rest.find(']')? + 1);
                    descr = Some(value);
                    rest
                }
                "fortran_order" => {
                    let truth = |word, value| Some((value, rest.strip_prefix(word)?));
                    let (value, rest) = truth("True", true).or_else(|| truth("False", false))?;
                    fortran = Some(value);
                    rest
                }
                "shape" => {
                    let (axes, rest) = rest.strip_prefix('(')?.split_once(')')?;
                    let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
                    // Python 2 wrote long integers with an L.
                    shape = Some(
                        axes.map(|axis| axis.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?,
                    );
                    rest
                }
                _ => return None,
            };
            text = text.trim_start();
            text = text.strip_prefix(',').unwrap_or(text).trim_start();
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// A quoted word at the beginning of a text, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dictionary_is_read_in_any_order() {
        let text = "{'shape': (2, 3L, 10), \"descr\": '<f4', 'fortran_order': True}   \n";
        let entries = Entries { descr: "<f4", fortran: true, shape: vec![2, 3, 10] };
        assert_eq!(Entries::parse(text), Some(entries));
    }

    #[test]
    fn what_numpy_does_not_write_is_refused() {
        for text in
            ["", "{}", "{'descr': '<f4'}", "{'descr' '<f4'}", "{'shape': (1, x)}", "{'é", "{'shape': (1"]
        {
            assert_eq!(Entries::parse(text), None, "{text}");
        }
    }
}
