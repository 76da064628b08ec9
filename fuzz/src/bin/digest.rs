//! Any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| weir_fuzz::check(data));
