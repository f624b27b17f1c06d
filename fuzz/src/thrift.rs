//! Thrift's compact protocol as a tree of values, to be damaged and written again: lengths and types fit each other unless they are to be wrong.

use crate::choices::Choices;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Flag(bool),
    Byte(u8),
    /// A whole number, and which of the types it is.
    Whole(u8, i64),
    Double([u8; 8]),
    Binary(Vec<u8>),
    /// The type of the elements, how many are claimed where that is wrong, and the elements.
    List(u8, Option<u64>, Vec<Value>),
    Struct(Vec<(i64, Value)>),
}

fn unsigned(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = byte(bytes);
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn byte(bytes: &mut &[u8]) -> u8 {
    let (first, rest) = bytes.split_first().expect("the seeds are valid");
    *bytes = rest;
    *first
}

fn signed(bytes: &mut &[u8]) -> i64 {
    let coded = unsigned(bytes);
    (coded >> 1) as i64 ^ -((coded & 1) as i64)
}

fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_signed(value: i64, out: &mut Vec<u8>) {
    put((value << 1 ^ value >> 63) as u64, out);
}

impl Value {
    /// The struct that bytes begin with, and how many of them it takes.
    pub(crate) fn read(bytes: &[u8]) -> (Self, usize) {
        let mut left = bytes;
        let value = Self::read_one(STRUCT, &mut left);
        (value, bytes.len() - left.len())
    }

    fn read_one(kind: u8, bytes: &mut &[u8]) -> Self {
        match kind {
            TRUE | FALSE | BYTE => Self::Byte(byte(bytes)),
            kind @ 4..=I64 => Self::Whole(kind, signed(bytes)),
            DOUBLE => Self::Double(std::array::from_fn(|_| byte(bytes))),
            BINARY => {
                let length = unsigned(bytes) as usize;
                let (text, rest) = bytes.split_at(length);
                *bytes = rest;
                Self::Binary(text.to_vec())
            }
            LIST => {
                let head = byte(bytes);
                let count = if head >> 4 == 15 { unsigned(bytes) } else { u64::from(head >> 4) };
                Self::List(head & 15, None, (0..count).map(|_| Self::read_one(head & 15, bytes)).collect())
            }
            STRUCT => {
                let (mut fields, mut id) = (Vec::new(), 0);
                loop {
                    let head = byte(bytes);
                    if head == 0 {
                        return Self::Struct(fields);
                    }
                    id = if head >> 4 == 0 { signed(bytes) } else { id + i64::from(head >> 4) };
                    let value = match head & 15 {
                        TRUE => Self::Flag(true),
                        FALSE => Self::Flag(false),
                        kind => Self::read_one(kind, bytes),
                    };
                    fields.push((id, value));
                }
            }
            kind => panic!("the seeds have no values of type {kind}"),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Flag(true) => TRUE,
            Self::Flag(false) => FALSE,
            Self::Byte(_) => BYTE,
            Self::Whole(kind, _) => *kind,
            Self::Double(_) => DOUBLE,
            Self::Binary(_) => BINARY,
            Self::List(..) => LIST,
            Self::Struct(_) => STRUCT,
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Flag(_) => {}
            Self::Byte(value) => out.push(*value),
            Self::Whole(_, value) => put_signed(*value, out),
            Self::Double(bytes) => out.extend(bytes),
            Self::Binary(text) => {
                put(text.len() as u64, out);
                out.extend(text);
            }
            Self::List(kind, claimed, elements) => {
                let count = claimed.unwrap_or(elements.len() as u64);
                out.push((count.min(15) as u8) << 4 | kind);
                if count >= 15 {
                    put(count, out);
                }
                elements.iter().for_each(|element| element.write(out));
            }
            Self::Struct(fields) => {
                let mut before = 0_i64;
                for (id, value) in fields {
                    match id.wrapping_sub(before) {
                        more @ 1..=15 => out.push((more as u8) << 4 | value.kind()),
                        _ => {
                            out.push(value.kind());
                            put_signed(*id, out);
                        }
                    }
                    before = *id;
                    value.write(out);
                }
                out.push(0);
            }
        }
    }

    /// The value of a field.
    pub(crate) fn field(&mut self, id: i64) -> Option<&mut Value> {
        let Self::Struct(fields) = self else { return None };
        fields.iter_mut().find(|(own, _)| *own == id).map(|(_, value)| value)
    }

    /// The whole number of a field.
    pub(crate) fn whole(&mut self, id: i64) -> Option<&mut i64> {
        match self.field(id)? {
            Self::Whole(_, value) => Some(value),
            _ => None,
        }
    }

    /// The elements of a list.
    pub(crate) fn elements(&mut self) -> &mut [Value] {
        match self {
            Self::List(_, _, elements) => elements,
            _ => &mut [],
        }
    }

    /// How many values there are in it, itself included.
    fn count(&self) -> usize {
        1 + match self {
            Self::List(_, _, elements) => elements.iter().map(Self::count).sum(),
            Self::Struct(fields) => fields.iter().map(|(_, value)| value.count()).sum(),
            _ => 0_usize,
        }
    }

    /// Damages one value of the tree.
    pub(crate) fn damage(&mut self, choices: &mut Choices<'_>) {
        let mut at = choices.below(self.count());
        self.visit(&mut at, choices);
    }

    /// Damages the value of this number, counted from here.
    fn visit(&mut self, at: &mut usize, choices: &mut Choices<'_>) -> bool {
        if *at == 0 {
            self.change(choices);
            return true;
        }
        *at -= 1;
        match self {
            Self::List(_, _, elements) => elements.iter_mut().any(|value| value.visit(at, choices)),
            Self::Struct(fields) => fields.iter_mut().any(|(_, value)| value.visit(at, choices)),
            _ => false,
        }
    }

    fn change(&mut self, choices: &mut Choices<'_>) {
        match self {
            Self::Flag(flag) => *flag = !*flag,
            Self::Byte(value) => *value = choices.byte(),
            Self::Whole(kind, value) => match choices.below(12) {
                0 => *kind = 4 + choices.byte() % 3,
                _ => *value = choices.instead(*value),
            },
            Self::Double(bytes) => bytes[choices.below(8)] = choices.byte(),
            Self::Binary(text) => {
                let more = choices.bytes();
                let from = choices.below(text.len() + 1);
                text.splice(from..(from + choices.below(9)).min(text.len()), more);
            }
            Self::List(kind, claimed, elements) => {
                let at = choices.below(elements.len());
                match choices.below(6) {
                    0 if !elements.is_empty() => drop(elements.remove(at)),
                    1 if !elements.is_empty() => elements.insert(at, elements[at].clone()),
                    2 if !elements.is_empty() => {
                        let other = choices.below(elements.len());
                        elements.swap(at, other);
                    }
                    3 => *kind = choices.byte() & 15,
                    4 if !elements.is_empty() => {
                        let again = vec![elements[at].clone(); choices.below(200)];
                        elements.splice(at..at, again);
                    }
                    _ => *claimed = Some(choices.instead(elements.len() as i64) as u64),
                }
            }
            Self::Struct(fields) => {
                let at = choices.below(fields.len());
                match choices.below(6) {
                    0 if !fields.is_empty() => drop(fields.remove(at)),
                    1 if !fields.is_empty() => fields.insert(at, fields[at].clone()),
                    2 if !fields.is_empty() => fields[at].0 = choices.instead(fields[at].0),
                    3 if !fields.is_empty() => {
                        let other = choices.below(fields.len());
                        let (one, two) = (fields[at].1.clone(), fields[other].1.clone());
                        (fields[at].1, fields[other].1) = (two, one);
                    }
                    4 => {
                        let id = fields.last().map_or(1, |(id, _)| id.wrapping_add(1));
                        fields.push((id, Self::any(choices, 3)));
                    }
                    _ => {
                        let own = Self::Struct(std::mem::take(fields));
                        fields.push((choices.below(16) as i64, own));
                    }
                }
            }
        }
    }

    /// Any value, not nested beyond this depth.
    fn any(choices: &mut Choices<'_>, depth: usize) -> Self {
        match choices.below(if depth == 0 { 5 } else { 7 }) {
            0 => Self::Whole(4 + choices.byte() % 3, choices.instead(0)),
            1 => Self::Binary(choices.bytes()),
            2 => Self::Flag(choices.byte() & 1 == 1),
            3 => Self::Double([choices.byte(); 8]),
            4 => Self::Byte(choices.byte()),
            5 => {
                let element = Self::any(choices, depth - 1);
                let kind = element.kind();
                Self::List(kind, None, vec![element; choices.below(40)])
            }
            _ => {
                let count = choices.below(6) as i64;
                Self::Struct((1..=count).map(|id| (id, Self::any(choices, depth - 1))).collect())
            }
        }
    }
}
