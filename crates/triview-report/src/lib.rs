//! triview's answers for programs, for people, and as pictures: shared by the command line and whatever else shows them.
//!
//! [`json`] is the contract: one object, whose keys are stable. What the [`text`] shows it has too. [`words`] says what to do in the
//! words of a front end.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod draw;
pub mod html;
pub mod json;
mod markup;
pub mod monitor;
mod picture;
pub mod remedies;
pub mod segments;
pub mod sequences;
pub mod text;
pub mod words;
