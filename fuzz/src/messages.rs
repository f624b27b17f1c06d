//! Arrow streams whose messages are damaged field by field, and otherwise fit: types that the data are not of, lengths and places of buffers,
//! messages that are missing, repeated or out of order.

use crate::choices::Choices;
use crate::readers::read_table;
use arrow_ipc::convert::{IpcSchemaEncoder, fb_to_schema};
use arrow_ipc::writer::DictionaryTracker;
use arrow_ipc::{
    BodyCompressionArgs, BodyCompressionMethod, Buffer, CompressionType, DictionaryBatchArgs, FieldNode,
    Message, MessageArgs, MessageHeader, RecordBatch, RecordBatchArgs, root_as_message,
};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, TimeUnit, UnionFields, UnionMode};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use std::sync::{Arc, OnceLock};

/// Valid streams: several types, lists of both kinds, dictionaries.
const SEEDS: [&[u8]; 5] = [
    include_bytes!("../../crates/triview-table/tests/corpus/ipc/valid-fixed.arrows"),
    include_bytes!("../../crates/triview-table/tests/corpus/ipc/valid-float32.arrows"),
    include_bytes!("../../crates/triview-table/tests/corpus/ipc/valid-int16.arrows"),
    include_bytes!("../../crates/triview-table/tests/corpus/ipc/valid-large.arrows"),
    include_bytes!("../../crates/triview-table/tests/corpus/ipc/valid-list.arrows"),
];

/// The metadata of a message and its body.
type Parts = (Vec<u8>, Vec<u8>);

fn take_length(bytes: &mut &[u8]) -> usize {
    let (length, rest) = bytes.split_at(4);
    *bytes = rest;
    u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize
}

fn seeds() -> &'static [Vec<Parts>] {
    static READ: OnceLock<Vec<Vec<Parts>>> = OnceLock::new();
    READ.get_or_init(|| SEEDS.iter().map(|seed| messages_of(seed)).collect())
}

fn messages_of(mut bytes: &[u8]) -> Vec<Parts> {
    let mut messages = Vec::new();
    while bytes.len() >= 8 {
        let _continuation = take_length(&mut bytes);
        let length = take_length(&mut bytes);
        if length == 0 {
            break;
        }
        let (metadata, rest) = bytes.split_at(length);
        let body = root_as_message(metadata).expect("the seeds are valid").bodyLength() as usize;
        let (body, rest) = rest.split_at(body);
        messages.push((metadata.to_vec(), body.to_vec()));
        bytes = rest;
    }
    messages
}

/// Any type, not nested beyond this depth.
fn any_type(choices: &mut Choices<'_>, depth: usize) -> DataType {
    use DataType::*;
    let plain = [
        Null,
        Boolean,
        Int8,
        Int16,
        Int64,
        UInt8,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        Date32,
        Timestamp(TimeUnit::Nanosecond, None),
        Interval(IntervalUnit::MonthDayNano),
        Decimal128(38, 4),
        Decimal256(76, -3),
    ];
    let inner = |choices: &mut Choices<'_>| Arc::new(Field::new("item", any_type(choices, depth - 1), true));
    let which = choices.below(if depth == 0 { 23 } else { 31 });
    match which {
        0..22 => plain[which].clone(),
        22 => FixedSizeBinary(choices.instead(8) as i32),
        23 => List(inner(choices)),
        24 => LargeList(inner(choices)),
        25 => ListView(inner(choices)),
        26 => FixedSizeList(inner(choices), choices.instead(2) as i32),
        27 => Struct(Fields::from(vec![inner(choices), inner(choices)])),
        28 => {
            Dictionary(Box::new(choices.of(&[Int8, Int32, UInt64])), Box::new(any_type(choices, depth - 1)))
        }
        29 => {
            let ends = Arc::new(Field::new("run_ends", choices.of(&[Int16, Int32, Int64]), false));
            RunEndEncoded(ends, inner(choices))
        }
        _ => {
            match UnionFields::try_new([0, 1], [inner(choices), inner(choices)].map(|field| (*field).clone()))
            {
                Ok(fields) => Union(fields, choices.of(&[UnionMode::Dense, UnionMode::Sparse])),
                Err(_) => Null,
            }
        }
    }
}

/// Closes a message.
fn finish(
    mut builder: FlatBufferBuilder<'_>,
    (kind, header): (MessageHeader, WIPOffset<UnionWIPOffset>),
    like: &Message<'_>,
    choices: &mut Choices<'_>,
) -> Vec<u8> {
    let wrong = choices.below(10) == 1;
    let args = MessageArgs {
        version: like.version(),
        header_type: if wrong { choices.of(MessageHeader::ENUM_VALUES) } else { kind },
        header: Some(header),
        bodyLength: if choices.below(8) == 1 {
            choices.instead(like.bodyLength())
        } else {
            like.bodyLength()
        },
        custom_metadata: None,
    };
    let message = Message::create(&mut builder, &args);
    builder.finish(message, None);
    builder.finished_data().to_vec()
}

