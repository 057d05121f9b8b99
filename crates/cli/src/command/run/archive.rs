//! Results in one file: a compressed tar or a zip. The same files make the same bytes, whoever packs them and whenever: nothing of
//! this machine, its users or its clock is in them.
//!
//! It writes and never unpacks. Names are checked by whoever hands them over.

mod zip;

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use self::zip::Zip;

/// In which form, by how the name ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    TarGz,
    Zip,
}

impl Form {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |end: &str| name.len() > end.len() && name.ends_with(end);
        match () {
            () if ends(".tar.gz") || ends(".tgz") => Some(Self::TarGz),
            () if ends(".zip") => Some(Self::Zip),
            () => None,
        }
    }
}

/// A file that is packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) path: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) executable: bool,
}

impl Member<'_> {
    pub(super) const fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// An archive that is being written. The order of its members is part of its bytes: they come sorted.
pub(super) enum Archive<W: Write> {
    TarGz(tar::Builder<GzEncoder<W>>),
    Zip(Zip<W>),
}

impl<W: Write> Archive<W> {
    pub(super) fn new(form: Form, to: W) -> Self {
        match form {
            // No name, no time, and an operating system that is nobody's.
            Form::TarGz => Self::TarGz(tar::Builder::new(
                GzBuilder::new().mtime(0).operating_system(255).write(to, Compression::default()),
            )),
            Form::Zip => Self::Zip(Zip::new(to)),
        }
    }

    pub(super) fn add(&mut self, member: &Member<'_>) -> io::Result<()> {
        match self {
            Self::TarGz(tar) => {
                let mut header = tar::Header::new_gnu();
                header.set_size(member.bytes.len().try_into().map_err(io::Error::other)?);
                header.set_mode(member.mode());
                tar.append_data(&mut header, member.path, member.bytes)
            }
            Self::Zip(zip) => zip.add(member),
        }
    }

    /// Everything is written when this returns.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::TarGz(tar) => tar.into_inner()?.finish(),
            Self::Zip(zip) => zip.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const MEMBERS: [Member<'_>; 3] = [
        Member { path: "bin/run", bytes: b"#!/bin/sh\n", executable: true },
        Member { path: "docs/empty", bytes: b"", executable: false },
        Member {
            path: "docs/report.md",
            bytes: b"# Report\nall is well, all is well, all is well\n",
            executable: false,
        },
    ];

    fn packed(form: Form, members: &[Member<'_>]) -> Vec<u8> {
        let mut archive = Archive::new(form, Vec::new());
        for member in members {
            archive.add(member).unwrap();
        }
        archive.finish().unwrap()
    }

    #[test]
    fn the_form_follows_from_the_name() {
        for (name, form) in [
            ("a.tar.gz", Some(Form::TarGz)),
            ("dir/A.TGZ", Some(Form::TarGz)),
            ("a.zip", Some(Form::Zip)),
            ("a.tar", None),
            ("zip", None),
            (".zip", None),
        ] {
            assert_eq!(Form::of(Path::new(name)), form, "{name}");
        }
    }

    #[test]
    fn c19_the_same_files_make_the_same_bytes_and_others_make_others() {
        for form in [Form::TarGz, Form::Zip] {
            let first = packed(form, &MEMBERS);
            assert_eq!(first, packed(form, &MEMBERS), "{form:?}");
            let other = Member { bytes: b"# Report\nall is lost\n", ..MEMBERS[2] };
            assert_ne!(first, packed(form, &[MEMBERS[0], MEMBERS[1], other]), "{form:?}");
        }
        let (tar, zip) = (packed(Form::TarGz, &MEMBERS), packed(Form::Zip, &MEMBERS));
        assert_eq!((&tar[4..8], &zip[10..14]), (&[0; 4][..], &[0, 0, 0x21, 0][..]), "no clock is in either of them");
    }

    /// By programs that other people wrote.
    #[test]
    fn c19_other_programs_unpack_what_was_packed() {
        let dir = tempfile::tempdir().unwrap();
        let long = format!("{}/file", "deep/".repeat(60).trim_end_matches('/'));
        let mut members = MEMBERS.to_vec();
        members.insert(1, Member { path: &long, bytes: b"far down", executable: false });
        for (form, name) in [(Form::TarGz, "a.tar.gz"), (Form::Zip, "a.zip")] {
            let (file, into) = (dir.path().join(name), dir.path().join(format!("{name}.d")));
            std::fs::write(&file, packed(form, &members)).unwrap();
            std::fs::create_dir(&into).unwrap();
            let mut unpack = match form {
                Form::TarGz => Command::new("tar"),
                Form::Zip => Command::new("python3"),
            };
            match form {
                Form::TarGz => unpack.arg("-xzf").arg(&file).arg("-C").arg(&into),
                Form::Zip => unpack.args(["-m", "zipfile", "-e"]).arg(&file).arg(&into),
            };
            let said = unpack.output().unwrap();
            assert!(said.status.success(), "{form:?}: {said:?}");
            for member in &members {
                assert_eq!(std::fs::read(into.join(member.path)).unwrap(), member.bytes, "{form:?}: {}", member.path);
            }
        }
    }
}
