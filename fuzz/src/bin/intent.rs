//! A question in the first line, asked of what comes after it.
#![no_main]

use weir_digest::intent;
use weir_fuzz::{asked, check_digest, read};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (question, raw) = asked(data);
    let find = || intent::find(&raw, &question).expect("bytes can be read");
    let facts = find().facts(read(raw));
    assert_eq!(facts, find().facts(read(raw)), "the same question finds something else");
    assert!(facts.total >= facts.items.len() as u64);
    let mut page = read(raw);
    find().lead(&mut page);
    check_digest(&page, raw, weir_digest::budget(raw.len() as u64));
});
