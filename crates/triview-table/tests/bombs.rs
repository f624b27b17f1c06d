//! Small files that claim, or unpack to, more than there is: refused within the memory that is allowed, by name.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use common::*;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use triview_table::{Error, Input, Memory, ReadOptions, moments as saved};

const NAMES: [&str; 6] = ["a:x", "a:y", "b:x", "b:y", "c:x", "c:y"];
const MIB: u64 = 1 << 20;

fn within(bytes: u64) -> ReadOptions {
    ReadOptions { memory: Memory::of_bytes(bytes), input: Input::Score, ..ReadOptions::default() }
}

/// What is said of a file that may take so many bytes of memory.
fn refused(path: &Path, options: &ReadOptions) -> Error {
    read_with(&[path], options).map(|_| ()).unwrap_err()
}

fn is_too_large(path: &Path, options: &ReadOptions) -> bool {
    let error = refused(path, options);
    let said = error.to_string();
    assert!(said.contains(path.to_str().unwrap()) && said.contains("--memory"), "{said}");
    matches!(error, Error::TooLarge { .. })
}

/// A table of so many rows of zeros.
fn zeros(rows: usize) -> RecordBatch {
    let column = || Arc::new(Float64Array::from(vec![0.0; rows])) as ArrayRef;
    record_batch(NAMES.into_iter().map(|name| (name, column())).collect())
}

/// A table of lists of so many zeros.
fn lists(rows: usize, length: usize) -> RecordBatch {
    let column = || {
        let mut lists = ListBuilder::new(Float64Builder::new());
        for _ in 0..rows {
            lists.values().append_slice(&vec![0.0; length]);
            lists.append(true);
        }
        Arc::new(lists.finish()) as ArrayRef
    };
    record_batch(["a", "b", "c"].into_iter().map(|name| (name, column())).collect())
}

fn put_packed(folder: &TempDir, batch: &RecordBatch, packing: CompressionType) -> PathBuf {
    let path = folder.path().join("t.arrow");
    let options = IpcWriteOptions::default().try_with_compression(Some(packing)).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    path
}

fn put_pages(folder: &TempDir, batch: &RecordBatch, packing: Compression) -> PathBuf {
    let path = folder.path().join("t.parquet");
    let properties = WriterProperties::builder()
        .set_compression(packing)
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(64 << 20)
        .set_data_page_row_count_limit(usize::MAX)
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    path
}

/// A Parquet file with this footer and nothing else.
fn footer_alone(folder: &TempDir, footer: &[u8]) -> PathBuf {
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    put(folder, "t.parquet", [b"PAR1", footer, &length, b"PAR1"].concat())
}

/// A footer whose schema has these elements: version 1, then a list of structs that begin with their names.
fn footer(elements: &[Vec<u8>]) -> Vec<u8> {
    let count = elements.len() as u64;
    let mut bytes = vec![0x15, 2, 0x19, 0xfc];
    bytes.extend((0..3).map(|at| (count >> (7 * at)) as u8 & 0x7f | if at < 2 { 0x80 } else { 0 }));
    bytes.extend(elements.concat());
    // No rows, no row groups.
    bytes.extend([0x16, 0, 0x19, 0x0c, 0]);
    bytes
}

/// A group of the schema with as many children as these bytes say.
fn group(children: &[u8]) -> Vec<u8> {
    [&[0x48, 1, b'g', 0x15], children, &[0]].concat()
}

