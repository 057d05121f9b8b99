//! What a caller asks for: one command, its input and its limits. Checked here, before anything happens.
//!
//! A request cannot loosen a cage: it names a program, adds variables that no loader or shell interprets, mounts files
//! read-only at places set aside for that, and layered directories where the cage has nothing. Everything else is the
//! profile's.

mod paths;

use std::collections::BTreeMap;
use std::path::PathBuf;

use thiserror::Error;

pub(crate) use paths::check_read_only;

use crate::profile::Limits;
use crate::rules::{MAX_RULES, Rules};
use crate::workspace::{Layer, Layers, Workspace};

/// Where a request may mount its read-only files: nothing the cage itself relies on lives there.
pub const READ_ONLY_ROOTS: [&str; 4] = ["/opt", "/mnt", "/srv", "/home/agent"];

/// Places of the cage that no layer may be mounted on, above or below: programs, settings and the workspace.
pub const LAYER_FREE_ROOTS: [&str; 13] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr", "/work"];

/// Arguments and variables together; the kernel's own ceiling is not much higher.
pub const MAX_ARGUMENT_BYTES: usize = 1 << 20;

/// Standard input is kept in memory, so it stays small.
pub const MAX_STDIN_BYTES: usize = 1 << 20;

/// Host users and groups of cages whose caller is root begin here: far above accounts, and above what container engines
/// and service managers hand out.
pub const FIRST_HOST_USER: u32 = 1_900_000_000;

/// A proxy, a model, and room for two more. Their descriptors travel one by one, so this is no technical limit.
pub const MAX_DOORS: usize = 4;

/// Variables a request must not set, each with the reason. A trailing `*` stands for any ending.
pub const REFUSED_VARIABLES: &[(&str, &str)] = &[
    ("LD_*", "the dynamic loader takes code from it before the program starts"),
    ("GLIBC_TUNABLES", "the C library changes its own behaviour by it"),
    ("GCONV_PATH", "the C library loads code from it"),
    ("BASH_ENV", "a shell runs the file it names before the command"),
    ("ENV", "a shell runs the file it names before the command"),
    ("BASH_FUNC_*", "a shell takes function definitions from it"),
    ("SHELLOPTS", "a shell changes how it reads the command by it"),
    ("IFS", "a shell splits the command differently by it"),
    ("PATH", "the profile fixes where programs are looked up"),
    ("HOME", "the profile fixes the home directory"),
];

/// A user and group of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostUser {
    /// User id on the host.
    pub uid: u32,
    /// Group id on the host.
    pub gid: u32,
}

impl HostUser {
    /// The user of the cage behind this helper.
    ///
    /// No two live processes have one number, and the helper lives as long as its cage: so no two cages share a user,
    /// whoever launched them, without any file that could be left behind or forged. Only callers in different pid
    /// namespaces that share a user namespace can meet; they choose their users with [`Request::host_user`].
    pub(crate) fn of_helper(process: u32) -> Self {
        let id = FIRST_HOST_USER.saturating_add(process);
        Self { uid: id, gid: id }
    }

    /// Stands in a plan for the user of whichever helper takes it. The kernel knows no user of this number.
    pub(crate) const OF_HELPER: Self = Self { uid: u32::MAX, gid: u32::MAX };

    /// The same, or the user of this helper where one is stood in for.
    pub(crate) fn or_of(self, helper: Self) -> Self {
        if self == Self::OF_HELPER { helper } else { self }
    }

    /// Whether the user or the group is the one that may do everything.
    #[must_use]
    pub fn is_root(self) -> bool {
        self.uid == 0 || self.gid == 0
    }
}

/// A host file or directory that appears read-only in the cage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOnly {
    pub(crate) host: PathBuf,
    pub(crate) cage: PathBuf,
}

/// One command to run in a cage.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) argv: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) rules: Rules,
    pub(crate) layers: Vec<Layer>,
    pub(crate) read_only: Vec<ReadOnly>,
    pub(crate) limits: Option<Limits>,
    pub(crate) stdin: Input,
    pub(crate) host_user: Option<HostUser>,
    pub(crate) doors: Vec<u16>,
    pub(crate) freezing: Freezing,
    pub(crate) repositories: Repositories,
}

/// Whether a cage is going to be frozen, and should be made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freezing {
    Possible,
    No,
}

/// Handling of version control repositories in a direct workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repositories {
    Protected,
    Writable,
}

/// What a command reads from its standard input.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Bytes(Vec<u8>),
    Pipe,
    /// All three standard streams are one terminal.
    Terminal,
}

