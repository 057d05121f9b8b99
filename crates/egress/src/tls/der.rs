//! The few forms of DER (ITU-T X.690) that a certificate is made of. Written, never read.

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;

pub(super) const TRUE: &[u8] = &[0x01, 0x01, 0xff];

/// A tag, a length and what it is about.
pub(super) fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let digits = &length[length.iter().position(|&byte| byte != 0).unwrap_or(length.len() - 1)..];
    let mut bytes = vec![tag];
    if content.len() >= 0x80 {
        bytes.push(0x80 | u8::try_from(digits.len()).expect("a length has at most eight bytes"));
    }
    bytes.extend_from_slice(digits);
    bytes.extend_from_slice(content);
    bytes
}

/// A part that its number names, with parts of its own.
pub(super) fn numbered(number: u8, content: &[u8]) -> Vec<u8> {
    tagged(0xa0 | number, content)
}

/// A part that its number names, bare.
pub(super) fn bare(number: u8, content: &[u8]) -> Vec<u8> {
    tagged(0x80 | number, content)
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(SEQUENCE, &parts.concat())
}

pub(super) fn set(parts: &[&[u8]]) -> Vec<u8> {
    tagged(SET, &parts.concat())
}

/// Of bytes that begin with neither a sign nor a superfluous zero.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    tagged(INTEGER, bytes)
}

/// `unused` bits of the last byte do not count.
pub(super) fn bits(unused: u8, bytes: &[u8]) -> Vec<u8> {
    tagged(BIT_STRING, &[&[unused], bytes].concat())
}

pub(super) fn octets(bytes: &[u8]) -> Vec<u8> {
    tagged(OCTET_STRING, bytes)
}

/// The name of something, in its encoded form.
pub(super) fn object(encoded: &[u8]) -> Vec<u8> {
    tagged(OBJECT, encoded)
}

pub(super) fn text(text: &str) -> Vec<u8> {
    tagged(UTF8_STRING, text.as_bytes())
}

/// `YYMMDDhhmmssZ`: certificates use it for all years before 2050.
pub(super) fn utc_time(text: &str) -> Vec<u8> {
    tagged(UTC_TIME, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_in_the_shortest_way() {
        assert_eq!(octets(&[]), [4, 0]);
        assert_eq!(octets(&[7; 127])[..3], [4, 127, 7]);
        assert_eq!(octets(&[7; 128])[..4], [4, 0x81, 128, 7]);
        assert_eq!(octets(&[7; 256])[..5], [4, 0x82, 1, 0, 7]);
        assert_eq!(sequence(&[TRUE, &integer(&[2])]), [0x30, 6, 1, 1, 0xff, 2, 1, 2]);
        assert_eq!((numbered(3, &[1])[0], bare(2, &[1])[0]), (0xa3, 0x82));
    }
}
