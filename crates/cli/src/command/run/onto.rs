//! `placet run export --onto FOLDER`: makes in a folder of people the changes that a run made to what they shared with it.
//!
//! Exactly those bytes, and only where everything is as the run had found it: what somebody changed, made or removed meanwhile
//! is drift, and then nothing is touched and nobody has decided anything. Links are never followed. Who is interrupted half-way says
//! the same again: what is done already is as it should be.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{OutputView, RunView};

use super::export::content;
use crate::changes::within_file;
use crate::error::{CliError, Code};

/// A longer text is not shown line by line.
const LONGEST_TEXT_BYTES: usize = 64 * 1024;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    File(Digest),
    /// A link, a directory, a device, or something below one of those.
    Other,
}

/// One change, and what must be there for it.
#[derive(Debug)]
struct Change<'a> {
    path: &'a str,
    was: There,
    becomes: There,
    /// Whether it can be run afterwards. What people can run they can run still: what a run is given is given without that.
    executable: bool,
}

/// The changes that are left to make in a folder.
#[derive(Debug)]
pub(super) struct Application<'a> {
    folder: PathBuf,
    changes: Vec<Change<'a>>,
}

impl<'a> Application<'a> {
    /// Compares the folder with what the run was given; nothing is written.
    pub(super) fn plan(
        run: &'a RunView,
        outputs: &[&'a OutputView],
        removed: &'a [String],
        folder: &Path,
    ) -> Result<Self, CliError> {
        if !folder.is_dir() {
            let why = format!("`{}` is no folder", folder.display());
            return Err(CliError::usage(why)
                .hint("name the folder that holds what was given to the run with --input or --share"));
        }
        Self::is_above_inputs(run, folder)?;
        let given: BTreeMap<&str, Digest> = run
            .launch
            .iter()
            .flat_map(|launch| &launch.inputs)
            .filter_map(|input| Some((input.path.as_str(), input.digest?)))
            .collect();
        let was = |path: &str| given.get(path).map_or(There::Nothing, |digest| There::File(*digest));
        // What goes makes room for what comes.
        let gone = removed.iter().map(|path| (path.as_str(), There::Nothing, false));
        let made = outputs.iter().map(|output| (output.path.as_str(), There::File(output.digest), output.executable));
        let change = |(path, becomes, executable)| Change { path, was: was(path), becomes, executable };
        let changes = gone.chain(made).map(change).collect();
        let mut application = Self { folder: folder.to_owned(), changes };
        application.check()?;
        Ok(application)
    }

    /// Refuses `notes` itself for a run with `--input notes/`, whose files are named `notes/…`: they would land in `notes/notes`.
    fn is_above_inputs(run: &RunView, folder: &Path) -> Result<(), CliError> {
        let resolved =
            folder.canonicalize().map_err(|error| CliError::usage(format!("`{}`: {error}", folder.display())))?;
        let Some(name) = resolved.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
        let mut inputs = run.launch.iter().flat_map(|launch| &launch.inputs).peekable();
        let first = |path: &str| path.split_once('/').is_some_and(|(first, _)| first == name);
        let is_given = inputs.peek().is_some() && inputs.all(|input| first(input.path.as_str()));
        if !is_given || resolved.join(name).exists() {
            return Ok(());
        }
        let above = resolved.parent().unwrap_or(&resolved).display();
        Err(CliError::usage(format!("the run was given `{name}` as a folder, so its files are `{name}/…`"))
            .hint(format!("name the folder that `{name}` is in: --onto {above}")))
    }

    /// Leaves out what is done already, and refuses if something else is there than the run had found.
    fn check(&mut self) -> Result<(), CliError> {
        let mut drifted = Vec::new();
        let mut left = Vec::new();
        let going = |change: &Change<'_>| (change.becomes == There::Nothing).then(|| change.path.to_owned());
        let going: Vec<String> = self.changes.iter().filter_map(going).collect();
        for change in std::mem::take(&mut self.changes) {
            let now = there(&self.folder, change.path, &going).map_err(|error| unreadable(change.path, &error))?;
            let runs = !change.executable || is_executable(&self.folder.join(change.path));
            if now == change.becomes && runs {
                continue;
            }
            if now != change.was && now != change.becomes {
                drifted.push(spelled_out(change.path));
            }
            left.push(change);
        }
        self.changes = left;
        if drifted.is_empty() {
            return Ok(());
        }
        let why = format!("not what the run had found, so nothing was changed: {}", drifted.join(", "));
        Err(CliError::new(Code::Conflict, why)
            .hint("export with --to and merge by hand, or bring these files back and say it again"))
    }

    /// What will be different, as a person reads it.
    pub(super) async fn shown(&self, client: &Client, run: &RunView) -> Result<String, CliError> {
        let mut lines = Vec::new();
        for change in &self.changes {
            let word = match (change.was, change.becomes) {
                (_, There::Nothing) => "removes",
                (There::Nothing, _) => "creates",
                _ => "changes",
            };
            lines.push(format!("{word}  {}", spelled_out(change.path)));
            lines.extend(self.lines_within(client, run, change).await?);
        }
        Ok(lines.join("\n"))
    }

    async fn lines_within(&self, client: &Client, run: &RunView, change: &Change<'_>) -> Result<Vec<String>, CliError> {
        let There::File(digest) = change.becomes else { return Ok(Vec::new()) };
        let new = content(client, run, change.path, digest).await?;
        let old = fs::read(self.folder.join(change.path)).unwrap_or_default();
        let text = |bytes: &[u8]| (bytes.len() <= LONGEST_TEXT_BYTES).then(|| String::from_utf8(bytes.to_vec()).ok());
        let (Some(Some(old)), Some(Some(new))) = (text(&old), text(&new)) else { return Ok(Vec::new()) };
        Ok(within_file(change.path, &old, &new))
    }

    /// Everything is fetched and checked before the first file is touched, and looked at once more then.
    pub(super) async fn make(mut self, client: &Client, run: &RunView) -> Result<usize, CliError> {
        let draft = self.draft().map_err(|error| self.unwritable(&error))?;
        for (number, change) in self.changes.iter().enumerate() {
            if let There::File(digest) = change.becomes {
                let bytes: Bytes = content(client, run, change.path, digest).await?;
                fs::write(draft.path().join(number.to_string()), &bytes).map_err(|error| self.unwritable(&error))?;
            }
        }
        let all = self.changes.len();
        self.check()?;
        if self.changes.len() != all {
            return Err(CliError::new(Code::Conflict, "the folder was changed meanwhile; nothing was written")
                .hint("say it again"));
        }
        for (number, change) in self.changes.iter().enumerate() {
            let made = draft.path().join(number.to_string());
            self.put(change, &made).map_err(|error| self.unwritable(&error))?;
        }
        Ok(all)
    }

    /// Beside the folder, so that nothing of ours lies in it; or in it, where files cannot be moved in from beside.
    fn draft(&self) -> io::Result<tempfile::TempDir> {
        let folder = self.folder.canonicalize()?;
        let device = fs::metadata(&folder)?.dev();
        let beside = folder.parent().filter(|parent| fs::metadata(parent).is_ok_and(|parent| parent.dev() == device));
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".placet-onto-");
        beside.and_then(|beside| builder.tempdir_in(beside).ok()).map_or_else(|| builder.tempdir_in(&folder), Ok)
    }