impl Default for Input {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

/// Why a request cannot be carried out as written.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// No program.
    #[error("the command is empty")]
    NoCommand,
    /// The program is neither a name nor an absolute path.
    #[error("`{0}` is neither a program name nor an absolute path")]
    RelativeProgram(String),
    /// A NUL byte would cut an argument or variable short.
    #[error("`{0}` contains a NUL byte")]
    Nul(String),
    /// The name of a variable is not one.
    #[error("`{0}` is not a name of an environment variable")]
    VariableName(String),
    /// A variable that would undermine the cage or the command.
    #[error("the variable `{name}` must not be set: {reason}")]
    VariableRefused {
        /// The variable.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Too much.
    #[error("{what} has {seen} bytes, at most {limit} are allowed")]
    TooLarge {
        /// Which part of the request.
        what: &'static str,
        /// Its size.
        seen: usize,
        /// The allowed size.
        limit: usize,
    },
    /// A host path that cannot be used.
    #[error("the host path `{0}` must be absolute and valid UTF-8")]
    HostPath(PathBuf),
    /// A place in the cage that is not free to mount on.
    #[error("`{0}` cannot be mounted on: choose a path below one of {READ_ONLY_ROOTS:?}")]
    CagePath(PathBuf),
    /// A place in the cage that no layer can be mounted on.
    #[error("no layer can be mounted on `{0}`: choose a path where the cage has nothing, outside {LAYER_FREE_ROOTS:?}")]
    LayerPath(PathBuf),
    /// Upper and work of a layer are not two directories in one.
    #[error("`{upper}` and `{work}` cannot be upper and work of a layer: they must be two directories in the same one")]
    NotSiblings {
        /// Where changes were to go.
        upper: PathBuf,
        /// The room for the kernel.
        work: PathBuf,
    },
    /// The layers of one directory overlap.
    #[error("`{lower}` and `{private}` lie inside one another; keep what a run changes outside of what it changes")]
    LayerInLayer {
        /// What is there already.
        lower: PathBuf,
        /// Upper or work.
        private: PathBuf,
    },
    /// Two layers with one upper.
    #[error("`{0}` belongs to two layers; each needs its own upper and work")]
    LayerShared(PathBuf),
    /// A rule for something that is no path inside the workspace.
    #[error("the rule for `{0}` is no path inside the workspace: use names separated by `/`, without `.` and `..`")]
    RulePath(PathBuf),
    /// A name that cannot be hidden.
    #[error("`{0}` cannot be hidden by name: give one file name, with at most one `*`, at its end")]
    RuleName(String),
    /// A rule that can have no effect.
    #[error("the rule for `{path}` has no effect, because `{hidden}` is hidden with everything below")]
    RuleBelowHidden {
        /// The rule.
        path: PathBuf,
        /// The hidden path above.
        hidden: PathBuf,
    },
    /// More rules than mounts are reasonable.
    #[error("{seen} rules are too many, at most {MAX_RULES} are allowed; name directories instead of files")]
    TooManyRules {
        /// How many there are.
        seen: usize,
    },
    /// Rules that a directory which is written at once cannot keep.
    #[error(
        "a path inside a writable place can be read-only or hidden only in a layered workspace: give the request \
         layers, or make the workspace read-only and name what is writable"
    )]
    RulesNeedLayers,
    /// Two mounts at one place.
    #[error("`{0}` is mounted twice")]
    MountedTwice(PathBuf),
    /// A door that cannot be opened.
    #[error("a door at port {port} cannot be opened: {why}")]
    Door {
        /// The port asked for.
        port: u16,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Root inside the cage would be root outside.
    #[error("user and group 0 of the host never enter a cage; choose an unprivileged user")]
    RootUser,
}