/// A schema of which one field has another type or name, or is not there, or there twice.
fn damage_schema(message: &Message<'_>, choices: &mut Choices<'_>) -> Option<Vec<u8>> {
    let schema = fb_to_schema(message.header_as_schema()?);
    let mut fields: Vec<Field> = schema.fields().iter().map(|field| (**field).clone()).collect();
    let at = choices.below(fields.len());
    match choices.below(6) {
        0 => drop(fields.remove(at)),
        1 => fields.push(fields[at].clone().with_name("key")),
        2 => {
            let nullable = fields[at].is_nullable();
            fields[at].set_nullable(!nullable);
        }
        _ => fields[at].set_data_type(any_type(choices, 3)),
    }
    let mut builder = FlatBufferBuilder::new();
    let mut tracker = DictionaryTracker::new(false);
    let mut encoder = IpcSchemaEncoder::new().with_dictionary_tracker(&mut tracker);
    let header = encoder.schema_to_fb_offset(&mut builder, &Schema::new(fields)).as_union_value();
    Some(finish(builder, (MessageHeader::Schema, header), message, choices))
}

/// A batch, or a dictionary made of it, of which some lengths and places are damaged.
fn damage_batch(message: &Message<'_>, choices: &mut Choices<'_>) -> Option<Vec<u8>> {
    let own = message.header_as_record_batch();
    let batch = own.or_else(|| message.header_as_dictionary_batch()?.data())?;
    let mut length = batch.length();
    let mut nodes: Vec<[i64; 2]> =
        batch.nodes()?.iter().map(|node| [node.length(), node.null_count()]).collect();
    let mut buffers: Vec<[i64; 2]> =
        batch.buffers()?.iter().map(|buffer| [buffer.offset(), buffer.length()]).collect();
    let mut variadic = Vec::new();
    let mut packed = batch.compression().map(|packed| packed.codec());
    for _ in 0..1 + choices.below(3) {
        let list = if choices.byte() & 1 == 0 { &mut nodes } else { &mut buffers };
        let at = choices.below(list.len());
        match choices.below(9) {
            0 => length = choices.instead(length),
            1 if !list.is_empty() => drop(list.remove(at)),
            2 if !list.is_empty() => list.insert(at, list[at]),
            3 => variadic.push(choices.instead(1)),
            4 => packed = choices.of(&[None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)]),
            _ if !list.is_empty() => {
                let which = choices.below(2);
                list[at][which] = choices.instead(list[at][which]);
            }
            _ => {}
        }
    }
    let mut builder = FlatBufferBuilder::new();
    let nodes: Vec<FieldNode> = nodes.iter().map(|node| FieldNode::new(node[0], node[1])).collect();
    let buffers: Vec<Buffer> = buffers.iter().map(|buffer| Buffer::new(buffer[0], buffer[1])).collect();
    let packing = packed.map(|codec| {
        let args = BodyCompressionArgs { codec, method: BodyCompressionMethod::BUFFER };
        arrow_ipc::BodyCompression::create(&mut builder, &args)
    });
    let args = RecordBatchArgs {
        length,
        nodes: Some(builder.create_vector(&nodes)),
        buffers: Some(builder.create_vector(&buffers)),
        compression: packing,
        variadicBufferCounts: (!variadic.is_empty()).then(|| builder.create_vector(&variadic)),
    };
    let header = RecordBatch::create(&mut builder, &args);
    let header = if own.is_some() && choices.below(6) != 1 {
        (MessageHeader::RecordBatch, header.as_union_value())
    } else {
        let args = DictionaryBatchArgs {
            id: choices.instead(0),
            data: Some(header),
            isDelta: choices.byte() & 1 == 1,
        };
        let header = arrow_ipc::DictionaryBatch::create(&mut builder, &args);
        (MessageHeader::DictionaryBatch, header.as_union_value())
    };
    Some(finish(builder, header, message, choices))
}

/// Reads an Arrow stream of which some messages are damaged.
pub fn messages(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut messages = choices.of(seeds());
    for _ in 0..4 {
        let at = choices.below(messages.len());
        if !choices.any() || messages.is_empty() {
            break;
        }
        match choices.below(12) {
            0 => drop(messages.remove(at)),
            1 => messages.insert(at, messages[at].clone()),
            2 => messages.swap(0, at),
            3 => {
                let (metadata, body) = &mut messages[at];
                let part = if choices.byte() & 1 == 0 { metadata } else { body };
                let place = choices.below(part.len());
                part.iter_mut().skip(place).take(1).for_each(|byte| *byte = choices.byte());
                // What is damaged without regard to its fields cannot be taken apart.
                break;
            }
            _ => {
                let Ok(message) = root_as_message(&messages[at].0) else { continue };
                let damaged = match message.header_type() {
                    MessageHeader::Schema => damage_schema(&message, &mut choices),
                    _ => damage_batch(&message, &mut choices),
                };
                if let Some(damaged) = damaged {
                    messages[at].0 = damaged;
                }
            }
        }
    }
    let mut stream = Vec::new();
    for (mut metadata, body) in messages {
        metadata.resize(metadata.len().next_multiple_of(8), 0);
        stream.extend([0xff; 4]);
        stream.extend((metadata.len() as u32).to_le_bytes());
        stream.extend(metadata);
        stream.extend(body);
    }
    if choices.byte() & 1 == 0 {
        stream.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    }
    read_table(&stream, "arrow");
}
