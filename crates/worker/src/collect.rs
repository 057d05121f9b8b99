//! EVIDENCE: takes what the action said it would leave, and nothing a hostile program might put in its place.
//!
//! The workspace is the program's to arrange: an output may be a link to a secret, a FIFO that never ends, a file that
//! grows. Only regular files, opened without following any link on the way, read up to a limit, become evidence.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use placet_domain::evidence::{NotTaken, NotTakenBecause};
use placet_domain::proposal::ActionSpec;
use placet_sandbox::Output;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use crate::workspace::Workspace;

/// Prefix of the names of evidence that is a declared output.
pub(crate) const OUTPUTS: &str = "out/";

/// One piece of evidence, still here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Collected evidence, and the outputs that did not become evidence.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) not_taken: Vec<NotTaken>,
}

pub(crate) fn collect(spec: &ActionSpec, workspace: &Workspace, output: Output) -> Collected {
    let streams = [("stdout", output.stdout), ("stderr", output.stderr)];
    let streams = streams.into_iter().map(|(name, bytes)| Piece { name: name.to_owned(), bytes });
    let mut collected = Collected { pieces: streams.collect(), not_taken: Vec::new() };
    for path in &spec.outputs {
        match read_output(workspace.outputs(), path, spec.limits.file_bytes) {
            Ok(bytes) => collected.pieces.push(Piece { name: format!("{OUTPUTS}{path}"), bytes }),
            Err(why) => collected.not_taken.push(NotTaken { path: path.clone(), why }),
        }
    }
    collected
}

/// The bytes of an output, if it is a plain file within the limit.
fn read_output(root: &Path, path: &str, limit: u64) -> Result<Vec<u8>, NotTakenBecause> {
    let file = open_output(root, path).map_err(|errno| match errno {
        Errno::NOENT => NotTakenBecause::Missing,
        // The path leads through a file or a link: O_NOFOLLOW and NO_SYMLINKS return LOOP.
        Errno::NOTDIR => NotTakenBecause::Missing,
        Errno::LOOP => NotTakenBecause::Link,
        // A socket, or a device without a driver.
        Errno::NXIO | Errno::NODEV => NotTakenBecause::Special,
        _ => NotTakenBecause::Unreadable,
    })?;
    let stat = fstat(&file).map_err(|_| NotTakenBecause::Unreadable)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(NotTakenBecause::Directory),
        FileType::Symlink => return Err(NotTakenBecause::Link),
        FileType::CharacterDevice if stat.st_rdev == 0 => return Err(NotTakenBecause::Missing),
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            return Err(NotTakenBecause::Special);
        }
    }
    if u64::try_from(stat.st_size).is_ok_and(|size| size > limit) {
        return Err(NotTakenBecause::TooLarge);
    }
    let mut bytes = Vec::new();
    File::from(file).take(limit).read_to_end(&mut bytes).map_err(|_| NotTakenBecause::Unreadable)?;
    Ok(bytes)
}

fn open_output(root: &Path, path: &str) -> rustix::io::Result<OwnedFd> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, root, directory, Mode::empty())?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Checked before the open: in the upper of a hosted run a removed file is a device, which cannot be opened.
    let seen = openat2(&root, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), beneath)?;
    let kind = FileType::from_raw_mode(fstat(&seen)?.st_mode);
    if kind != FileType::RegularFile {
        return Ok(seen);
    }
    // NONBLOCK: a FIFO that replaced the file must not make this wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat2(&root, path, flags, Mode::empty(), beneath)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn read(root: &Path, path: &str) -> Result<Vec<u8>, NotTakenBecause> {
        read_output(root, path, 100)
    }

    #[test]
    fn a_plain_file_is_taken_and_a_missing_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/b"), "result").unwrap();
        assert_eq!(read(dir.path(), "a/b"), Ok(b"result".to_vec()));
        assert_eq!(read(dir.path(), "a/c"), Err(NotTakenBecause::Missing));
        assert_eq!(read(dir.path(), "a/b/c"), Err(NotTakenBecause::Missing));
    }

    #[test]
    fn links_are_never_followed_at_any_depth() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink(outside.path().join("secret"), dir.path().join("file")).unwrap();
        symlink(outside.path(), dir.path().join("dir")).unwrap();
        assert_eq!(read(dir.path(), "file"), Err(NotTakenBecause::Link));
        assert_eq!(read(dir.path(), "dir/secret"), Err(NotTakenBecause::Link));
    }

    #[test]
    fn outputs_that_are_no_files_are_named_with_their_reason() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(CWD, dir.path().join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _listens = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        fs::write(dir.path().join("large"), [0; 101]).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let expected = [
            ("fifo", NotTakenBecause::Special),
            ("socket", NotTakenBecause::Special),
            ("large", NotTakenBecause::TooLarge),
            ("folder", NotTakenBecause::Directory),
        ];
        for (name, why) in expected {
            assert_eq!(read(dir.path(), name), Err(why), "{name}");
        }
    }
}
