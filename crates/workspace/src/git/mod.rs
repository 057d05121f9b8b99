//! The one way git is run here: neutralised, bounded, on a directory that the caller names.
//!
//! Git takes orders from many places: settings of the machine, the user, the repository and its worktrees, the
//! environment, attributes, hooks. [`Git`] leaves it none but the repository's own settings, and takes from those what
//! would start a program. It looks for no repository, except to tell what is tracked: the directory is given, and must
//! not be one that a run can write to.

mod held;
mod id;
mod neutral;
mod patience;
mod run;
mod stream;
mod tracked;
mod untracked;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

pub(crate) use held::Held;
pub(crate) use id::is_hex;
pub use id::{BadName, Branch, ObjectId};
use neutral::{SETTINGS, VARIABLES};
pub(crate) use patience::pause;
use run::{Bounds, Input, Output, Ran};
pub(crate) use stream::Stream;
pub use tracked::tracks;

/// Why git gave no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GitError {
    /// It could not be started or listened to.
    #[error("git cannot be run: install it below /usr, version 2.36 or later")]
    Start(#[source] io::Error),
    /// It said no.
    #[error("`git {command}` failed ({status}): {stderr}")]
    Failed {
        /// What was asked.
        command: String,
        /// How it ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// It took too long.
    #[error("`git {command}` took more than {timeout_ms} ms")]
    TimedOut {
        /// What was asked.
        command: String,
        /// How long it was given.
        timeout_ms: u64,
    },
    /// It said too much.
    #[error("`git {command}` printed more than {limit_bytes} bytes")]
    TooMuch {
        /// What was asked.
        command: String,
        /// How much was allowed.
        limit_bytes: u64,
    },
}

/// Git for one repository.
#[derive(Clone, Debug)]
pub struct Git {
    git_dir: PathBuf,
    looks_for: bool,
    work_tree: Option<PathBuf>,
    objects: Option<(PathBuf, Vec<PathBuf>)>,
    index: Option<PathBuf>,
    settings: Vec<(String, String)>,
    paths: Paths,
    variables: Vec<(String, String)>,
    timeout_ms: u64,
    output_bytes: u64,
}

/// How paths on the command line and in the input are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paths {
    /// As they are.
    Literal,
    /// With git's own marks at their beginning; some commands know no other way.
    Marked,
}

/// One thing to ask git for.
#[derive(Debug)]
pub struct Call {
    arguments: Vec<OsString>,
    input: Vec<u8>,
    input_file: Option<File>,
    output_file: Option<File>,
}

impl Call {
    /// The arguments after `git`, as they are: there is no shell.
    pub fn new<S: Into<OsString>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { arguments, input: Vec::new(), input_file: None, output_file: None }
    }

    /// Bytes for standard input; without them it is empty.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// A file for standard input.
    #[must_use]
    pub fn input_file(mut self, file: File) -> Self {
        self.input_file = Some(file);
        self
    }

    /// Standard output goes to a file, and is not returned.
    #[must_use]
    pub fn output_file(mut self, file: File) -> Self {
        self.output_file = Some(file);
        self
    }

    fn shown(&self) -> String {
        self.arguments.iter().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }
}

impl Git {
    /// Git for this directory: a `.git`, a bare repository, or the private directory of a linked worktree.
    pub fn new(git_dir: impl Into<PathBuf>) -> Self {
        let (timeout_ms, output_bytes) = (60_000, 64 << 20);
        let (work_tree, objects, index, settings) = (None, None, None, Vec::new());
        Self {
            git_dir: git_dir.into(),
            looks_for: false,
            work_tree,
            objects,
            index,
            settings,
            paths: Paths::Literal,
            variables: Vec::new(),
            timeout_ms,
            output_bytes,
        }
    }

    /// Git in a directory whose repository git looks for itself. Only for questions that start no program of its settings.
    fn inside(directory: &Path) -> Self {
        Self { looks_for: true, ..Self::new(directory) }
    }

    /// The files that belong to it, for what looks at files. Their content is data; nothing of it is run.
    #[must_use]
    pub fn work_tree(mut self, path: impl Into<PathBuf>) -> Self {
        self.work_tree = Some(path.into());
        self
    }

    /// How long one call may take; one minute if nothing is said.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    /// How much one call may print; 64 MiB if nothing is said.
    #[must_use]
    pub fn output_bytes(mut self, output_bytes: u64) -> Self {
        self.output_bytes = output_bytes;
        self
    }

    /// An index instead of the repository's own.
    pub(crate) fn index(mut self, path: impl Into<PathBuf>) -> Self {
        self.index = Some(path.into());
        self
    }

