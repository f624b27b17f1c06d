//! Panics inside decoders of other crates.
//!
//! The Parquet and Arrow crates check most of what they read, but damaged files still reach assertions inside them
//! (the findings under `tests/corpus` show which). Those become errors here. What was being decoded is dropped
//! afterwards, so nothing in a broken state is seen again.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside a decoder whose panics are caught.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder; a panic in it is given back as its message.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    result.map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        said.or(panic.downcast_ref::<&str>().map(|said| said.to_string())).unwrap_or_default()
    })
}

/// Keeps panics that the readers catch from being printed: the error they become says what is wrong. All other
/// panics go to the hook that was there. For programs to call once at their start; a library should not.
pub fn silence_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
}
