//! EVIDENCE: takes what the action said it would leave, and nothing a hostile program might put in its place.
//!
//! The workspace is the program's to arrange: an output may be a link to a secret, a FIFO that never ends, a file that
//! grows. Only regular files, opened without following any link on the way, read up to a limit, become evidence.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use placet_domain::proposal::ActionSpec;
use placet_sandbox::Output;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use crate::workspace::Workspace;

/// One piece of evidence, still here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn collect(spec: &ActionSpec, workspace: &Workspace, output: Output) -> Vec<Piece> {
    let streams = [("stdout", output.stdout), ("stderr", output.stderr)];
    let streams = streams.into_iter().map(|(name, bytes)| Piece { name: name.to_owned(), bytes });
    let outputs = spec.outputs.iter().filter_map(|path| {
        let bytes = read_output(workspace.outputs(), path, spec.limits.file_bytes);
        // A missing or refused output is not evidence; that it is missing shows in the manifest.
        bytes
            .inspect_err(|error| tracing::warn!(%error, "an output is not taken"))
            .ok()
            .flatten()
            .map(|bytes| Piece { name: format!("out/{path}"), bytes })
    });
    streams.chain(outputs).collect()
}

/// The bytes of an output, if it is a plain file within the limit.
fn read_output(root: &Path, path: &str, limit: u64) -> rustix::io::Result<Option<Vec<u8>>> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, root, directory, Mode::empty())?;
    // NONBLOCK: opening a FIFO must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match openat2(&root, path, flags, Mode::empty(), beneath) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let stat = fstat(&file)?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !regular || u64::try_from(stat.st_size).is_ok_and(|size| size > limit) {
        return Err(Errno::INVAL);
    }
    let mut bytes = Vec::new();
    let read = File::from(file).take(limit).read_to_end(&mut bytes);
    read.map(|_| Some(bytes)).map_err(|_| Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn read(root: &Path, path: &str) -> Result<Option<Vec<u8>>, Errno> {
        read_output(root, path, 100)
    }

    #[test]
    fn a_plain_file_is_taken_and_a_missing_one_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/b"), "result").unwrap();
        assert_eq!(read(dir.path(), "a/b"), Ok(Some(b"result".to_vec())));
        assert_eq!(read(dir.path(), "a/c"), Ok(None));
    }

    #[test]
    fn links_are_never_followed_at_any_depth() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink(outside.path().join("secret"), dir.path().join("file")).unwrap();
        symlink(outside.path(), dir.path().join("dir")).unwrap();
        assert!(read(dir.path(), "file").is_err());
        assert!(read(dir.path(), "dir/secret").is_err());
    }

    #[test]
    fn what_is_no_file_or_too_large_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(CWD, dir.path().join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        fs::write(dir.path().join("large"), [0; 101]).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        for name in ["fifo", "large", "folder"] {
            assert_eq!(read(dir.path(), name), Err(Errno::INVAL), "{name}");
        }
    }
}
