//! What the fuzz targets share.
//!
//! Most targets hand their bytes to a reader as they are ([`readers`]). Those of formats with lengths and offsets all over them take a valid
//! file apart, damage some of its fields as the bytes say, and put it together again ([`footers`], [`messages`]): what is damaged is then read
//! past the first check. The last kind says one thing in two ways and compares ([`agree`]).

pub mod agree;
mod choices;
pub mod footers;
pub mod messages;
pub mod readers;
mod thrift;

pub use agree::{agree, parts, told};
pub use footers::footers;
pub use messages::messages;
pub use readers::*;
