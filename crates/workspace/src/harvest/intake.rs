//! From object files somebody else wrote to a pack that was checked, and into the repository.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use super::quarantine::Quarantine;
use super::{HarvestError, HarvestLimits};
use crate::error::Doing;
use crate::git::{Call, Git, GitError, ObjectId};

/// Where the number of objects stands in a pack.
const PACK_HEADER_BYTES: usize = 12;

pub(super) struct Intake<'a> {
    pub(super) git: Git,
    pub(super) quarantine: &'a Quarantine,
    pub(super) limits: &'a HarvestLimits,
}

/// A pack with everything the branch needs that the repository does not have; none, if it has everything.
pub(super) struct Checked(Option<PathBuf>);

impl Intake<'_> {
    /// Everything that can be found wrong is found here.
    pub(super) fn check(&self, tip: &ObjectId, packs: &[String]) -> Result<Checked, HarvestError> {
        self.index(packs)?;
        self.check_sizes()?;
        let pack = self.pack(tip)?;
        let checked = self.check_strictly(pack)?;
        self.check_connected(tip)?;
        Ok(checked)
    }

    /// Whether one commit is in the history of the other.
    pub(super) fn continues(&self, _: &Checked, tip: &ObjectId, expected: &ObjectId) -> Result<bool, HarvestError> {
        let asked = self.incoming().ask(["merge-base", "--is-ancestor", expected.as_str(), tip.as_str()]);
        asked.map_err(rejected)
    }

    /// The first time the real repository gets anything.
    pub(super) fn accept(&self, checked: &Checked) -> Result<(), HarvestError> {
        let Checked(Some(pack)) = checked else { return Ok(()) };
        let file = File::open(pack).doing("open", "the checked pack")?;
        self.git.call(Call::new(["index-pack", "--stdin", "--fix-thin"]).input_file(file))?;
        Ok(())
    }

    /// Git for what was found, and nothing else.
    fn found(&self) -> Git {
        self.git.clone().objects(&self.quarantine.path("found"), &[])
    }

    /// Git for what was checked, above the real repository.
    pub(super) fn incoming(&self) -> Git {
        self.git.clone().objects(&self.quarantine.path("checked"), &[self.quarantine.real_path()])
    }

    /// An index is made from the pack itself: one that the run wrote could say anything.
    fn index(&self, packs: &[String]) -> Result<(), HarvestError> {
        for pack in packs {
            let pack = self.quarantine.path("found").join(pack.trim_start_matches("objects/"));
            self.found().call(Call::new(["index-pack".into(), pack.into_os_string()])).map_err(rejected)?;
        }
        Ok(())
    }

    /// Before anything is unpacked: a small file can hold a large object.
    fn check_sizes(&self) -> Result<(), HarvestError> {
        let format = "--batch-check=%(objectname) %(objectsize)";
        let printed = self.found().run(["cat-file", "--batch-all-objects", "--unordered", format]).map_err(rejected)?;
        let (mut total, limit_bytes) = (0_u64, self.limits.object_bytes);
        for line in String::from_utf8_lossy(&printed).lines() {
            let parsed = line.split_once(' ').and_then(|(id, size)| Some((id, size.parse::<u64>().ok()?)));
            let Some((id, size_bytes)) = parsed else { return Err(HarvestError::Rejected(format!("`{line}`"))) };
            if size_bytes > limit_bytes {
                return Err(HarvestError::ObjectTooLarge { id: id.to_owned(), size_bytes, limit_bytes });
            }
            total = total.saturating_add(size_bytes);
        }
        let limit = self.limits.total_bytes;
        if total > limit {
            return Err(HarvestError::Rejected(format!("all objects have {total} bytes, at most {limit} are taken")));
        }
        Ok(())
    }

    /// What the tip needs and no branch of the repository has. Objects of the repository come first: none of them can be
    /// replaced by one of the same name.
    fn pack(&self, tip: &ObjectId) -> Result<PathBuf, HarvestError> {
        let known = self.git.run(["for-each-ref", "--format=^%(objectname)"])?;
        let input = [tip.as_str().as_bytes(), b"\n", &known].concat();
        let path = self.quarantine.path("pack");
        let file = File::create_new(&path).doing("make", "a pack")?;
        let found = self.quarantine.path("found");
        let git =
            self.git.clone().objects(self.quarantine.real_path(), &[&found]).output_bytes(self.limits.total_bytes);
        let arguments = ["pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "--quiet"];
        git.call(Call::new(arguments).input(input).output_file(file)).map_err(rejected)?;
        Ok(path)
    }

    /// Every object is read, hashed and checked again; every object it names must be there.
    fn check_strictly(&self, pack: PathBuf) -> Result<Checked, HarvestError> {
        let mut header = [0; PACK_HEADER_BYTES];
        let mut file = File::open(&pack).doing("open", "a pack")?;
        file.read_exact(&mut header).doing("read", "a pack")?;
        if header[8..] == [0; 4] {
            return Ok(Checked(None));
        }
        let most = format!("--max-input-size={}", self.limits.total_bytes);
        let arguments = ["index-pack", "--strict", "--fsck-objects", "--stdin", "--fix-thin", &most];
        let file = File::open(&pack).doing("open", "a pack")?;
        let printed = self.incoming().call(Call::new(arguments).input_file(file)).map_err(rejected)?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let id = printed.trim().rsplit('\t').next().unwrap_or_default();
        Ok(Checked(Some(self.quarantine.path("checked").join(format!("pack/pack-{id}.pack")))))
    }

    /// The tip is a commit, and nothing of its history is missing, with what was checked and what the repository has.
    fn check_connected(&self, tip: &ObjectId) -> Result<(), HarvestError> {
        let kind = self.incoming().run(["cat-file", "-t", tip.as_str()]).map_err(rejected)?;
        if kind != b"commit\n" {
            return Err(HarvestError::Rejected(format!("`{tip}` is no commit")));
        }
        let arguments = ["rev-list", "--objects", "--quiet", tip.as_str(), "--not", "--all"];
        self.incoming().run(arguments).map_err(rejected)?;
        Ok(())
    }
}

/// When git says no here, it says it of what the run wrote.
fn rejected(error: GitError) -> HarvestError {
    match error {
        // Ended from outside it says nothing.
        GitError::Failed { command, status, stderr } if stderr.trim().is_empty() => {
            HarvestError::Rejected(format!("`git {command}` failed ({status})"))
        }
        GitError::Failed { stderr, .. } => HarvestError::Rejected(stderr),
        error @ (GitError::Start(_) | GitError::TimedOut { .. } | GitError::TooMuch { .. }) => HarvestError::Git(error),
    }
}
