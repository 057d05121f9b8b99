//! Mount points of the host, for the plan: an overlay shows the one file system below it, without the file systems that
//! are mounted inside of that.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Reads the mount table. If it cannot be read, every directory counts as one file system, and mounts below it are not
/// visible in the cage.
pub(super) fn read() -> BTreeSet<PathBuf> {
    parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
}

/// Parses the mount points: the fifth field of each line.
fn parse(table: &[u8]) -> BTreeSet<PathBuf> {
    let lines = table.split(|&byte| byte == b'\n');
    let points = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    points.map(|point| PathBuf::from(OsString::from_vec(unescaped(point)))).collect()
}

/// Decodes the kernel's escapes: blanks, line ends and backslashes are written as three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let octal = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok();
        match (first, after.get(..3).and_then(octal)) {
            (b'\\', Some(byte)) => {
                plain.push(byte);
                rest = &after[3..];
            }
            _ => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_blanks() {
        let table = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:5 / /srv/a\\040b rw,nosuid shared:1 - tmpfs x rw\n";
        assert_eq!(parse(table), ["/", "/srv/a b"].map(PathBuf::from).into());
        assert!(read().contains(&PathBuf::from("/")) || read().contains(&PathBuf::from("/proc")));
    }
}
