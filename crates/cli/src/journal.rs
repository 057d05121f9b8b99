//! The service log: one JSON object a line, ISO timestamps, append-only. Rotated by size into a new file; nothing that was
//! written is ever rewritten, renamed or deleted. What happened to actions is in the ledger, not here.
//!
//! A line that cannot be written (a full disk, a closed stderr) is lost; the next line that can be written reports the number of lost ones.
//! The error is never returned to the code that logs, and no thread ends.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    install(journal);
    Ok(())
}

/// Logs to stderr from here on: for workers, which may have no directory of their own.
pub(crate) fn to_stderr() {
    install(Clean(io::stderr()));
}

/// Turns off printing of internal errors: tracing-subscriber would write them to stderr and panic if that fails too.
fn install(writer: impl Write + Send + 'static) {
    let log = tracing_subscriber::fmt().json().with_env_filter(filter()).log_internal_errors(false);
    log.with_writer(Unfailing::new(writer)).init();
}

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("PLACET_LOG").unwrap_or_else(|_| EnvFilter::new("info"))
}

/// Writes one line at a time and never fails. A plain `Mutex<W>` would panic on every write after a first panic while it is locked.
struct Unfailing<W>(Mutex<Counted<W>>);

/// A writer with the number of lines that it failed to write.
struct Counted<W> {
    writer: W,
    lost: u64,
}

impl<W: Write> Unfailing<W> {
    const fn new(writer: W) -> Self {
        Self(Mutex::new(Counted { writer, lost: 0 }))
    }
}

/// Exclusive access to the writer for one event.
struct Turn<'a, W>(MutexGuard<'a, Counted<W>>);

impl<'a, W: Write + 'a> MakeWriter<'a> for Unfailing<W> {
    type Writer = Turn<'a, W>;

    fn make_writer(&'a self) -> Turn<'a, W> {
        Turn(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W: Write> Write for Turn<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.take(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Counted<W> {
    fn take(&mut self, line: &[u8]) {
        if self.write_lost().and_then(|()| self.writer.write_all(line)).is_ok() {
            self.lost = 0;
        } else {
            self.lost += 1;
        }
    }

    fn write_lost(&mut self) -> io::Result<()> {
        if self.lost == 0 {
            return Ok(());
        }
        let (timestamp, lost) = (jiff::Timestamp::now(), self.lost);
        let message = format!("{lost} lines of the log could not be written");
        let fields = serde_json::json!({ "message": message });
        let line = serde_json::json!({ "timestamp": timestamp.to_string(), "level": "WARN", "fields": fields });
        self.writer.write_all(format!("{line}\n").as_bytes())
    }
}

#[derive(Debug)]
struct Journal {
    dir: PathBuf,
    file: File,
    written: u64,
    largest: u64,
    /// True if an error cut off the last line, so that the next one has to start on a new line.
    is_torn: bool,
}

impl Journal {
    fn open(dir: &Path, largest: u64) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let file = fresh_file(dir)?;
        Ok(Self { dir: dir.to_owned(), file, written: 0, largest, is_torn: false })
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
        // Continues in the old file if no new one can be created.
        if self.written > 0
            && self.written + line.len() as u64 > self.largest
            && let Ok(file) = fresh_file(&self.dir)
        {
            (self.file, self.written, self.is_torn) = (file, 0, false);
        }
        if self.is_torn {
            self.file.write_all(b"\n")?;
        }
        self.is_torn = true;
        self.file.write_all(line)?;
        self.is_torn = false;
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
        let subscriber = tracing_subscriber::fmt().json().with_writer(Unfailing::new(journal)).finish();
        tracing::subscriber::with_default(subscriber, || tracing::info!(text = "a\nforged \"line\"\u{2028}", "hello"));
        let (_, text) = files(dir.path()).remove(0);
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(line["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
    }

    /// Fails like a full disk until there is room.
    struct Disk(Mutex<DiskState>);

    struct DiskState {
        has_room: bool,
        taken: Vec<u8>,
    }

    impl Disk {
        fn new(has_room: bool) -> Self {
            Self(Mutex::new(DiskState { has_room, taken: Vec::new() }))
        }

        fn state(&self) -> MutexGuard<'_, DiskState> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Write for &Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.state();
            assert!(!bytes.starts_with(b"panic"), "a writer that panics");
            if disk.has_room { disk.taken.write(bytes) } else { Err(io::ErrorKind::StorageFull.into()) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_survives_a_full_disk_and_counts_lost_lines() {
        let disk = Disk::new(false);
        let log = Unfailing::new(&disk);
        for _ in 0..3 {
            log.make_writer().write_all(b"{\"lost\":1}\n").unwrap();
        }
        disk.state().has_room = true;
        log.make_writer().write_all(b"{\"kept\":1}\n").unwrap();
        let text = String::from_utf8(disk.state().taken.clone()).unwrap();
        assert!(text.contains("3 lines of the log could not be written") && text.ends_with("{\"kept\":1}\n"), "{text}");
        assert_eq!(text.lines().filter(|line| serde_json::from_str::<IgnoredAny>(line).is_ok()).count(), 2);
    }

    #[test]
    fn log_survives_a_panic_of_its_writer() {
        let disk = Disk::new(true);
        let log = Unfailing::new(&disk);
        let panicked = std::panic::AssertUnwindSafe(|| log.make_writer().write_all(b"panic"));
        std::panic::catch_unwind(panicked).unwrap_err();
        log.make_writer().write_all(b"{}\n").unwrap();
        assert_eq!(disk.state().taken, b"{}\n");
    }

    #[test]
    fn torn_line_ends_before_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(dir.path(), 1_000).unwrap();
        journal.write_all(b"{\"a\":1}\n").unwrap();
        journal.file.write_all(b"{\"cut o").unwrap();
        journal.is_torn = true;
        journal.write_all(b"{\"b\":2}\n").unwrap();
        assert_eq!(files(dir.path())[0].1, "{\"a\":1}\n{\"cut o\n{\"b\":2}\n");
    }

    /// As people write them into settings and commands. Made of pieces, so that they are secrets to nobody else.
    fn token() -> String {
        ["gh", "p_", "wJ4k9QzT2mX7vB1nR5cY8dL3", "fH6sA0eU9pKq"].concat()
    }

    #[test]
    fn a9_no_secret_and_no_address_reaches_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path(), 1_000_000).unwrap();
        let subscriber = tracing_subscriber::fmt().json().with_writer(Unfailing::new(journal)).finish();
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
