//! A branch that is about to move: git holds its lock while the caller does what has to be done before, and moves it, or
//! leaves it where it was, as a whole.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};

use super::run::{MAX_STDERR_BYTES, end_group, harmless};
use super::{Branch, Git, GitError, ObjectId, failed};

const COMMAND: &str = "update-ref --stdin";

/// The lock of a branch. Without [`Held::release`] the branch stays where it was.
#[derive(Debug)]
pub(crate) struct Held {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    stderr: ChildStderr,
    /// Once it is reaped, its number may be somebody else's.
    reaped: bool,
}

impl Git {
    /// Locks a branch that is at `old`, so that it can go to `new` and nobody else can move it. Whoever holds it now is
    /// waited for as long as the settings say, so the call ends.
    pub(crate) fn hold(&self, branch: &Branch, old: &ObjectId, new: &ObjectId, why: &str) -> Result<Held, GitError> {
        let arguments = ["update-ref", "-m", why, "--stdin"].map(Into::into);
        let mut command = self.command(&arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(GitError::Start)?;
        let missing = || GitError::Start(io::Error::other("a program without pipes"));
        let (input, output, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let output = BufReader::new(output.ok_or_else(missing)?);
        let mut held = Held { child, input, output, stderr: stderr.ok_or_else(missing)?, reaped: false };
        held.say(&format!("start\nupdate {} {new} {old}\nprepare\n", branch.full()));
        held.hear("start: ok")?;
        held.hear("prepare: ok")?;
        Ok(held)
    }
}

impl Held {
    /// Moves the branch.
    pub(crate) fn release(mut self) -> Result<(), GitError> {
        self.say("commit\n");
        self.hear("commit: ok")?;
        self.input = None;
        let ended = self.child.wait().map_err(GitError::Start);
        self.reaped = true;
        ended.map(drop)
    }

    /// If git has ended, it is its answer that says why.
    fn say(&mut self, words: &str) {
        let _ = self.input.as_mut().map(|input| input.write_all(words.as_bytes()).and_then(|()| input.flush()));
    }

    fn hear(&mut self, expected: &str) -> Result<(), GitError> {
        let mut line = String::new();
        self.output.by_ref().take(256).read_line(&mut line).map_err(GitError::Start)?;
        if line.trim_end() == expected {
            return Ok(());
        }
        self.input = None;
        let mut stderr = Vec::new();
        let _ = self.stderr.by_ref().take(MAX_STDERR_BYTES).read_to_end(&mut stderr);
        Err(failed(COMMAND.to_owned(), None, harmless(&stderr)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        // Without more to read, git gives the lock back and leaves the branch alone.
        self.input = None;
        if self.child.wait().is_err() {
            end_group(&self.child);
        }
    }
}
