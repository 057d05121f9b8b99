//! Files of actions and plans, as far as the caller may see them: text where they are text, compared with what the run had before.

use std::collections::BTreeSet;

use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::identity::Role;
use placet_domain::proposal::{ActionSpec, FileOperand};
use placet_domain::run::Run;
use placet_domain::scope::{PathRuling, ScopePath};
use placet_store::{ActionFilter, Order, SeenFile};

use crate::app::App;
use crate::error::No;
use crate::flow::{self, Caller};

/// What is shown of a file on a card.
const MOST_SHOWN_BYTES: usize = 64 << 10;
/// A file that is larger is not even opened for a card.
const MOST_READ_BYTES: u64 = 1 << 20;
/// What all files of a card may show together: a page is read by a person, and made anew whenever something happens.
const MOST_ON_A_CARD_BYTES: usize = 256 << 10;
/// Beyond one control character in so many, it is no text that anybody reads, and each takes forty characters to mark.
const RAREST_CONTROLS: usize = 64;
/// How many earlier actions of a run are asked for a file of the same name.
const MOST_EARLIER: u32 = 100;

/// A file and what there is to see of it.
#[derive(Debug, Clone)]
pub struct FileShown {
    pub path: String,
    pub digest: Digest,
    pub size_bytes: u64,
    pub shown: Shown,
    /// Project whose evidence it is.
    pub project: ProjectId,
    pub ruling: Ruling,
    /// Whether whoever looks has marked these bytes at this path as seen; nothing where they mark none.
    pub seen: Option<bool>,
}

/// Where its path stands in the scope of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    Within,
    /// Denied, whatever else is allowed.
    Protected,
    Outside,
    /// No scope says anything about it: a file of the agent itself.
    Unjudged,
}

#[derive(Debug, Clone)]
pub enum Shown {
    /// Text, as far as it is shown, and what the run had under that name before.
    Text { now: String, before: Option<String>, is_cut: bool },
    /// No text.
    Opaque,
    /// Too much for a card.
    Unread,
    /// Not for this person, as long as nobody let it out.
    Withheld,
    /// Its bytes are gone.
    Removed,
}

/// The files that an action is given, as far as they can be seen.
pub async fn shown(app: &App, caller: &Caller, run: &Run, spec: &ActionSpec) -> Result<Vec<FileShown>, No> {
    let mut files = Vec::new();
    let earlier = if spec.files.is_empty() { Vec::new() } else { earlier_files(app, run, spec).await? };
    let mut left = MOST_ON_A_CARD_BYTES;
    for file in &spec.files {
        let before = earlier.iter().find(|known| known.path == file.path).filter(|known| known.digest != file.digest);
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, before).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (project, ruling) = (run.project, ruling(run, &path));
        files.push(FileShown { path, digest, size_bytes, project, shown, ruling, seen: None });
    }
    tell_marks(app, caller, run.project, &mut files).await?;
    Ok(files)
}

/// Compares files with their earlier versions, if the caller may see them.
pub async fn compared(
    app: &App,
    caller: &Caller,
    run: &Run,
    pairs: &[(&FileOperand, Option<&FileOperand>)],
) -> Result<Vec<FileShown>, No> {
    let (mut files, mut left) = (Vec::new(), MOST_ON_A_CARD_BYTES);
    for (file, before) in pairs {
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, *before).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (project, ruling) = (run.project, ruling(run, &path));
        files.push(FileShown { path, digest, size_bytes, project, shown, ruling, seen: None });
    }
    Ok(files)
}

/// The files of the agent that a plan starts, as far as they can be seen.
pub async fn of_plan(app: &App, caller: &Caller, run: &Run) -> Result<Vec<FileShown>, No> {
    let Some(launch) = run.hosting.launch() else { return Ok(Vec::new()) };
    let (mut files, mut left) = (Vec::new(), MOST_ON_A_CARD_BYTES);
    for file in &launch.files {
        let shown = if left == 0 { Shown::Unread } else { one(app, caller, run.project, file, None).await? };
        left = left.saturating_sub(weight(&shown));
        let (path, digest, size_bytes) = (file.path.clone(), file.digest, file.size_bytes);
        let (project, ruling) = (run.project, Ruling::Unjudged);
        files.push(FileShown { path, digest, size_bytes, project, shown, ruling, seen: None });
    }
    Ok(files)
}

/// Where a path stands in the scope of its run; what is no path of it stands outside.
fn ruling(run: &Run, path: &str) -> Ruling {
    let Ok(path) = ScopePath::new(path.as_bytes()) else { return Ruling::Outside };
    match run.scope.judge_path(&path) {
        PathRuling::Allowed { .. } => Ruling::Within,
        PathRuling::Denied { .. } => Ruling::Protected,
        PathRuling::Outside => Ruling::Outside,
    }
}

