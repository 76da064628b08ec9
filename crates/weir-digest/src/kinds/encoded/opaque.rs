//! Text that is not meant for reading: base64, hex dumps and minified code. Shows what it contains, and the text around
//! it.
//!
//! Invariant: memory does not grow with the output.

use std::io;

use weir_core::wording::counted;

use super::bytes::Bytes;
use super::minified;
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::sample::Sample;
use crate::text::clip;
use crate::{Item, Line, Lines, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::data("opaque", |sample| form(sample).is_some(), read);

/// The maximum number of blocks that are distinguished, and of lines kept around them.
const MAX_BLOCKS: usize = 20;
const MAX_SURROUNDING_LINES: usize = 120;
/// The bases in which offsets are written.
const BASES: [u32; 3] = [16, 10, 8];
/// The length of the lines of a dump without offsets.
const PLAIN_LINE_BYTES: usize = 60;
/// The maximum number of bytes taken from lines that are omitted because they repeat.
const MAX_REPEATED_BYTES: u64 = 1 << 20;
/// The minimum length of a line of base64.
const MIN_LINE_BYTES: usize = 56;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EncodedFormat {
    Base64,
    /// A dump whose offsets are written in this base.
    Dump(u32),
    Plain,
    Minified,
}

fn form(sample: &Sample<'_>) -> Option<EncodedFormat> {
    if let Some(base) = base(sample) {
        return Some(EncodedFormat::Dump(base));
    }
    if sample.full_lines().count() >= 8
        && sample.mostly(90, |line| line.len() == PLAIN_LINE_BYTES && plain(line).is_some())
    {
        return Some(EncodedFormat::Plain);
    }
    if is_base64(sample) {
        return Some(EncodedFormat::Base64);
    }
    minified::is(&sample.raw).then_some(EncodedFormat::Minified)
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    match form(sample) {
        Some(EncodedFormat::Minified) => minified::read(source).map(Some),
        Some(EncodedFormat::Base64) => read_base64(source),
        Some(form @ (EncodedFormat::Dump(_) | EncodedFormat::Plain)) => read_dump(source, form),
        None => Ok(None),
    }
}

/// The lines around something, verbatim.
type SurroundingLines = KeptItems<MAX_SURROUNDING_LINES>;

/// Keeps a line around something, unless it is blank.
fn surround(around: &mut SurroundingLines, line: &Line<'_>) {
    if !line.text.trim().is_empty() {
        around.add(|| Item::at(line.number, clip(line.text, 400)));
    }
}

struct Base64Block {
    first: u64,
    last: u64,
    decoder: Decoder,
    bytes: Bytes,
    /// The number of characters that were not read because their line is too long.
    left_out: u64,
}

fn read_base64(source: &dyn Source) -> io::Result<Option<Page>> {
    let mut around = SurroundingLines::default();
    let mut blocks: Vec<Base64Block> = Vec::new();
    let (mut count, mut inside) = (0_u64, false);
    let mut lines = Lines::of(source)?;
    while let Some(line) = lines.read()? {
        let text = line.text.trim();
        let data = text.split_once(";base64,").filter(|(kind, _)| kind.ends_with(|c: char| c.is_ascii_alphanumeric()));
        let text = data.map_or(text, |(_, data)| data.trim_end_matches(['"', '\'', ')', ';', ',']));
        let continues = inside
            && data.is_none()
            && !text.is_empty()
            && text.bytes().all(|byte| value(byte).is_some() || byte == b'=');
        if !(continues || is_encoded(text)) {
            inside = false;
            surround(&mut around, &line);
            continue;
        }
        if !continues {
            count += 1;
            if blocks.len() < MAX_BLOCKS {
                let (decoder, bytes) = (Decoder::default(), Bytes::default());
                blocks.push(Base64Block { first: line.number, last: line.number, decoder, bytes, left_out: 0 });
            }
        }
        inside = true;
        if let Some(block) = blocks.last_mut().filter(|_| count as usize <= MAX_BLOCKS) {
            block.last = line.number;
            block.left_out += line.left_out;
            block.decoder.decode(text.as_bytes(), &mut block.bytes);
        }
    }
    if around.total * 2 > blocks.iter().map(|block| block.last - block.first + 1).sum::<u64>() * 2 + 40 {
        return Ok(None);
    }
    Ok(Some(base64_page(around, blocks, count)))
}

fn base64_page(around: SurroundingLines, blocks: Vec<Base64Block>, count: u64) -> Page {
    let size = |blocks: &[Base64Block]| {
        let about = if blocks.iter().any(|block| block.left_out > 0) { "about " } else { "" };
        let bytes: u64 = blocks.iter().map(|block| block.bytes.count + block.left_out / 4 * 3).sum();
        format!("{about}{bytes} bytes")
    };
    let mut what = format!("base64: {}", counted(count as usize, "block", "blocks"));
    // Blocks beyond the limit are not decoded.
    if count <= MAX_BLOCKS as u64 {
        what.push_str(&format!(" of {} decoded", size(&blocks)));
    }
    if let Some(kind) = blocks.first().filter(|_| count == 1).and_then(|block| block.bytes.name()) {
        what.push_str(&format!(", {kind}"));
    }
    let mut page = Page::new(what);
    page.push(around.part("text around it", Weight::Failure));
    let described = |block: &Base64Block| {
        let size = size(std::slice::from_ref(block));
        let name =
            block.bytes.name().unwrap_or(if block.bytes.as_text().is_some() { "text" } else { "of no known kind" });
        let mut text = format!("lines {} to {}: base64 of {size}, {name}", block.first, block.last);
        if count > 1 {
            block.bytes.facts().iter().take(12).for_each(|fact| text.push_str(&format!(", {fact}")));
        }
        match block.bytes.as_text() {
            Some(text_in) => Item::plain(format!("{text}: {}", clip(text_in, 400))).or(text),
            None => Item::plain(text),
        }
    };
    let items = blocks.iter().map(described).collect();
    page.push(Part::new("blocks", Weight::Fact, items).of(count));
    if let Some(block) = blocks.into_iter().next().filter(|block| block.bytes.as_text().is_none()) {
        block.bytes.push(&mut page);
    }
    page
}

#[derive(Default)]
struct Decoder {
    bits: u32,
    count: u32,
}

impl Decoder {
    fn decode(&mut self, text: &[u8], into: &mut Bytes) {
        let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
        for value in text.iter().filter_map(|&byte| value(byte)) {
            self.bits = (self.bits << 6 | u32::from(value)) & 0xff_ffff;
            self.count += 6;
            if self.count >= 8 {
                self.count -= 8;
                out.push((self.bits >> self.count & 0xff) as u8);
            }
        }
        into.take(&out);
    }
}

/// Returns the six bits of a base64 character, in the standard or the URL-safe alphabet.
fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Returns whether a line is long and consists only of base64.
fn is_encoded(line: &str) -> bool {
    if line.len() < MIN_LINE_BYTES {
        return false;
    }
    let body = line.trim_end_matches('=').as_bytes();
    let has = |is: fn(&u8) -> bool| body.iter().take(400).any(is);
    body.iter().all(|&byte| value(byte).is_some())
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        // Hex numbers, one per line, are identifiers.
        && has(|byte| byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit())
}

/// Returns whether most of the sample is base64 in lines of one length, or in one long line.
fn is_base64(sample: &Sample<'_>) -> bool {
    let (mut encoded, mut all) = (0, 0);
    let mut lengths: Vec<(usize, usize)> = Vec::new();
    let mut long = false;
    for line in sample.full_lines() {
        let line = line.trim();
        all += line.len();
        let data = line.split_once(";base64,").map_or(line, |(_, data)| data);
        if is_encoded(data) {
            encoded += data.len();
            long |= data.len() >= 1_000;
            if let Some(length) = lengths.iter_mut().find(|length| length.0 == data.len()) {
                length.1 += 1;
            } else if lengths.len() < 50 {
                lengths.push((data.len(), 1));
            }
        }
    }
    let lines: usize = lengths.iter().map(|length| length.1).sum();
    let same = lengths.iter().map(|length| length.1).max().unwrap_or(0);
    encoded * 10 >= all * 7 && (long || (lines >= 8 && same * 10 >= lines * 8))
}

fn read_dump(source: &dyn Source, form: EncodedFormat) -> io::Result<Option<Page>> {
    let base = if let EncodedFormat::Dump(base) = form { Some(base) } else { None };
    let mut around = SurroundingLines::default();
    let mut bytes = Bytes::default();
    let (mut first, mut last) = (Vec::new(), None);
    let (mut end, mut folded, mut room) = (0_u64, 0_u64, MAX_REPEATED_BYTES);
    let mut before: (Vec<u8>, bool) = (Vec::new(), false);
    let mut lines = Lines::of(source)?;
    while let Some(line) = lines.read()? {
        let dumped = base.map_or_else(|| plain(line.text).map(|data| ("", data)), |_| dump(line.text));
        match dumped {
            Some((offset, data)) => {
                let offset = base.and_then(|base| u64::from_str_radix(offset, base).ok()).unwrap_or(end);
                if std::mem::take(&mut before.1) {
                    let gap = offset.saturating_sub(end);
                    room = repeat(&mut bytes, &before.0, gap, room);
                }
                end = offset.saturating_add(data.len() as u64);
                bytes.take(&data);
                let item = Item::at(line.number, line.clip(200));
                if first.len() < 3 {
                    first.push(item);
                } else {
                    last = Some(item);
                }
                if !data.is_empty() {
                    before.0 = data;
                }
            }
            None if line.text == "*" => {
                folded += 1;
                before.1 = true;
            }
            None => surround(&mut around, &line),
        }
    }
    if around.total * 5 > bytes.count / 4 {
        return Ok(None);
    }
    let name = bytes.name().map(|name| format!(", {name}")).unwrap_or_default();
    let folded = if folded > 0 { format!(", {folded} runs of repeated lines") } else { String::new() };
    let mut page = Page::new(format!("hex dump of {} bytes{name}{folded}", bytes.count));
    page.push(around.part("text around it", Weight::Failure));
    first.extend(last);
    page.push(Part::new("first and last lines", Weight::Fact, first));
    bytes.push(&mut page);
    Ok(Some(page))
}

/// Takes the bytes of omitted lines, which repeat the last one. Returns how many more may be taken; the rest is only
/// counted.
fn repeat(bytes: &mut Bytes, line: &[u8], gap: u64, room: u64) -> u64 {
    let taken = if line.is_empty() { 0 } else { gap.min(room) };
    let mut left = taken;
    while left > 0 {
        let part = line.get(..line.len().min(left as usize)).unwrap_or(line);
        bytes.take(part);
        left -= part.len() as u64;
    }
    bytes.skip(gap - taken);
    room - taken
}

/// Returns the base in which the offsets of a dump are written: the one in which each offset equals the previous one
/// plus the bytes of its line.
fn base(sample: &Sample<'_>) -> Option<u32> {
    if !sample.mostly(85, |line| dump(line).is_some() || line == "*") {
        return None;
    }
    let mut pairs = 0;
    let mut votes = BASES.map(|base| (base, 0));
    let mut before: Option<(&str, u64)> = None;
    for line in sample.full_lines() {
        let Some((offset, data)) = dump(line) else {
            before = None;
            continue;
        };
        if let Some((earlier, length)) = before {
            pairs += 1;
            for (base, count) in &mut votes {
                let ends = [earlier, offset].map(|text| u64::from_str_radix(text, *base).ok());
                let follows =
                    ends[0].and_then(|start| start.checked_add(length)).is_some_and(|end| ends[1] == Some(end));
                *count += usize::from(follows);
            }
        }
        before = Some((offset, data.len() as u64));
    }
    votes.into_iter().find(|(_, count)| pairs > 0 && count * 10 >= pairs * 8).map(|(base, _)| base)
}

/// Parses the offset and the bytes of a line of a dump, as printed by `xxd`, `hexdump`, `od` and `objdump -s`.
fn dump(line: &str) -> Option<(&str, Vec<u8>)> {
    let indented = line.starts_with(' ');
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_hexdigit).count();
    if !(if indented { 4..=16 } else { 6..=16 }).contains(&digits) {
        return None;
    }
    let (offset, rest) = (line.get(..digits)?, line.get(digits..)?);
    if rest.trim().is_empty() && !indented {
        return Some((offset, Vec::new()));
    }
    let bare = rest.strip_prefix(':');
    // Without a colon, groups of several bytes are little-endian numbers.
    let turned = bare.is_none() && !indented;
    let rest = bare.unwrap_or(rest).strip_prefix(' ')?.trim_start();
    let mut data = Vec::with_capacity(16);
    // The readable column follows two blanks, and `hexdump -C` separates the halves.
    for word in rest.split('|').next()?.split(' ') {
        let is_end = word.is_empty() && data.len() != 8;
        if is_end || data.len() >= 64 || (!word.is_empty() && !group(word, turned, &mut data)) {
            break;
        }
    }
    (!data.is_empty()).then_some((offset, data))
}

