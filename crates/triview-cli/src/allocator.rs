//! Memory that cannot be had.

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use triview_table::{is_asking_for_memory, remove_temporary_files};

/// An allocator's memory, or the end of the program with a message: what cannot be had would otherwise abort it.
pub(crate) struct Allocator<A>(pub(crate) A);

// SAFETY: all of it is the other allocator's; a null pointer of its is given on, or the program ends.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the other allocator needs.
        had(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        had(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        had(unsafe { self.0.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(pointer, layout) }
    }
}

/// Memory that was asked for; where it cannot be had and nobody can do without it, the program ends.
#[inline]
fn had(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() && !is_asking_for_memory() {
        out_of_memory(size);
    }
    pointer
}

#[cold]
fn out_of_memory(size: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    // Ending may need memory as well, and other threads may need some meanwhile.
    if !ENDING.swap(true, Ordering::SeqCst) {
        // Numbers are written without memory, and standard error has no buffer.
        let mut stderr = std::io::stderr();
        let _ = writeln!(
            stderr,
            "error: out of memory: {size} bytes more cannot be had; end other programs, or give fewer rows or classes at a time"
        );
        remove_temporary_files();
    }
    end(CANNOT_ANSWER)
}

/// The status when there is no answer.
const CANNOT_ANSWER: i32 = 2;

/// Ends the program.
#[cfg(unix)]
pub(crate) fn end(status: i32) -> ! {
    // Nothing is left to be done at the end, and what others would do there may wait for this thread.
    signal_hook::low_level::exit(status)
}

/// Ends the program.
#[cfg(not(unix))]
pub(crate) fn end(status: i32) -> ! {
    std::process::exit(status)
}
