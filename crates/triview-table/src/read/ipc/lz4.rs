//! How much a frame of LZ4 unpacks to at most, told by the headers of its blocks: the decoder unpacks all there is, whatever its file claims.

/// What a frame begins with.
const MAGIC: u32 = 0x184D_2204;
/// How many times its size a block unpacks to at most.
const MOST: u64 = 255;
/// The bit of a block's size that says it is not packed.
const PLAIN: u32 = 1 << 31;

/// The most bytes that packed bytes can unpack to.
pub(super) fn most(packed: &[u8]) -> u64 {
    let all = (packed.len() as u64).saturating_mul(MOST);
    blocks(packed).map_or(all, |most| most.min(all))
}

/// The sum over the blocks of a frame; nothing for what is not one frame alone.
fn blocks(packed: &[u8]) -> Option<u64> {
    let (magic, rest) = word(packed)?;
    let [flags, sizes, rest @ ..] = rest else { return None };
    if magic != MAGIC {
        return None;
    }
    let block = match sizes >> 4 & 7 {
        4 => 64 << 10,
        5 => 256 << 10,
        6 => 1 << 20,
        7 => 4 << 20,
        _ => return None,
    };
    let has = |bit: u8| usize::from(flags >> bit & 1);
    // The length of the content, the number of a dictionary, and a checksum of the header.
    let mut rest = rest.get(8 * has(3) + 4 * has(0) + 1..)?;
    let mut sum = 0_u64;
    loop {
        let (size, after) = word(rest)?;
        if size == 0 {
            let end = after.get(4 * has(2)..)?;
            return end.is_empty().then_some(sum);
        }
        let length = (size & !PLAIN) as usize;
        sum += if size & PLAIN != 0 { length as u64 } else { block.min(length as u64 * MOST) };
        rest = after.get(length.checked_add(4 * has(4))?..)?;
    }
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of blocks of 64 KiB at most, of these sizes.
    fn frame(blocks: &[u32]) -> Vec<u8> {
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([0x60, 0x40, 0]);
        for block in blocks {
            bytes.extend(block.to_le_bytes());
            bytes.extend(vec![0; (block & !PLAIN) as usize]);
        }
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn blocks_bound_what_is_unpacked() {
        assert_eq!(most(&frame(&[10])), 2550);
        assert_eq!(most(&frame(&[1000, 1000, PLAIN | 7])), 2 * 65_536 + 7);
    }

    #[test]
    fn what_is_no_frame_is_bounded_by_its_length() {
        for bytes in [&[1, 2, 3][..], &frame(&[10])[..20], &[frame(&[10]), frame(&[10])].concat()] {
            assert_eq!(most(bytes), 255 * bytes.len() as u64);
        }
    }
}