    /// Settings that win over those of the repository.
    pub(crate) fn settings(mut self, settings: &[(String, String)]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    /// A variable of the caller's.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// How paths are read.
    pub(crate) fn paths(mut self, paths: Paths) -> Self {
        self.paths = paths;
        self
    }

    /// The same settings, for another directory of the same repository.
    pub(crate) fn at(mut self, git_dir: impl Into<PathBuf>) -> Self {
        self.git_dir = git_dir.into();
        self
    }

    /// Objects are written to one directory, and read from it and from others.
    pub(crate) fn objects(mut self, written: &Path, read: &[&Path]) -> Self {
        self.objects = Some((written.to_owned(), read.iter().map(|path| (*path).to_owned()).collect()));
        self
    }

    /// Asks for something that must succeed; what was printed.
    pub fn run<S: Into<OsString>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<Vec<u8>, GitError> {
        self.call(Call::new(arguments))
    }

    /// Asks a question that git answers with its exit code: 0 for yes, 1 for no.
    pub fn ask<S: Into<OsString>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<bool, GitError> {
        let call = Call::new(arguments);
        let shown = call.shown();
        match self.ran(call, &shown)? {
            (Some(0), ..) => Ok(true),
            (Some(1), ..) => Ok(false),
            (code, _, stderr) => Err(failed(shown, code, stderr)),
        }
    }

    /// The same as [`Git::run`], with input or a file for the output.
    pub fn call(&self, call: Call) -> Result<Vec<u8>, GitError> {
        let shown = call.shown();
        match self.ran(call, &shown)? {
            (Some(0), stdout, _) => Ok(stdout),
            (code, _, stderr) => Err(failed(shown, code, stderr)),
        }
    }

    /// Begins something whose output is read while it is printed. It need not be read to its end.
    pub(crate) fn stream(&self, call: Call) -> Result<Stream, GitError> {
        let (command, shown) = (self.command(&call.arguments), call.shown());
        Stream::start(command, call.input, shown, self.timeout_ms)
    }

    /// Asks something to which no is an answer: exit code 1 is as good as 0.
    pub(crate) fn answer(&self, call: Call) -> Result<Vec<u8>, GitError> {
        self.explained(call).map(|(_, stdout)| stdout)
    }

    /// The same question as [`Git::ask`], with what was printed: why it is a yes or a no.
    pub(crate) fn explained(&self, call: Call) -> Result<(bool, Vec<u8>), GitError> {
        let shown = call.shown();
        match self.ran(call, &shown)? {
            (Some(code @ (0 | 1)), stdout, _) => Ok((code == 0, stdout)),
            (code, _, stderr) => Err(failed(shown, code, stderr)),
        }
    }

    fn ran(&self, call: Call, shown: &str) -> Result<(Option<i32>, Vec<u8>, String), GitError> {
        let command = self.command(&call.arguments);
        let input = call.input_file.map_or(Input::Bytes(call.input), Input::File);
        let output = call.output_file.map_or(Output::Kept, Output::File);
        let bounds = Bounds { timeout_ms: self.timeout_ms, output_bytes: self.output_bytes };
        match run::run(command, input, output, &bounds).map_err(GitError::Start)? {
            Ran::Ended { status, stdout, stderr } => Ok((status.code(), stdout, stderr)),
            Ran::TimedOut => Err(GitError::TimedOut { command: shown.to_owned(), timeout_ms: self.timeout_ms }),
            Ran::TooMuch => Err(GitError::TooMuch { command: shown.to_owned(), limit_bytes: self.output_bytes }),
        }
    }

    fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new("git");
        command.env_clear().envs(VARIABLES.iter().map(|(name, value, _)| (name, value)));
        command.current_dir(&self.git_dir);
        if self.looks_for {
            // Nothing of the repository is run, so it may belong to somebody else.
            command.env("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1").args(["-c", "safe.directory=*"]);
        } else {
            command.env("GIT_DIR", &self.git_dir);
        }
        if let Some(work_tree) = &self.work_tree {
            command.env("GIT_WORK_TREE", work_tree).current_dir(work_tree);
        }
        if let Some((written, read)) = &self.objects {
            command.env("GIT_OBJECT_DIRECTORY", written);
            let quoted: Vec<OsString> = read.iter().map(|path| quoted(path)).collect();
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted.join(OsStr::new(":")));
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.paths == Paths::Marked {
            command.env_remove("GIT_LITERAL_PATHSPECS");
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        for (name, value, _) in SETTINGS {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        self.override_settings(&mut command);
        self.as_owner(&mut command);
        command.args(arguments);
        command
    }

    /// In variables and not as arguments: the name of a setting may contain whatever separates names from values there.
    fn override_settings(&self, command: &mut Command) {
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (number, (name, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
    }

    /// Root works on somebody's repository as that somebody: what git writes is theirs, and what goes wrong is, too.
    fn as_owner(&self, command: &mut Command) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        if let Ok(meta) = fs::metadata(&self.git_dir)
            && meta.uid() != 0
        {
            command.uid(meta.uid()).gid(meta.gid());
        }
    }
}

/// A list of directories is separated by colons, unless they are quoted.
fn quoted(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut bytes = vec![b'"'];
    for &byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(byte);
    }
    bytes.push(b'"');
    OsString::from_vec(bytes)
}

fn failed(command: String, code: Option<i32>, stderr: String) -> GitError {
    let status = code.map_or_else(|| "ended by a signal".to_owned(), |code| format!("exit code {code}"));
    GitError::Failed { command, status, stderr }
}
