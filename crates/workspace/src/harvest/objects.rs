//! Takes objects out of an upper: files that are named like loose objects and packs, copied one by one into a private
//! directory. Nothing else comes along: no index that lies, no list of other places, no notes for git.

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{HarvestError, HarvestLimits};
use crate::copy::{Owner, copy_content};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::is_hex;
use crate::limits::{Limits, Meter};

/// Files that send git to look for objects elsewhere.
const ALTERNATES: [&[u8]; 2] = [b"alternates", b"http-alternates"];

/// Copies what there is; the names of the packs, which have no index yet.
pub(super) fn copy(upper: &Dir, to: &Dir, owner: Owner, limits: &HarvestLimits) -> Result<Vec<String>, HarvestError> {
    let from = match upper.dir(b"objects") {
        Err(Errno::NOENT) => return Ok(Vec::new()),
        from => from.doing("open", "objects")?,
    };
    refuse_alternates(&from)?;
    let meter =
        Meter::new(Limits { entries: limits.objects, depth: 3, bytes: limits.total_bytes, ..Limits::default() });
    let mut copying = Copying { owner, meter, packs: Vec::new() };
    for name in from.names().doing("list", "objects")? {
        let is_fan = name.len() == 2 && name.iter().all(|&byte| is_hex(byte));
        if is_fan || name == b"pack" {
            copying.directory(&from, to, &name)?;
        }
    }
    Ok(copying.packs)
}

fn refuse_alternates(objects: &Dir) -> Result<(), HarvestError> {
    let info = match objects.dir(b"info") {
        Err(Errno::NOENT) => return Ok(()),
        info => info.doing("open", "objects/info")?,
    };
    for name in ALTERNATES {
        match info.stat(name) {
            // Removed, like everything else that is no longer there.
            Ok(stat) if is_whiteout(&stat) => {}
            Ok(_) => return Err(HarvestError::Alternates),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error).doing("look at", "objects/info").map_err(HarvestError::from),
        }
    }
    Ok(())
}

struct Copying {
    owner: Owner,
    meter: Meter,
    packs: Vec<String>,
}

impl Copying {
    fn directory(&mut self, from: &Dir, to: &Dir, name: &[u8]) -> Result<(), HarvestError> {
        let shown = String::from_utf8_lossy(name).into_owned();
        if is_whiteout(&from.stat(name).doing("look at", &shown)?) {
            return Ok(());
        }
        // Anything but a directory here was put in the way by hand.
        let source = match from.dir(name) {
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(HarvestError::NotPlain(format!("objects/{shown}"))),
            source => source.doing("open", &shown)?,
        };
        let target = to.make(name).doing("make", &shown)?;
        for file in source.names().doing("list", &shown)? {
            self.meter.entry(2)?;
            let wanted = if name == b"pack" { is_pack(&file) } else { is_loose(&file) };
            if wanted {
                self.file(&source, &target, &file, &shown)?;
            }
        }
        self.owner.give(to, name).doing("give to its owner", &shown).map_err(HarvestError::from)
    }

    fn file(&mut self, from: &Dir, to: &Dir, name: &[u8], directory: &str) -> Result<(), HarvestError> {
        let path = format!("objects/{directory}/{}", String::from_utf8_lossy(name));
        let stat = from.stat(name).doing("look at", &path)?;
        if is_whiteout(&stat) {
            return Ok(());
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(HarvestError::NotPlain(path));
        }
        self.meter.bytes(u64::try_from(stat.st_size).unwrap_or_default())?;
        let (mut source, _) = from.file(name).doing("open", &path)?;
        let mut copy = to.create(name).doing("make", &path)?;
        copy_content(&mut source, &mut copy).doing("copy", &path)?;
        self.owner.give(to, name).doing("give to its owner", &path)?;
        if directory == "pack" {
            self.packs.push(path);
        }
        Ok(())
    }
}

fn is_whiteout(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn is_loose(name: &[u8]) -> bool {
    matches!(name.len(), 38 | 62) && name.iter().all(|&byte| is_hex(byte))
}

fn is_pack(name: &[u8]) -> bool {
    let id = name.strip_prefix(b"pack-").and_then(|rest| rest.strip_suffix(b".pack"));
    id.is_some_and(|id| matches!(id.len(), 40 | 64) && id.iter().all(|&byte| is_hex(byte)))
}
