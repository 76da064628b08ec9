//! Byte classes: which bytes a part of a secret may consist of.
//!
//! A class is a set of atoms, an atom is one bit, and one table contains the atoms of each byte. So a class test is one
//! load and one `and`, and a new class is a sum of atoms. Only ASCII has atoms: a byte of a multi-byte character is in
//! no class and therefore ends every run.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Class(u16);

const fn either(a: Class, b: Class) -> Class {
    Class(a.0 | b.0)
}

/// `0-9`
pub(super) const DIGIT: Class = Class(1);
const LOWER_AF: Class = Class(1 << 1);
const LOWER_GZ: Class = Class(1 << 2);
const UPPER_AF: Class = Class(1 << 3);
const UPPER_GZ: Class = Class(1 << 4);
const UNDERSCORE: Class = Class(1 << 5);
const DASH: Class = Class(1 << 6);
const DOT: Class = Class(1 << 7);
const PLUS_SLASH: Class = Class(1 << 8);
const EQUALS: Class = Class(1 << 9);
const TILDE: Class = Class(1 << 10);
const PERCENT: Class = Class(1 << 11);
const DOLLAR: Class = Class(1 << 12);

/// `a-z`
pub(super) const LOWER: Class = either(LOWER_AF, LOWER_GZ);
/// `A-Z`
pub(super) const UPPER: Class = either(UPPER_AF, UPPER_GZ);
/// `A-Za-z`
pub(super) const ALPHA: Class = either(LOWER, UPPER);
/// `A-Za-z0-9`
pub(super) const ALNUM: Class = either(ALPHA, DIGIT);
/// `a-z0-9`
pub(super) const LOWER_ALNUM: Class = either(LOWER, DIGIT);
/// `A-Z0-9`
pub(super) const UPPER_ALNUM: Class = either(UPPER, DIGIT);
/// `0-9a-f`
pub(super) const HEX: Class = either(DIGIT, LOWER_AF);
/// `0-9a-fA-F`
pub(super) const ANY_HEX: Class = either(HEX, UPPER_AF);
/// `A-Za-z0-9_`
pub(super) const WORD: Class = either(ALNUM, UNDERSCORE);
/// `A-Za-z0-9_-`, which is also base64 for URLs
pub(super) const URL64: Class = either(WORD, DASH);
/// `A-Za-z0-9_.-`
pub(super) const URL64_DOT: Class = either(URL64, DOT);
/// `A-Za-z0-9_.=-`
pub(super) const URL64_DOT_EQ: Class = either(URL64_DOT, EQUALS);
/// `A-Za-z0-9_=-`
pub(super) const URL64_EQ: Class = either(URL64, EQUALS);
/// `A-Za-z0-9+/`
pub(super) const BASE64: Class = either(ALNUM, PLUS_SLASH);
/// `A-Za-z0-9+/=`
pub(super) const BASE64_EQ: Class = either(BASE64, EQUALS);
/// `A-Za-z0-9_+/-`
pub(super) const URL64_BASE64: Class = either(URL64, BASE64);
/// `A-Za-z0-9_~.-`
pub(super) const AZURE: Class = either(URL64_DOT, TILDE);
/// The characters that RFC 6750 allows in a bearer token: `A-Za-z0-9-._~+/=`
pub(super) const TOKEN68: Class = either(AZURE, BASE64_EQ);

/// Base64 as it is written in a URL: `A-Za-z0-9_+/=%~-`
pub(super) const IN_URL: Class = either(either(URL64, BASE64_EQ), either(PERCENT, TILDE));
/// The characters of password hashes and their salts: `A-Za-z0-9+/.$`
pub(super) const CRYPT: Class = either(either(BASE64, DOT), DOLLAR);

static ATOMS: [u16; 256] = atoms();

const fn atoms() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT.0,
            b'a'..=b'f' => LOWER_AF.0,
            b'g'..=b'z' => LOWER_GZ.0,
            b'A'..=b'F' => UPPER_AF.0,
            b'G'..=b'Z' => UPPER_GZ.0,
            b'_' => UNDERSCORE.0,
            b'-' => DASH.0,
            b'.' => DOT.0,
            b'+' | b'/' => PLUS_SLASH.0,
            b'=' => EQUALS.0,
            b'~' => TILDE.0,
            b'%' => PERCENT.0,
            b'$' => DOLLAR.0,
            _ => 0,
        };
        byte += 1;
    }
    table
}

impl Class {
    /// Returns whether `byte` belongs to the class.
    #[inline]
    pub(super) fn has(self, byte: u8) -> bool {
        ATOMS[usize::from(byte)] & self.0 != 0
    }

    pub(super) fn has_all(self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.has(byte))
    }

    pub(super) fn has_any(self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.has(byte))
    }
}
