//! Runs LLVM's fuzzer on the target that `WEIR_FUZZ_TARGET` names.
#![no_main]

use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("WEIR_FUZZ_TARGET").unwrap_or_default();
    let target = weir_fuzz::find(&name).unwrap_or_else(|| panic!("no such target: `{name}`"));
    target.run
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (*RUN)(data));
