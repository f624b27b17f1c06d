//! Whole numbers that look random and are the same everywhere.

/// Spreads whole numbers over all bits (splitmix64).
pub(crate) fn hash(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What tells damaged bytes from those that were written (FNV-1a, 64 bits): a single byte that differs always shows.
pub(crate) fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_test_vectors() {
        // The first outputs of splitmix64 from the seed 0 are the hashes of 0 and of multiples of its increment.
        assert_eq!(hash(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(hash(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(checksum([b"".as_slice()]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum([b"foo".as_slice(), b"bar"]), 0x8594_4171_f739_67e8);
    }
}