/// How much of a card something takes.
fn weight(shown: &Shown) -> usize {
    match shown {
        Shown::Text { now, before, .. } => now.len() + before.as_ref().map_or(0, String::len),
        Shown::Opaque | Shown::Unread | Shown::Withheld | Shown::Removed => 0,
    }
}

async fn one(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    file: &FileOperand,
    before: Option<&FileOperand>,
) -> Result<Shown, No> {
    let bytes = match read(app, caller, project, file).await? {
        Ok(bytes) => bytes,
        Err(unseen) => return Ok(unseen),
    };
    let is_cut = bytes.len() > MOST_SHOWN_BYTES;
    let Some(now) = text(&bytes) else { return Ok(Shown::Opaque) };
    let before = match before {
        Some(before) => read(app, caller, project, before).await?.ok().and_then(|bytes| text(&bytes)),
        None => None,
    };
    Ok(Shown::Text { now, before, is_cut })
}

/// The bytes of a file, or why they are not shown. The same people see them as by the API.
pub async fn read(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    file: &FileOperand,
) -> Result<Result<Vec<u8>, Shown>, No> {
    match flow::may_read(app, caller, project, file.digest).await {
        Ok(()) => {}
        Err(No::Refused(_)) => return Ok(Err(Shown::Withheld)),
        Err(no) => return Err(no),
    }
    if file.size_bytes > MOST_READ_BYTES {
        return Ok(Err(Shown::Unread));
    }
    if app.store().kept(project, file.digest).await?.is_none() {
        return Ok(Err(Shown::Removed));
    }
    let bytes = app.store().blobs().get(file.digest).await?;
    let Some(bytes) = bytes else { return Ok(Err(Shown::Removed)) };
    if flow::may_read_words(caller, &bytes).is_err() {
        return Ok(Err(Shown::Withheld));
    }
    Ok(Ok(bytes))
}

/// Text, or nothing: what has a zero byte or is not UTF-8 is no text. Cut between characters.
pub fn text(bytes: &[u8]) -> Option<String> {
    let most = bytes.get(..MOST_SHOWN_BYTES).unwrap_or(bytes);
    let controls = most.iter().filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t')).count();
    if most.contains(&0) || controls > RAREST_CONTROLS && controls > most.len() / RAREST_CONTROLS {
        return None;
    }
    match std::str::from_utf8(most) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if error.error_len().is_none() && bytes.len() > most.len() => {
            Some(String::from_utf8_lossy(&most[..error.valid_up_to()]).into_owned())
        }
        Err(_) => None,
    }
}

/// The files that earlier actions of the run were given, the newest first, as far back as all of these paths are found.
async fn earlier_files(app: &App, run: &Run, spec: &ActionSpec) -> Result<Vec<FileOperand>, No> {
    let filter =
        ActionFilter { run: Some(run.id), order: Order::NewestFirst, limit: MOST_EARLIER, ..ActionFilter::default() };
    let mut missing: BTreeSet<&str> = spec.files.iter().map(|file| file.path.as_str()).collect();
    let mut found = Vec::new();
    for listed in app.store().actions(filter).await? {
        if missing.is_empty() {
            break;
        }
        // Executed, after a person had read it: what nobody looked at is nothing to compare with.
        if listed.evidence.is_none() || !listed.was_looked_at() {
            continue;
        }
        let sealed = app.store().sealed(listed.id, listed.digest).await?;
        let other: Option<ActionSpec> = sealed.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let files = other.filter(|other| other != spec).map(|other| other.files).unwrap_or_default();
        found.extend(files.into_iter().filter(|file| missing.remove(file.path.as_str())));
    }
    Ok(found)
}

/// Says of each file whether its reviewer has marked it; of nobody else's.
async fn tell_marks(app: &App, caller: &Caller, project: ProjectId, files: &mut [FileShown]) -> Result<(), No> {
    if files.is_empty() || !caller.identity.has(Role::Reviewer) {
        return Ok(());
    }
    let who = caller.identity.id;
    let asked = |file: &FileShown| SeenFile { who, project, path: file.path.clone(), digest: file.digest };
    let marked = app.store().seen(files.iter().map(asked).collect()).await?;
    files.iter_mut().zip(marked).for_each(|(file, seen)| file.seen = Some(seen));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_what_is_no_text_is_not_shown_as_text() {
        assert_eq!(text(b"plain").as_deref(), Some("plain"));
        assert_eq!(text(b"zero\0byte"), None);
        assert_eq!(text(b"\xff\xfe"), None);
        assert_eq!(text(&b"\x1b[31mx".repeat(1_000)), None, "nothing but escapes is no text");
        let long = "é".repeat(MOST_SHOWN_BYTES);
        assert!(text(long.as_bytes()).is_some_and(|shown| shown.chars().all(|c| c == 'é')), "cut between characters");
    }
}