impl Request {
    /// Runs `argv`: a program name that is looked up in the cage, or an absolute path in the cage, and its arguments.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            workspace: None,
            rules: Rules::default(),
            layers: Vec::new(),
            read_only: Vec::new(),
            limits: None,
            stdin: Input::default(),
            host_user: None,
            doors: Vec::new(),
            freezing: Freezing::No,
            repositories: Repositories::Protected,
        }
    }

    /// Adds a variable; see [`REFUSED_VARIABLES`].
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// A host directory, or [`Layers`] above one, that appears writable as `/work`, where the command starts.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<Workspace>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Lets the command change version control repositories (`.git`, `.hg`, `.jj`, bare ones) in a direct workspace, and
    /// connect to sockets in it. A user who later works with such a repository outside of the cage runs the settings and
    /// hooks that the command wrote.
    #[must_use]
    pub fn writable_repositories(mut self) -> Self {
        self.repositories = Repositories::Writable;
        self
    }

    /// What the command may do where in its workspace; without rules it may write everything there.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Layers that appear writable at `at`: any absolute path outside [`LAYER_FREE_ROOTS`] where the cage has nothing.
    ///
    /// The `.git` file of a linked worktree names the repository's directory by its path on the host, so `at` may well
    /// be that path: `.layer(Layers::new("/srv/repo/.git", …), "/srv/repo/.git")`.
    #[must_use]
    pub fn layer(mut self, layers: Layers, at: impl Into<PathBuf>) -> Self {
        self.layers.push(Layer { layers, at: at.into() });
        self
    }

    /// A host file or directory that appears read-only at `cage`, below one of [`READ_ONLY_ROOTS`].
    #[must_use]
    pub fn read_only(mut self, host: impl Into<PathBuf>, cage: impl Into<PathBuf>) -> Self {
        self.read_only.push(ReadOnly { host: host.into(), cage: cage.into() });
        self
    }

    /// Limits instead of the profile's.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Bytes for standard input; without them it is empty.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Input::Bytes(bytes.into());
        self
    }

    /// Standard input is a pipe that the caller writes to: see [`crate::Running::take_stdin`].
    #[must_use]
    pub fn stdin_piped(mut self) -> Self {
        self.stdin = Input::Pipe;
        self
    }

    /// All three standard streams are a terminal of its own, which the caller keeps the other end of: see
    /// [`crate::Running::take_terminal`]. It is the command's controlling terminal, so that shells have job control.
    #[must_use]
    pub fn terminal(mut self) -> Self {
        self.stdin = Input::Terminal;
        self
    }

    /// A way out, and the only kind there is: whatever connects to `127.0.0.1:port` in the cage waits until the caller
    /// accepts it with [`crate::Running::take_door`]. Nothing listens on the host, and no other cage can use it.
    #[must_use]
    pub fn door(mut self, port: u16) -> Self {
        self.doors.push(port);
        self
    }

    /// The cage is going to be frozen, see [`crate::Running::freezer`]: where the kernel can do that for the whole tree at
    /// once, it will. On hosts with both versions of control groups this costs some milliseconds at the launch.
    #[must_use]
    pub fn freezable(mut self) -> Self {
        self.freezing = Freezing::Possible;
        self
    }

    /// The host identity of the cage when the caller is root. Without it every cage gets one of its own, which is what
    /// keeps cages apart; see [`FIRST_HOST_USER`]. An ordinary caller's cages run as the caller.
    #[must_use]
    pub fn host_user(mut self, user: HostUser) -> Self {
        self.host_user = Some(user);
        self
    }

    /// Checks everything that can be checked without looking at the host.
    pub fn check(&self) -> Result<(), RequestError> {
        self.check_program()?;
        self.check_variables()?;
        self.check_sizes()?;
        self.check_paths()?;
        self.check_rules()?;
        self.check_doors()?;
        match self.host_user {
            Some(user) if user.is_root() => Err(RequestError::RootUser),
            Some(_) | None => Ok(()),
        }
    }

    fn check_program(&self) -> Result<(), RequestError> {
        let program = self.argv.first().filter(|name| !name.is_empty()).ok_or(RequestError::NoCommand)?;
        if program.contains('/') && !program.starts_with('/') {
            return Err(RequestError::RelativeProgram(program.clone()));
        }
        match self.argv.iter().find(|argument| argument.contains('\0')) {
            Some(argument) => Err(RequestError::Nul(argument.clone())),
            None => Ok(()),
        }
    }

    fn check_variables(&self) -> Result<(), RequestError> {
        self.env.iter().try_for_each(|(name, value)| check_variable(name, value))
    }

    fn check_sizes(&self) -> Result<(), RequestError> {
        let arguments: usize = self.argv.iter().map(|argument| argument.len() + 1).sum();
        let variables: usize = self.env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        within("the command with its variables", arguments + variables, MAX_ARGUMENT_BYTES)?;
        match &self.stdin {
            Input::Bytes(bytes) => within("standard input", bytes.len(), MAX_STDIN_BYTES),
            Input::Pipe | Input::Terminal => Ok(()),
        }
    }

    fn check_doors(&self) -> Result<(), RequestError> {
        for (index, &port) in self.doors.iter().enumerate() {
            let refuse = |why| Err(RequestError::Door { port, why });
            match port {
                0 => return refuse("choose a port from 1 to 65535"),
                _ if self.doors[..index].contains(&port) => return refuse("it is asked for twice"),
                _ if index >= MAX_DOORS => return refuse("a cage has at most four doors"),
                _ => {}
            }
        }
        Ok(())
    }
}

fn within(what: &'static str, seen: usize, limit: usize) -> Result<(), RequestError> {
    if seen <= limit { Ok(()) } else { Err(RequestError::TooLarge { what, seen, limit }) }
}

/// Whether a request, or a profile that somebody wrote, may set this variable.
pub(crate) fn check_variable(name: &str, value: &str) -> Result<(), RequestError> {
    if !is_variable_name(name) {
        return Err(RequestError::VariableName(name.to_owned()));
    }
    if value.contains('\0') {
        return Err(RequestError::Nul(name.to_owned()));
    }
    match refusal(name) {
        Some(reason) => Err(RequestError::VariableRefused { name: name.to_owned(), reason }),
        None => Ok(()),
    }
}

fn is_variable_name(name: &str) -> bool {
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts_well && name.chars().all(|each| each.is_ascii_alphanumeric() || each == '_')
}

pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    REFUSED_VARIABLES.iter().find(|(pattern, _)| matches(pattern)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests;
