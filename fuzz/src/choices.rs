//! Bytes as a row of choices.

/// What lies at the edges of types and of lengths.
const EDGES: [i64; 16] = [
    0,
    1,
    -1,
    2,
    7,
    8,
    64,
    255,
    65_536,
    1 << 24,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 32,
    1 << 62,
    i64::MAX,
    i64::MIN,
];

/// Choices that bytes make; when they are used up, always the first.
#[derive(Debug, Clone)]
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether any are left.
    pub(crate) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below another, zero where that is zero.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        let chosen = match most {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        chosen.checked_rem(most).unwrap_or(0)
    }

    pub(crate) fn of<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }

    /// A number in the place of another: near it, at an edge, or any small one.
    pub(crate) fn instead(&mut self, of: i64) -> i64 {
        match self.below(6) {
            0 => of.wrapping_add(1),
            1 => of.wrapping_sub(1),
            2 => of.wrapping_mul(2),
            3 => i64::from(self.byte() as i8),
            4 => of ^ 1_i64.rotate_left(u32::from(self.byte())),
            _ => self.of(&EDGES),
        }
    }

    /// A few bytes.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let count = self.below(24).min(self.0.len());
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken.to_vec()
    }
}
