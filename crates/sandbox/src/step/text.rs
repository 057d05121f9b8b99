//! How steps read as text: what a reviewer reads in the checked-in plans, and what an error message quotes.

use std::fmt;

use super::{Detach, DetachUpper, Ownership, Step};
use crate::group::GroupDirectory;
use crate::request::HostUser;

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewSession => write!(out, "start a new session"),
            Self::OfferToOomKiller { points } => write!(out, "raise the out-of-memory score to {points}"),
            Self::FreshKeyring => write!(out, "join a fresh session keyring"),
            Self::OpenGroups { directories } => {
                write!(out, "open control groups")?;
                directories.iter().try_for_each(|directory| write!(out, " {directory}"))
            }
            Self::Watch { written } => write!(out, "watch what is written to {written:?}"),
            Self::OwnStdio { user } => write!(out, "give the standard streams to {user}"),
            Self::Detach(detach) => write!(out, "{detach}"),
            Self::DetachUpper(detach) => write!(out, "{detach}"),
            Self::DropUser { user } => write!(out, "become {user} of the host"),
            Self::Unshare { namespaces } => write!(out, "enter new namespaces {namespaces:?}"),
            Self::MapUser { inside, outside } => write!(out, "map {inside} of the cage to {outside} of the host"),
            Self::MakeScratch { at, size_bytes, flags } => {
                write!(out, "make scratch for {} of {size_bytes} bytes {flags:?}", at.display())
            }
            Self::Fork { into } => write!(out, "fork into {into:?}"),
            Self::JoinGroups => write!(out, "join the control groups"),
            Self::PrivateMounts => write!(out, "make all mounts private"),
            Self::MountRoot { size_bytes } => write!(out, "mount an empty root of {size_bytes} bytes"),
            Self::MakeDirectory { at } => write!(out, "make directory {}", at.display()),
            Self::MakeFile { at, text } => write!(out, "make file {} with {} bytes", at.display(), text.len()),
            Self::MakeLink { at, target } => write!(out, "make link {} to {}", at.display(), target.display()),
            Self::Attach { at } => write!(out, "attach {}", at.display()),
            Self::MountLayers { at, flags, skeleton } => {
                write!(out, "mount layers {} {flags:?} above {skeleton:?}", at.display())
            }
            Self::Rebind { at, flags } => write!(out, "rebind {} {flags:?}", at.display()),
            Self::Blank { at } => write!(out, "blank {}", at.display()),
            Self::MountProc { at } => write!(out, "mount process information at {}", at.display()),
            Self::Freeze { at } => write!(out, "freeze {}", at.display()),
            Self::Mask { at } => write!(out, "mask {}", at.display()),
            Self::SealRoot => write!(out, "make the root read-only"),
            Self::PivotRoot => write!(out, "pivot root"),
            Self::Hostname { name } => write!(out, "set the host name to `{name}`"),
            Self::Loopback => write!(out, "switch loopback on"),
            Self::Door { port } => write!(out, "open a door at 127.0.0.1:{port}"),
            Self::DropCapabilities => write!(out, "drop all capabilities"),
            Self::NoNewPrivileges => write!(out, "refuse new privileges"),
            Self::Undumpable => write!(out, "become undumpable"),
            Self::ResetProcess => write!(out, "reset signals and file mask"),
            Self::Stdio => write!(out, "take the given standard input"),
            Self::Terminal => write!(out, "take the given terminal"),
            Self::Limit { resource, value } => write!(out, "limit {resource:?} to {value}"),
            Self::ChangeDirectory { to } => write!(out, "change directory to {}", to.display()),
            Self::OpenProgram { name, path } => write!(out, "open program `{name}` in {}", path.join(":")),
            Self::CloseDescriptors => write!(out, "close other descriptors at exec"),
            Self::Landlock { writable } => write!(out, "restrict by Landlock, writable {writable:?}"),
            Self::Seccomp { refused } => write!(out, "refuse system calls {}", refused.join(" ")),
            Self::Exec { argv, env } => write!(out, "execute {argv:?} with {env:?}"),
        }
    }
}

impl fmt::Display for Detach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "detach {} for {} {:?}{}", self.host.display(), self.at.display(), self.flags, self.ownership)
    }
}

impl fmt::Display for DetachUpper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (upper, work) = (self.upper.0.display(), self.work.0.display());
        let (parent, at) = (self.parent.display(), self.at.display());
        write!(out, "detach upper {upper} and work {work} of {parent} for {at}{}", self.ownership)
    }
}

impl fmt::Display for Ownership {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => Ok(()),
            Self::Mapped { disk, cage } => write!(out, " showing {disk} as {cage}"),
            Self::MappedOnly { disk, cage } => write!(out, " showing {disk} only as {cage}"),
            Self::Given { cage } => write!(out, " given to {cage}"),
        }
    }
}

impl fmt::Display for GroupDirectory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {:?}", self.path.display(), self.controllers)
    }
}

impl fmt::Display for HostUser {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.uid, self.gid)
    }
}
