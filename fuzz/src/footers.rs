//! Parquet files whose footer or page headers are damaged field by field, and otherwise fit.

use crate::choices::Choices;
use crate::readers::read_table;
use crate::thrift::Value;
use std::sync::OnceLock;

/// Valid files: several types, lists, encodings, versions of pages.
const SEEDS: [&[u8]; 7] = [
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-fixed.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-float32.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-float64-v2.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-int8.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-list.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-split.parquet"),
    include_bytes!("../../crates/triview-table/tests/corpus/parquet/valid-uint64.parquet"),
];

/// Where the footer keeps the row groups, a row group its columns, a column its metadata; and there the bytes that it takes and where
/// its pages begin.
const ROW_GROUPS: i64 = 4;
const COLUMNS: i64 = 1;
const METADATA: i64 = 3;
const BYTES: i64 = 7;
const OFFSETS: [i64; 2] = [9, 11];

/// The pages and the footer of each seed.
fn seeds() -> &'static [(Vec<u8>, Value)] {
    static READ: OnceLock<Vec<(Vec<u8>, Value)>> = OnceLock::new();
    READ.get_or_init(|| {
        let read = |seed: &&[u8]| {
            let (rest, end) = seed.split_at(seed.len() - 8);
            let length = u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize;
            let (pages, footer) = rest.split_at(rest.len() - length);
            (pages.to_vec(), Value::read(footer).0)
        };
        SEEDS.iter().map(read).collect()
    })
}

/// The metadata of every column of every row group.
fn columns(footer: &mut Value) -> Vec<&mut Value> {
    let groups = footer.field(ROW_GROUPS).map(Value::elements).unwrap_or_default();
    let chunks =
        groups.iter_mut().flat_map(|group| group.field(COLUMNS).map(Value::elements).unwrap_or_default());
    chunks.filter_map(|chunk| chunk.field(METADATA)).collect()
}

/// Damages the header of a page, and moves what lies behind it.
fn damage_page(pages: &mut Vec<u8>, footer: &mut Value, choices: &mut Choices<'_>) {
    let mut all = columns(footer);
    if all.is_empty() {
        return;
    }
    let which = choices.below(all.len());
    let id = choices.of(&OFFSETS);
    let Some(begin) = all[which].whole(id).and_then(|at| usize::try_from(*at).ok()) else { return };
    let (mut header, length) = Value::read(&pages[begin..]);
    header.damage(choices);
    let mut bytes = Vec::new();
    header.write(&mut bytes);
    let more = bytes.len() as i64 - length as i64;
    pages.splice(begin..begin + length, bytes);
    if let Some(size) = all[which].whole(BYTES) {
        *size += more;
    }
    for column in all {
        for id in OFFSETS {
            match column.whole(id) {
                Some(at) if *at > begin as i64 => *at += more,
                _ => {}
            }
        }
    }
}

/// Reads a Parquet file of which some fields are damaged.
pub fn footers(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (mut pages, mut footer) = choices.of(seeds());
    // While the offsets are still right.
    if choices.byte() % 3 == 0 {
        damage_page(&mut pages, &mut footer, &mut choices);
    }
    for _ in 0..8 {
        if choices.any() {
            footer.damage(&mut choices);
        }
    }
    let begin = pages.len();
    footer.write(&mut pages);
    let length = ((pages.len() - begin) as u32).to_le_bytes();
    pages.extend(length);
    pages.extend(b"PAR1");
    read_table(&pages, "parquet");
}
