//! Keys of groups and segments: the same text has the same key in every file, format and run.

use std::hash::{BuildHasher, Hasher};

/// FNV-1a, 64 bits. Written here because the standard hasher is neither fixed across versions nor seeded
/// alike, and a key must be the same in moments made next year. That two texts have one key is not provided
/// for: among five thousand segments the chance of it is below one in a trillion.
pub(crate) fn key(text: &[u8]) -> u64 {
    key_from(START, text)
}

/// The key of no text.
const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The key of what one key is of and more text after it.
fn key_from(start: u64, text: &[u8]) -> u64 {
    text.iter().fold(start, |key, byte| (key ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The same for maps of names, where it is several times as fast as the standard hasher.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fnv;

/// What was hashed so far.
pub(crate) struct FnvHasher(u64);

impl BuildHasher for Fnv {
    type Hasher = FnvHasher;

    fn build_hasher(&self) -> FnvHasher {
        FnvHasher(START)
    }
}

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = key_from(self.0, bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_test_vectors() {
        assert_eq!(key(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(key(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(key(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