/// Adds the bytes of a group: pairs of hex digits, or two bytes as six octal digits. Returns whether it is one.
fn group(word: &str, turned: bool, data: &mut Vec<u8>) -> bool {
    if turned && word.len() == 6 {
        let number = u32::from_str_radix(word, 8).ok().and_then(|number| u16::try_from(number).ok());
        data.extend(number.into_iter().flat_map(u16::to_le_bytes));
        return number.is_some();
    }
    let start = data.len();
    let is_hex = word.len() <= 128 && pairs(word, data);
    if is_hex && turned && matches!(word.len(), 4 | 8 | 16) {
        data.get_mut(start..).unwrap_or_default().reverse();
    }
    is_hex
}

/// Adds the bytes written as pairs of hex digits. Returns whether there is nothing else.
fn pairs(text: &str, data: &mut Vec<u8>) -> bool {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
        data.extend(
            text.as_bytes().chunks(2).map(|pair| pair.iter().fold(0, |sum, byte| sum * 16 + digit(byte)) as u8),
        );
    }
    is_hex
}

/// Returns the bytes of a line as printed by `xxd -p`: only hex digits.
fn plain(line: &str) -> Option<Vec<u8>> {
    let mut data = Vec::with_capacity(PLAIN_LINE_BYTES / 2);
    (!line.is_empty() && line.len() <= PLAIN_LINE_BYTES && pairs(line, &mut data)).then_some(data)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::About;
    use crate::check::{check, digest};

    fn form_of(text: &str) -> Option<EncodedFormat> {
        form(&Sample::of(&text.as_bytes(), About::default()).unwrap())
    }

    #[test]
    fn base64_is_decoded_and_the_text_around_it_is_kept() {
        let line = "iVBORw0KGgoAAAANSUhEUgAAAUAAAADICAIAAAAWZq/8AAAALHRFWHRDb21tZW50AGxvYWQgb2Yg";
        let raw = format!("wrote chart.png\n{}done, 3 warnings\n", format!("{line}\n").repeat(40));
        check(&raw, 400).shows(&expect![[r#"
            base64: 1 block of 2280 bytes decoded, PNG image
            == text around it: 2
            1: wrote chart.png
            42: done, 3 warnings
            == blocks: 1
            lines 2 to 41: base64 of 2280 bytes, PNG image
            == facts from its first bytes: 1
            320 × 200 pixels, 8 bits, RGB"#]]);
    }

    #[test]
    fn blocks_that_are_not_decoded_have_no_size() {
        let line = "MIIFazCCA1OgAwIBAgIRAIIQz7DSQONZRGPgu2OCiwAwDQYJKoZIhvcNAQELBQAw\n";
        let block = format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", line.repeat(20));
        let told = digest(&block.repeat(30), 400);
        assert!(told.contains("base64: 30 blocks; "), "{told}");
        let told = digest(&block.repeat(2), 400);
        assert!(told.contains("base64: 2 blocks of 1920 bytes decoded; "), "{told}");
    }

    #[test]
    fn a_dump_is_read_back() {
        let mut raw = String::new();
        for line in 0..40 {
            raw.push_str(&format!("{:08x}: 4854 5450 2f31 2e31 2035 3033 2062 7573  HTTP/1.1 503 bus\n", line * 16));
        }
        check(&raw, 400).shows(&expect![[r#"
            hex dump of 640 bytes
            == first and last lines: 4
            1: 00000000: 4854 5450 2f31 2e31 2035 3033 2062 7573  HTTP/1.1 503 bus
            2: 00000010: 4854 5450 2f31 2e31 2035 3033 2062 7573  HTTP/1.1 503 bus
            3: 00000020: 4854 5450 2f31 2e31 2035 3033 2062 7573  HTTP/1.1 503 bus
            40: 00000270: 4854 5450 2f31 2e31 2035 3033 2062 7573  HTTP/1.1 503 bus
            == other text in it: 1
            at byte 0: HTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/1.1 503 busHTTP/…"#]]);
        assert_eq!(
            dump("00000010  47 45 54 20 2f 61 62 63  64 65 66 67 68 69 6a 6b  |GET /abcdefghijk|").unwrap().1.len(),
            16
        );
        assert_eq!(dump("0000020 41 42").unwrap(), ("0000020", b"AB".to_vec()));
        assert_eq!(dump("0000016 6b 69  >ki<").unwrap().1, b"ki");
        assert_eq!(dump("0000020 696b 736f").unwrap().1, b"kios");
        assert_eq!(dump("0000020 064553 067551").unwrap().1, b"kiio");
        assert_eq!(dump(" 2000 01000200 25640a00  ....%d..").unwrap(), ("2000", b"\x01\0\x02\0%d\n\0".to_vec()));
        assert_eq!(dump("deadbeef: not a dump"), None);
    }

    #[test]
    fn offsets_are_read_in_the_base_they_are_written_in() {
        for (lines, expected) in [
            (
                ["00000000: 4142 4344", "00000004: 4142 4344", "00000008: 4142 4344", "0000000c: 41"],
                Some(EncodedFormat::Dump(16)),
            ),
            (["0000000 41 42  >AB<", "0000002 41 42  >AB<", "*", "0000010 41"], Some(EncodedFormat::Dump(16))),
            (["0000008 41 42", "0000010 41 42", "0000012 41 42", "0000014"], Some(EncodedFormat::Dump(10))),
            (["0000006 041101", "0000010 041101", "0000012 041101", "0000014"], Some(EncodedFormat::Dump(8))),
            (["202401 12 34", "202402 15 36", "202403 18 38", "202404 20 40"], None),
        ] {
            assert_eq!(form_of(&(lines.join("\n") + "\n")), expected, "{lines:?}");
        }
    }

    #[test]
    fn lines_that_repeat_count() {
        let lines = ["0000000 41 42 43 44", "0000004 45 45 45 45", "*", "0000400 46", "0000401"];
        let text = digest(&(lines.join("\n") + "\n"), 400);
        assert!(text.contains("hex dump of 1025 bytes"), "{text}");
    }

    #[test]
    fn names_and_paths_are_not_base64() {
        let hashes = "0123456789abcdef0123456789abcdef01234567\n".repeat(30);
        let paths = "src/components/Settings/Panels/Notifications/EmailPreferencesPanel2\n".repeat(4)
            + "src/a\nsrc/b\nREADME\n";
        for text in [hashes.as_str(), &paths, "plain words\nand more\nof them\n"] {
            assert_eq!(form_of(text), None, "{text}");
        }
    }
}
