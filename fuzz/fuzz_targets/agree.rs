#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| triview_fuzz::agree(bytes));
