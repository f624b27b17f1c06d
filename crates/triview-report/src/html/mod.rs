//! The answers as pages to look at: the verdict in a sentence, what people came for, pictures with their numbers, and how it was made.
//!
//! A page is one file that needs neither script nor network, and whose policy allows neither. It is made of the same answers as the text and
//! the JSON, follows the reader's light or dark, and prints on paper.

mod adaptation;
mod comparison;
mod estimate;
mod page;
mod sequences;
mod verdict;
mod votes;

pub use adaptation::adaptation;
pub use comparison::comparison;
pub use estimate::{Beside, diagnosis, estimate};
pub use page::{Page, Section, Standing, Tile};
pub use sequences::sequences;
pub use votes::votes;
