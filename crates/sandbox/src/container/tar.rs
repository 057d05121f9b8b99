//! The first entry of an archive, as engines send single files. Reads headers only; the content follows in the stream.

use std::io::{self, Read};

const BLOCK_BYTES: usize = 512;

/// Names and links in extension headers are short; longer ones are not what an engine sends.
const MAX_EXTENSION_BYTES: u64 = 64 << 10;

/// What an archive begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// A regular file; this many bytes follow.
    File { mode: u32, size_bytes: u64 },
    /// A symbolic link.
    Link { target: String },
    /// A directory or something else.
    Other,
}

pub(super) fn first(archive: &mut impl Read) -> io::Result<First> {
    let mut extended = Extended::default();
    loop {
        let mut header = [0; BLOCK_BYTES];
        archive.read_exact(&mut header)?;
        let size_bytes = number(&header[124..136])?;
        match header[156] {
            b'x' | b'K' | b'g' | b'L' => extended.note(header[156], &content(archive, size_bytes)?),
            b'0' | 0 => {
                let mode = u32::try_from(number(&header[100..108])?).unwrap_or(0);
                return Ok(First::File { mode, size_bytes: extended.size_bytes.unwrap_or(size_bytes) });
            }
            b'2' => {
                let target = extended.target.unwrap_or_else(|| text(&header[157..257]));
                return Ok(First::Link { target });
            }
            _ => return Ok(First::Other),
        }
    }
}

/// What does not fit into a header and precedes it.
#[derive(Default)]
struct Extended {
    target: Option<String>,
    size_bytes: Option<u64>,
}

impl Extended {
    fn note(&mut self, kind: u8, content: &[u8]) {
        match kind {
            b'K' => self.target = Some(text(content)),
            b'x' => text(content).lines().filter_map(|line| line.split_once(' ')?.1.split_once('=')).for_each(
                |(key, value)| match key {
                    "linkpath" => self.target = Some(value.to_owned()),
                    "size" => self.size_bytes = value.parse().ok(),
                    _ => {}
                },
            ),
            _ => {}
        }
    }
}

fn content(archive: &mut impl Read, size_bytes: u64) -> io::Result<Vec<u8>> {
    if size_bytes > MAX_EXTENSION_BYTES {
        return Err(broken("an extension that is too large"));
    }
    let mut content = Vec::new();
    archive.take(size_bytes.next_multiple_of(BLOCK_BYTES as u64)).read_to_end(&mut content)?;
    content.truncate(size_bytes as usize);
    Ok(content)
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// Octal digits, or for large files the number itself behind a byte with the highest bit.
fn number(field: &[u8]) -> io::Result<u64> {
    if field[0] & 0x80 != 0 {
        return Ok(field[1..].iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte)));
    }
    let digits = text(field);
    let digits = digits.trim();
    if digits.is_empty() { Ok(0) } else { u64::from_str_radix(digits, 8).map_err(|_| broken("a broken number")) }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive has {what}"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn header(kind: u8, size: &str, link: &str) -> Vec<u8> {
        let mut header = vec![0; BLOCK_BYTES];
        header[100..107].copy_from_slice(b"0000755");
        header[124..124 + size.len()].copy_from_slice(size.as_bytes());
        header[156] = kind;
        header[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header
    }

    fn first_of(bytes: Vec<u8>) -> io::Result<First> {
        first(&mut Cursor::new(bytes))
    }

    #[test]
    fn files_links_and_directories_are_told_apart() {
        let file = First::File { mode: 0o755, size_bytes: 0o17 };
        assert_eq!(first_of(header(b'0', "00000000017", "")).expect("an entry"), file);
        assert_eq!(first_of(header(b'2', "0", "busybox")).expect("an entry"), First::Link { target: "busybox".into() });
        assert_eq!(first_of(header(b'5', "0", "")).expect("an entry"), First::Other);
    }

    #[test]
    fn extensions_before_the_entry_count() {
        let records = b"23 linkpath=/usr/bin/sh\n12 size=70\n";
        let mut archive = header(b'x', &format!("{:o}", records.len()), "");
        archive.extend(records);
        archive.resize(2 * BLOCK_BYTES, 0);
        let with = |kind| [archive.clone(), header(kind, "1", "short")].concat();
        assert_eq!(first_of(with(b'2')).expect("an entry"), First::Link { target: "/usr/bin/sh".into() });
        assert_eq!(first_of(with(b'0')).expect("an entry"), First::File { mode: 0o755, size_bytes: 70 });
    }

    #[test]
    fn an_archive_that_is_cut_or_broken_is_an_error() {
        assert!(first_of(vec![0; 100]).is_err());
        assert!(first_of(header(b'0', "99999999999", "")).is_err());
        assert!(first_of(header(b'x', "77777777777", "")).is_err());
    }
}