    fn put(&self, change: &Change<'_>, made: &Path) -> io::Result<()> {
        let path = self.folder.join(change.path);
        if change.becomes == There::Nothing {
            return fs::remove_file(path);
        }
        let mut mode = fs::symlink_metadata(&path).or_else(|_| fs::metadata(made))?.permissions().mode();
        if change.executable {
            // For whom it can be read.
            mode |= (mode & 0o444) >> 2;
        }
        fs::set_permissions(made, fs::Permissions::from_mode(mode))?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::rename(made, path)
    }

    fn unwritable(&self, error: &io::Error) -> CliError {
        let why = format!("`{}` cannot be written: {error}", self.folder.display());
        CliError::failed(why).hint("what is done already is as it should be; say it again when that is mended")
    }
}

fn unreadable(path: &str, error: &io::Error) -> CliError {
    CliError::failed(format!("`{}` cannot be read: {error}", spelled_out(path)))
}

fn is_executable(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What is at a path, as it will be when the paths that go are gone.
fn there(folder: &Path, path: &str, going: &[String]) -> io::Result<There> {
    let mut at = folder.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let metadata = match fs::symlink_metadata(&at) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(There::Nothing),
            Err(error) => return Err(error),
        };
        let is_last = parts.peek().is_none();
        if is_last && metadata.is_file() {
            return Ok(There::File(Digest::of(&fs::read(&at)?)));
        }
        if is_last || !metadata.is_dir() {
            let goes = at.strip_prefix(folder).is_ok_and(|at| going.iter().any(|path| Path::new(path) == at));
            return Ok(if goes && !is_last { There::Nothing } else { There::Other });
        }
    }
    Ok(There::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_link_is_not_there_and_neither_is_a_folder_a_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/a"), "a").unwrap();
        std::os::unix::fs::symlink("sub", dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("sub/a", dir.path().join("file")).unwrap();
        let seen = |path: &str| there(dir.path(), path, &[]).unwrap();
        assert_eq!(seen("sub/a"), There::File(Digest::of(b"a")));
        for other in ["link/a", "file", "sub", "sub/a/b"] {
            assert_eq!(seen(other), There::Other, "{other}");
        }
        for nothing in ["b", "sub/b", "new/b"] {
            assert_eq!(seen(nothing), There::Nothing, "{nothing}");
        }
        assert_eq!(there(dir.path(), "sub/a/b", &["sub/a".to_owned()]).unwrap(), There::Nothing, "a file makes room");
    }
}
