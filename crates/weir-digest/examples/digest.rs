//! Prints the digest of an output: `cargo run -p weir-digest --example digest -- FILE [COMMAND]`.

use std::io::{self, Read};

use weir_core::Reference;
use weir_digest::{About, Frame};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "-".to_owned());
    let command = arguments.next().unwrap_or_default();
    let mut raw = Vec::new();
    match path.as_str() {
        "-" => io::stdin().read_to_end(&mut raw)?,
        path => std::fs::File::open(path)?.read_to_end(&mut raw)?,
    };
    let source = raw.as_slice();
    let page = weir_digest::read(&source, About { command: &command, lists: false })?;
    let frame = Frame {
        head: "exit ?",
        remarks: &[],
        reference: Reference::from_bits(0),
        lines: raw.split_inclusive(|&byte| byte == b'\n').count() as u64,
        bytes: raw.len() as u64,
        read_on: "more: ctx_get with lines, pattern or intent",
    };
    let text = page.render(&frame, weir_digest::budget(raw.len() as u64));
    io::Write::write_all(&mut io::stdout(), format!("{text}\n").as_bytes())
}
