//! The service log: one JSON object a line, ISO timestamps, append-only. Rotated by size into a new file; nothing that was
//! written is ever rewritten, renamed or deleted. What happened to actions is in the ledger, not here.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use placet_secrets::Scanner;
use serde::de::IgnoredAny;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::error::CliError;

/// Small enough to open in an editor, large enough for a busy day.
const LARGEST_FILE: u64 = 64 << 20;

/// Logs to files in `dir` from here on.
pub(crate) fn start(dir: &Path) -> Result<(), CliError> {
    let journal =
        Journal::open(dir, LARGEST_FILE).map_err(|error| CliError::failed(format!("`{}`: {error}", dir.display())))?;
    tracing_subscriber::fmt().json().with_env_filter(filter()).with_writer(Mutex::new(journal)).init();
    Ok(())
}

/// Logs to stderr from here on: for workers, which may have no directory of their own.
pub(crate) fn to_stderr() {
    tracing_subscriber::fmt().json().with_env_filter(filter()).with_writer(|| Clean(io::stderr())).init();
}

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("PLACET_LOG").unwrap_or_else(|_| EnvFilter::new("info"))
}

#[derive(Debug)]
struct Journal {
    dir: PathBuf,
    file: File,
    written: u64,
    largest: u64,
}

impl Journal {
    fn open(dir: &Path, largest: u64) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let file = fresh_file(dir)?;
        Ok(Self { dir: dir.to_owned(), file, written: 0, largest })
    }
}

/// A file that did not exist before: named by the moment, numbered if that moment has one already.
fn fresh_file(dir: &Path) -> io::Result<File> {
    let moment = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    for number in 0..u32::MAX {
        let path = dir.join(format!("placet-{moment}-{number:03}.jsonl"));
        match OpenOptions::new().append(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Write for Journal {
    /// Takes whole lines: one call is one event.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let given = line.len();
        let line = &*without_secrets(line);
        if self.written > 0 && self.written + line.len() as u64 > self.largest {
            self.file = fresh_file(&self.dir)?;
            self.written = 0;
        }
        self.file.write_all(line)?;
        self.written += line.len() as u64;
        Ok(given)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whole lines on their way to somebody, each without secrets.
struct Clean<W>(W);

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(&without_secrets(line)).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A line that is still one JSON object, without what looks like a secret or an address of a person. A secret that cannot
/// be told from the form of the line takes the line with it.
fn without_secrets(line: &[u8]) -> Cow<'_, [u8]> {
    let clean = Scanner::shipped().redact(line);
    let clean = placet_secrets::redact_personal(&clean).into_owned();
    if clean == line {
        return Cow::Borrowed(line);
    }
    match serde_json::from_slice::<IgnoredAny>(&clean) {
        Ok(_) => Cow::Owned(clean),
        Err(_) => Cow::Borrowed(b"{\"message\":\"a line with a secret in it was left out\"}\n"),
    }
}

const _: fn() = || {
    const fn writes<T: for<'a> MakeWriter<'a>>() {}
    writes::<Mutex<Journal>>();
};

#[cfg(test)]
mod tests {
    use super::*;

    fn files(dir: &Path) -> Vec<(PathBuf, String)> {
        let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    }

    #[test]
    fn d13_a_full_file_is_left_as_it_is_and_a_new_one_begun() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 20).unwrap();
        journal.write_all(b"{\"a\":1}\n{\"b\":2}\n").unwrap();
        let before = files(dir.path());
        journal.write_all(b"{\"c\":3}\n").unwrap();
        let after = files(dir.path());
        assert_eq!(after.len(), 2);
        assert_eq!(after[0], before[0], "what was written stays as it was");
        assert_eq!(after[1].1, "{\"c\":3}\n");
    }

    #[test]
    fn d13_a_restart_continues_in_a_new_file_and_rewrites_nothing() {
        let dir = tempfile::tempdir().unwrap();
        Journal::open(dir.path(), 1_000).unwrap().write_all(b"{\"first\":1}\n").unwrap();
        let before = files(dir.path());
        Journal::open(dir.path(), 1_000).unwrap().write_all(b"{\"second\":2}\n").unwrap();
        let after = files(dir.path());
        assert_eq!(after[0], before[0]);
        assert_eq!(after.len(), 2);
    }

    #[test]
    fn d13_each_line_is_one_json_object_with_an_iso_timestamp_whatever_is_logged() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path(), 1_000_000).unwrap();
        let subscriber = tracing_subscriber::fmt().json().with_writer(Mutex::new(journal)).finish();
        tracing::subscriber::with_default(subscriber, || tracing::info!(text = "a\nforged \"line\"\u{2028}", "hello"));
        let (_, text) = files(dir.path()).remove(0);
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(line["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    }

    /// As people write them into settings and commands. Made of pieces, so that they are secrets to nobody else.
    fn token() -> String {
        ["gh", "p_", "wJ4k9QzT2mX7vB1nR5cY8dL3", "fH6sA0eU9pKq"].concat()
    }

    #[test]
    fn a9_no_secret_and_no_address_reaches_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path(), 1_000_000).unwrap();
        let subscriber = tracing_subscriber::fmt().json().with_writer(Mutex::new(journal)).finish();
        let key = format!(
            "-----BEGIN {} KEY-----\n{}\n-----END {} KEY-----",
            "PRIVATE",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(4),
            "PRIVATE"
        );
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(error = %format!("`{}` was refused", token()), "the remote said no");
            tracing::info!(url = format!("https://mira:{}@example.org/x", token()), "calling");
            tracing::info!(text = key, who = "mira.lang@example.org", "a key");
        });
        let (_, text) = files(dir.path()).remove(0);
        assert!(!text.contains(&token()) && !text.contains("MIIEvQIB") && !text.contains("mira.lang@"), "{text}");
        assert_eq!(text.lines().count(), 3);
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
        assert!(text.contains("[redacted"), "{text}");
    }

    #[test]
    fn a9_what_a_worker_logs_goes_the_same_way() {
        let mut screen = Vec::new();
        let line = format!("{{\"fields\":{{\"message\":\"got {}\"}}}}\n", token());
        Clean(&mut screen).write_all(line.as_bytes()).unwrap();
        let shown = String::from_utf8(screen).unwrap();
        assert!(shown.contains("[redacted github") && !shown.contains(&token()), "{shown}");
    }
}
