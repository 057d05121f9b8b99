//! One command, run to its end, and what it said.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Far more than any command here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) what: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Said {
    /// Runs a command with nothing on its stdin. One that hangs is ended and fails the test.
    pub(crate) fn by(command: &mut Command) -> Self {
        Self::within(PATIENCE, command)
    }

    /// The same for one that takes longer than most.
    pub(crate) fn within(patience: Duration, command: &mut Command) -> Self {
        let what = format!("{command:?}");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        match receiver.recv_timeout(patience) {
            Ok(output) => Self::from(what, output.unwrap()),
            Err(_) => {
                let _ = Command::new("/bin/kill").args(["-9", &pid.to_string()]).status();
                panic!("{what} did not end within {patience:?}");
            }
        }
    }

    fn from(what: String, output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { what, code: output.status.code(), stdout: output.stdout, stderr }
    }

    pub(crate) fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\nstdout: {}\nstderr: {}", self.what, self.out(), self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.exits(0)
    }

    /// The whole of stdout as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{}: {error}: {}", self.what, self.out()))
    }
}

/// Where a copy of the binary is that everybody can reach, if this is a copy of the tests that became somebody else.
pub(crate) const BINARY: &str = "PLACET_TEST_BINARY";

/// The binary under test, untouched by the settings of whoever runs the tests.
pub(crate) fn placet() -> Command {
    let mut command =
        clean(Command::new(std::env::var_os(BINARY).unwrap_or_else(|| env!("CARGO_BIN_EXE_placet").into())));
    // No settings of the user who runs the tests: a test writes the settings that it needs.
    command.env("XDG_CONFIG_HOME", "/nonexistent/config").env("XDG_STATE_HOME", "/nonexistent/state");
    command
}

pub(crate) fn clean(mut command: Command) -> Command {
    for name in [
        "PLACET_HOME",
        "PLACET_SERVER",
        "PLACET_AS",
        "PLACET_TOKEN",
        "PLACET_LOG",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs it in a directory.
pub(crate) fn placet_in(dir: &Path, args: &[&str]) -> Said {
    Said::by(placet().current_dir(dir).args(args))
}