#[test]
fn footers_of_parquet_that_would_end_the_process() {
    let folder = folder();
    let deep = vec![group(&[2]); 5_000];
    let leaf = vec![0x15, 10, 0x25, 0, 0x18, 1, b'x', 0];
    let path = footer_alone(&folder, &footer(&[deep, vec![leaf.clone()]].concat()));
    assert!(refused(&path, &within(MIB << 10)).to_string().contains("within each other"));
    let many = group(&[0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let path = footer_alone(&folder, &footer(&[many, leaf]));
    assert!(refused(&path, &within(MIB << 10)).to_string().contains("claims 2147483647 children"));
    // Sixteen million row groups of a byte each.
    let mut empty = footer(&[group(&[0])]);
    empty.truncate(empty.len() - 3);
    empty.extend([0x19, 0xfc, 0x80, 0x80, 0x80, 0x08]);
    empty.extend(vec![0; 1 << 24]);
    empty.push(0);
    assert!(is_too_large(&footer_alone(&folder, &empty), &within(MIB << 10)));
}

#[test]
fn a_packed_batch_of_arrow_is_counted_whole() {
    let folder = folder();
    for packing in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let path = put_packed(&folder, &zeros(200_000), packing);
        // Nine megabytes, none of whose buffers has more than two.
        assert!(is_too_large(&path, &within(4 * MIB)));
        assert_eq!(
            read_with(&[&path], &within(16 * MIB)).unwrap().1.iter().map(|b| b.rows()).sum::<usize>(),
            200_000
        );
    }
}

#[test]
fn columns_that_are_not_read_do_not_count() {
    let folder = folder();
    let mut columns: Vec<(&str, ArrayRef)> = NAMES
        .into_iter()
        .map(|name| (name, Arc::new(Float64Array::from(vec![0.0; 1000])) as ArrayRef))
        .collect();
    columns.push(("other", Arc::new(StringArray::from(vec!["x".repeat(20_000); 1000]))));
    let batch = record_batch(columns);
    for path in [
        put_packed(&folder, &batch, CompressionType::ZSTD),
        put_pages(&folder, &batch, Compression::ZSTD(Default::default())),
    ] {
        assert!(read_with(&[&path], &within(4 * MIB)).is_ok(), "{}", path.display());
    }
}

#[test]
fn a_message_of_arrow_that_has_holes_is_not_read() {
    let folder = folder();
    let path = folder.path().join("t.arrows");
    // A message whose metadata would take 3 GB.
    let mut file = File::create(&path).unwrap();
    file.write_all(&[0xff; 4]).unwrap();
    file.write_all(&3_000_000_000_u32.to_le_bytes()).unwrap();
    file.set_len(4_000_000_000).unwrap();
    assert!(is_too_large(&path, &ReadOptions::default()));
}

#[test]
fn pages_of_parquet_are_counted_together() {
    let folder = folder();
    for packing in
        [Compression::ZSTD(Default::default()), Compression::SNAPPY, Compression::GZIP(Default::default())]
    {
        let path = put_pages(&folder, &zeros(200_000), packing);
        assert!(is_too_large(&path, &within(4 * MIB)), "{packing}");
        assert!(read_with(&[&path], &within(24 * MIB)).is_ok(), "{packing}");
        assert!(
            read_with(&[&path], &ReadOptions { prefetch: true, ..within(24 * MIB) }).is_ok(),
            "{packing}"
        );
    }
}

#[test]
fn a_text_that_is_repeated_is_in_memory_once() {
    let folder = folder();
    let mut columns: Vec<(&str, ArrayRef)> = NAMES
        .into_iter()
        .map(|name| (name, Arc::new(Float64Array::from(vec![0.0; 60_000])) as ArrayRef))
        .collect();
    // Six gigabytes, in a file of some hundred kilobytes.
    let text = "x".repeat(100_000);
    let mut texts = arrow_array::builder::StringDictionaryBuilder::<arrow_array::types::Int32Type>::new();
    (0..60_000).for_each(|_| texts.append_value(&text));
    columns.push(("key", Arc::new(texts.finish())));
    let path = put_parquet(&folder, "t.parquet", &[record_batch(columns)], 1 << 20);
    assert!(std::fs::metadata(&path).unwrap().len() < 2 * MIB);
    let options = ReadOptions { segment: Some("key".into()), ..within(64 * MIB) };
    let (_, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(batches.iter().map(|batch| batch.rows()).sum::<usize>(), 60_000);
}

#[test]
fn lists_of_any_length_are_counted() {
    let folder = folder();
    let path = put_pages(&folder, &lists(2, 1_000_000), Compression::ZSTD(Default::default()));
    assert!(is_too_large(&path, &within(8 * MIB)));
    let path = put_packed(&folder, &lists(2, 1_000_000), CompressionType::ZSTD);
    assert!(is_too_large(&path, &within(8 * MIB)));
}

#[test]
fn what_is_packed_to_fill_a_disk_is_refused() {
    let folder = folder();
    let zeros = vec![b'0'; 64 << 20];
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&zeros).unwrap();
    let zstd = zstd::encode_all(&zeros[..], 1).unwrap();
    for (name, bytes) in [("t.csv.gz", gzip.finish().unwrap()), ("t.csv.zst", zstd)] {
        let path = put(&folder, name, bytes);
        let error = refused(&path, &within(MIB));
        assert!(matches!(error, Error::Bomb { .. }), "{error}");
        assert!(error.to_string().contains("--memory"));
    }
}

#[test]
fn moments_with_holes_are_not_read() {
    let folder = folder();
    let path = folder.path().join("part.moments");
    saved::write(&path, &moments(&plan(&["x", "y"]), 16)).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(60 << 30).unwrap();
    let error = saved::read(&path).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    let said = error.to_string();
    assert!(["part.moments", "60.0 GiB", "--memory"].iter().all(|piece| said.contains(piece)), "{said}");
}
