//! The program a container is going to execute, opened before it runs, so that a caller can compare its digest.
//!
//! It is looked up as the container's init does, in the same order, and read from the image (which the container cannot
//! change, because its root is read-only) or from the host directory behind a mount. Of a script only the script itself
//! is shown, not its interpreter.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, ResolveFlags};

use super::api::Api;
use super::error::EngineError;
use super::tar::{First, first};
use crate::error::SandboxError;
use crate::plan::WORKSPACE;
use crate::profile::Profile;
use crate::request::Request;
use crate::running::{Program, ProgramFile};

const DOING: &str = "read the program";

/// As the kernel does, and then some.
const MAX_LINKS: usize = 16;

/// Larger than any program; it is kept in memory while the command runs.
const MAX_PROGRAM_BYTES: u64 = 1 << 30;

const EXECUTABLE: u32 = 0o111;

pub(super) fn open(api: &Api, id: &str, profile: &Profile, request: &Request) -> Result<Program, SandboxError> {
    let name = request.argv.first().map_or("", String::as_str);
    for path in candidates(profile, name) {
        let found = match behind_mount(request, &path) {
            Some(host) => from_host(&host),
            None => from_image(api, id, &path)?,
        };
        if let Some(file) = found {
            return Ok(Program::new(vec![ProgramFile::new(path, file)]));
        }
    }
    Err(SandboxError::ProgramNotFound(name.to_owned()))
}

fn candidates(profile: &Profile, name: &str) -> Vec<PathBuf> {
    if name.contains('/') {
        return vec![name.into()];
    }
    profile.program_path.iter().map(|directory| Path::new(directory.as_ref()).join(name)).collect()
}

fn behind_mount(request: &Request, path: &Path) -> Option<PathBuf> {
    let workspace = request.workspace.iter().map(|workspace| (workspace.host(), Path::new(WORKSPACE)));
    let read_only = request.read_only.iter().map(|mount| (mount.host.as_path(), mount.cage.as_path()));
    let below = |(host, at): (&Path, &Path)| {
        let rest = path.strip_prefix(at).ok()?;
        Some(if rest.as_os_str().is_empty() { host.to_owned() } else { host.join(rest) })
    };
    workspace.chain(read_only).find_map(below)
}

/// Without following links, which would lead somewhere else here than in the container.
fn from_host(host: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::openat2(CWD, host, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let file = File::from(opened);
    let mode = rustix::fs::fstat(&file).ok()?.st_mode;
    let regular = rustix::fs::FileType::from_raw_mode(mode) == rustix::fs::FileType::RegularFile;
    (regular && mode & EXECUTABLE != 0).then_some(file)
}

/// Some engines follow a link at the end of a path by themselves, others show the link.
fn from_image(api: &Api, id: &str, path: &Path) -> Result<Option<File>, EngineError> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(text) = path.to_str() else { return Ok(None) };
        let Some(mut archive) = api.archive(id, text)? else { return Ok(None) };
        match first(&mut archive).map_err(EngineError::lost(DOING))? {
            First::File { mode, .. } if mode & EXECUTABLE == 0 => return Ok(None),
            First::File { size_bytes, .. } => return in_memory(archive, size_bytes).map(Some),
            First::Link { target } => path = followed(&path, &target),
            First::Other => return Ok(None),
        }
    }
    Ok(None)
}

fn in_memory(content: impl Read, size_bytes: u64) -> Result<File, EngineError> {
    if size_bytes > MAX_PROGRAM_BYTES {
        return Err(EngineError::answer(DOING, format!("it has {size_bytes} bytes, at most {MAX_PROGRAM_BYTES} fit")));
    }
    let copy = || -> io::Result<File> {
        let mut file = File::from(rustix::fs::memfd_create("placet-program", MemfdFlags::CLOEXEC)?);
        if io::copy(&mut content.take(size_bytes), &mut file)? < size_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.rewind()?;
        Ok(file)
    };
    copy().map_err(EngineError::lost(DOING))
}

/// By words alone: the engine resolves the directories in between, inside the container.
fn followed(link: &Path, target: &str) -> PathBuf {
    let joined = link.parent().unwrap_or(Path::new("/")).join(target);
    joined.components().fold(PathBuf::from("/"), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_never_lead_above_the_root() {
        assert_eq!(followed(Path::new("/bin/sh"), "busybox"), Path::new("/bin/busybox"));
        assert_eq!(followed(Path::new("/usr/bin/vi"), "../../etc/alternatives/vi"), Path::new("/etc/alternatives/vi"));
        assert_eq!(followed(Path::new("/bin/x"), "../../../../y"), Path::new("/y"));
        assert_eq!(followed(Path::new("/bin/x"), "/opt/./y"), Path::new("/opt/y"));
    }

    #[test]
    fn programs_in_mounts_are_those_of_the_host() {
        let request = Request::new(["x"]).workspace("/srv/run").read_only("/srv/tool", "/opt/tool");
        assert_eq!(behind_mount(&request, Path::new("/work/a/b")), Some("/srv/run/a/b".into()));
        assert_eq!(behind_mount(&request, Path::new("/opt/tool")), Some("/srv/tool".into()));
        assert_eq!(behind_mount(&request, Path::new("/workshop/a")), None);
    }
}
