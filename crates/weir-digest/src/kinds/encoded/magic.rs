//! Identifies bytes by their beginning, in our words, and extracts a few facts from it.

/// Returns the name of the format that these bytes begin: `PNG image`.
pub(super) fn name(head: &[u8]) -> Option<&'static str> {
    let own = NAMES.iter().find(|(bytes, _)| head.starts_with(bytes)).map(|(_, name)| *name);
    let own = own.or_else(|| (head.get(257..262) == Some(b"ustar")).then_some("tar archive"));
    let own = own.or_else(|| (head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE")).then_some("WAV sound"));
    own.or_else(|| infer::get(head).map(|kind| kind.mime_type()))
}

/// The beginnings of formats for which there is a better name than their MIME type.
#[rustfmt::skip]
const NAMES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"), (b"SQLite format 3\0", "SQLite database"), (b"\x7fELF", "ELF file"),
    (b"\x1f\x8b", "gzip data"), (b"BZh", "bzip2 data"), (b"\xfd7zXZ\0", "xz data"), (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"PK\x03\x04", "ZIP archive"), (b"PK\x05\x06", "empty ZIP archive"), (b"\0asm", "WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "Java class file"), (b"wOF2", "WOFF2 font"), (b"wOFF", "WOFF font"),
    (b"!<arch>\n", "ar archive"), (b"MZ", "Windows program"), (b"\xd4\xc3\xb2\xa1", "pcap capture"),
    (b"\xcf\xfa\xed\xfe", "Mach-O file"), (b"\x30\x82", "DER data"),
];

/// Returns whether the contents of such a format are compressed, so that text in them is accidental.
pub(super) fn is_packed(name: Option<&str>) -> bool {
    const BEGIN: [&str; 6] = ["image/", "audio/", "video/", "font/", "PDF", "WOFF"];
    const END: [&str; 5] = [" image", "gzip data", "bzip2 data", "xz data", "zstd data"];
    const WITHIN: [&str; 4] = ["ZIP", "zip", "compress", "rar"];
    name.is_some_and(|name| {
        BEGIN.iter().any(|word| name.starts_with(word))
            || END.iter().any(|word| name.ends_with(word))
            || WITHIN.iter().any(|word| name.contains(word))
    })
}

pub(super) fn facts(head: &[u8], tail: &[u8]) -> Vec<String> {
    let found = match name(head) {
        Some("PNG image") => png(head),
        Some("JPEG image") => jpeg(head),
        Some("GIF image") => two(head, 6, 8, u16::from_le_bytes),
        Some("SQLite database") => sqlite(head),
        Some("ELF file") => elf(head),
        Some("gzip data") => gzip(head, tail),
        Some("ZIP archive") => return zip(head),
        Some("tar archive") => return tar(head),
        Some("WAV sound") => wav(head),
        Some("pcap capture") => pcap(head),
        Some("Java class file") => {
            number16(head, 6, u16::from_be_bytes).map(|major| format!("for Java {}", major.saturating_sub(44)))
        }
        Some("PDF document") => head.get(5..8).map(|version| format!("version {}", String::from_utf8_lossy(version))),
        _ => None,
    };
    found.into_iter().collect()
}

fn number16(head: &[u8], at: usize, of: fn([u8; 2]) -> u16) -> Option<u16> {
    head.get(at..at.checked_add(2)?)?.try_into().ok().map(of)
}

fn number32(head: &[u8], at: usize, of: fn([u8; 4]) -> u32) -> Option<u32> {
    head.get(at..at.checked_add(4)?)?.try_into().ok().map(of)
}

fn two(head: &[u8], wide: usize, high: usize, of: fn([u8; 2]) -> u16) -> Option<String> {
    Some(format!("{} × {} pixels", number16(head, wide, of)?, number16(head, high, of)?))
}

fn png(head: &[u8]) -> Option<String> {
    let (wide, high) = (number32(head, 16, u32::from_be_bytes)?, number32(head, 20, u32::from_be_bytes)?);
    let colour = match head.get(25)? {
        0 => "grey",
        2 => "RGB",
        3 => "palette",
        4 => "grey with alpha",
        6 => "RGBA",
        _ => "unknown colours",
    };
    Some(format!("{wide} × {high} pixels, {} bits, {colour}", head.get(24)?))
}

fn jpeg(head: &[u8]) -> Option<String> {
    let mut place = 2;
    while head.get(place) == Some(&0xff) {
        let marker = *head.get(place + 1)?;
        if (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return two(head, place + 7, place + 5, u16::from_be_bytes);
        }
        place += 2 + usize::from(number16(head, place + 2, u16::from_be_bytes)?.max(2));
    }
    None
}

fn sqlite(head: &[u8]) -> Option<String> {
    let page = match number16(head, 16, u16::from_be_bytes)? {
        1 => 65_536,
        page => u32::from(page),
    };
    let pages = number32(head, 28, u32::from_be_bytes)?;
    let user = number32(head, 60, u32::from_be_bytes)?;
    let by = number32(head, 96, u32::from_be_bytes)?;
    let (major, minor, patch) = (by / 1_000_000, by / 1_000 % 1_000, by % 1_000);
    Some(format!("{pages} pages of {page} bytes, user version {user}, written by SQLite {major}.{minor}.{patch}"))
}

fn elf(head: &[u8]) -> Option<String> {
    let bits = if head.get(4)? == &1 { 32 } else { 64 };
    let (order, of): (&str, fn([u8; 2]) -> u16) =
        if head.get(5)? == &2 { ("big", u16::from_be_bytes) } else { ("little", u16::from_le_bytes) };
    let sort = match number16(head, 16, of)? {
        1 => "object file",
        2 => "program",
        3 => "shared object or position-independent program",
        4 => "core dump",
        _ => "unknown sort",
    };
    let machine = match number16(head, 18, of)? {
        3 => "x86".to_owned(),
        8 => "MIPS".to_owned(),
        40 => "ARM".to_owned(),
        62 => "x86-64".to_owned(),
        183 => "AArch64".to_owned(),
        243 => "RISC-V".to_owned(),
        other => format!("machine {other}"),
    };
    Some(format!("{bits} bits, {order} endian, {sort} for {machine}"))
}

fn gzip(head: &[u8], tail: &[u8]) -> Option<String> {
    let size = number32(tail, tail.len().checked_sub(4)?, u32::from_le_bytes)?;
    let named = head.get(3)? & 0x0c == 0x08;
    let name = head.get(10..).filter(|_| named).and_then(|rest| rest.split(|&byte| byte == 0).next());
    let name = name.map(|name| format!(", of {}", String::from_utf8_lossy(name.get(..200).unwrap_or(name))));
    Some(format!("{size} bytes unpacked{}", name.unwrap_or_default()))
}

fn wav(head: &[u8]) -> Option<String> {
    let at = memchr::memmem::find(head, b"fmt ")?;
    let (channels, bits) = (number16(head, at + 10, u16::from_le_bytes)?, number16(head, at + 22, u16::from_le_bytes)?);
    let (rate, each) = (number32(head, at + 12, u32::from_le_bytes)?, number32(head, at + 16, u32::from_le_bytes)?);
    let data = memchr::memmem::find(head, b"data").and_then(|data| number32(head, data + 4, u32::from_le_bytes));
    let long = data.map(|data| format!(", {:.2} s", f64::from(data) / f64::from(each.max(1)))).unwrap_or_default();
    let channels = if channels == 1 { "1 channel".to_owned() } else { format!("{channels} channels") };
    Some(format!("{rate} Hz, {channels}, {bits} bits{long}"))
}

fn pcap(head: &[u8]) -> Option<String> {
    let (major, minor) = (number16(head, 4, u16::from_le_bytes)?, number16(head, 6, u16::from_le_bytes)?);
    let (most, link) = (number32(head, 16, u32::from_le_bytes)?, number32(head, 20, u32::from_le_bytes)?);
    let link = if link == 1 { "Ethernet".to_owned() } else { format!("link type {link}") };
    Some(format!("version {major}.{minor}, up to {most} bytes a packet, {link}"))
}

/// Returns the names and sizes of the first files of an archive.
fn tar(head: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut place = 0_usize;
    let text = |from: usize, to: usize| {
        let field = head.get(from..to)?.split(|&byte| byte == 0).next()?;
        (!field.is_empty()).then(|| String::from_utf8_lossy(field))
    };
    while let Some(name) = text(place, place + 100).filter(|_| found.len() < 40) {
        let size = text(place + 124, place + 136).unwrap_or_default();
        let Ok(size) = usize::from_str_radix(size.trim(), 8) else { break };
        found.push(format!("holds {name} ({size} bytes)"));
        place = place.saturating_add(512).saturating_add(size.saturating_add(511) / 512 * 512);
        if place >= head.len() {
            break;
        }
    }
    found
}

/// Returns the names of the first files of an archive.
fn zip(head: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(next) = head.get(place..).and_then(|rest| memchr::memmem::find(rest, b"PK\x03\x04")) {
        place += next;
        let length = number16(head, place + 26, u16::from_le_bytes).map_or(0, usize::from);
        let Some(name) = head.get(place + 30..place + 30 + length) else { break };
        found.push(format!("holds {}", String::from_utf8_lossy(name.get(..200).unwrap_or(name))));
        place += 30;
        if found.len() >= 40 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_known() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x40\0\0\0\xc8\x08\x02\0\0\0";
        assert_eq!(name(png), Some("PNG image"));
        assert_eq!(facts(png, b""), ["320 × 200 pixels, 8 bits, RGB"]);
        assert_eq!(facts(b"\x1f\x8b\x08\x08\0\0\0\0\0\x03a.txt\0..", b"\x05\0\0\0"), ["5 bytes unpacked, of a.txt"]);
        for cut in 0..png.len() {
            facts(&png[..cut], &[]);
        }
        assert_eq!(name(b"hello"), None);
    }
}
