//! Finds the program in the cage and opens it, so that the bytes the caller looks at are the file that is executed.
//!
//! A script is read by its interpreter, by name, after the interpreter started. For those the chain is resolved here:
//! the script and each interpreter are opened and shown to the caller, the last one is executed by descriptor, and it
//! gets the arguments the kernel would have given it. What the caller saw of the *script* is what is read as long as
//! nobody outside the cage changes the file; inside nothing runs yet.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::sys::Result;

/// As many as the kernel follows.
const MAX_INTERPRETERS: usize = 4;

/// The kernel looks no further for the end of a `#!` line.
const MAX_LINE_BYTES: usize = 255;

struct Link {
    path: String,
    file: OwnedFd,
    /// For an interpreter: the argument its script gives it.
    argument: Option<String>,
}

/// The program, and the interpreters behind it. Never empty; the last one is executed.
pub(super) struct Program(Vec<Link>);

impl Program {
    /// `None`: there is no such program.
    pub(super) fn find(name: &str, path: &[String]) -> Result<Option<Self>> {
        let candidates = if name.contains('/') {
            vec![name.to_owned()]
        } else {
            path.iter().map(|directory| format!("{directory}/{name}")).collect()
        };
        for candidate in candidates {
            if let Some(link) = open(candidate, None)? {
                return Self::follow(link).map(Some);
            }
        }
        Ok(None)
    }

    fn follow(program: Link) -> Result<Self> {
        let mut chain = vec![program];
        while let Some((interpreter, argument)) = chain.last().map(|link| shebang(&link.file)).transpose()?.flatten() {
            if chain.len() > MAX_INTERPRETERS {
                return Err(Errno::LOOP);
            }
            chain.push(open(interpreter, argument)?.ok_or(Errno::NOENT)?);
        }
        Ok(Self(chain))
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.0.iter().map(|link| link.path.clone()).collect()
    }

    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.0.iter().map(|link| link.file.as_fd()).collect()
    }

    pub(super) fn executable(&self) -> BorrowedFd<'_> {
        self.0[self.0.len() - 1].file.as_fd()
    }

    /// The given arguments, with those of the interpreters in front: each gets its own name, the argument of the `#!`
    /// line, and the path of the script.
    pub(super) fn arguments(&self, given: &[String]) -> Option<Vec<CString>> {
        let mut all: Vec<String> = given.to_vec();
        for pair in self.0.windows(2) {
            let [script, interpreter] = pair else { return None };
            let front = [Some(interpreter.path.clone()), interpreter.argument.clone(), Some(script.path.clone())];
            all.splice(0..1, front.into_iter().flatten());
        }
        all.into_iter().map(|argument| CString::new(argument).ok()).collect()
    }
}

/// `None`: not there, not a plain file, or not executable for this user.
fn open(path: String, argument: Option<String>) -> Result<Option<Link>> {
    let file = match rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let plain = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::RegularFile;
    let executable = rustix::fs::accessat(CWD, &path, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    Ok((plain && executable).then_some(Link { path, file, argument }))
}

/// The interpreter of a script, and the one argument it gets.
fn shebang(file: &OwnedFd) -> Result<Option<(String, Option<String>)>> {
    let mut head = [0; MAX_LINE_BYTES];
    let length = rustix::io::pread(file, &mut head, 0)?;
    Ok(parse_shebang(&head[..length]))
}

fn parse_shebang(head: &[u8]) -> Option<(String, Option<String>)> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim_matches([' ', '\t']);
    (!interpreter.is_empty()).then(|| (interpreter.to_owned(), (!argument.is_empty()).then(|| argument.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_interpreter_and_at_most_one_argument() {
        let parse = |line: &str| parse_shebang(line.as_bytes());
        assert_eq!(parse("#!/bin/sh\necho"), Some(("/bin/sh".into(), None)));
        assert_eq!(parse("#! /usr/bin/env -S a b \nx"), Some(("/usr/bin/env".into(), Some("-S a b".into()))));
        assert_eq!(parse("#!\t/bin/sh"), Some(("/bin/sh".into(), None)));
        assert_eq!(parse("#!\n"), None);
        assert_eq!(parse("\u{7f}ELF"), None);
        assert_eq!(parse(""), None);
    }
}
