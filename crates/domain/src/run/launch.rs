//! What a host starts as the agent of a run, and what the agent is given. Part of what a person approves.
//!
//! Everything is named by its digest: what is started is what was seen. Nothing here is a secret; an agent gets its credential from its
//! host, when it is started.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::planning::Input;
use crate::proposal::FileOperand;
use crate::refusal::Refusal;
use crate::scope::ScopePath;

const MOST_ARGUMENTS: usize = 100;
const LONGEST_ARGUMENT: usize = 4_096;
/// They are part of a run's state, which is read with every action.
const MOST_FILES: usize = 500;

/// What is started, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The program, by its absolute path in the cage.
    pub program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The kind of cage that the agent lives in, and what that amounted to when it was planned.
    pub profile: String,
    pub profile_digest: Digest,
    /// The agent's own files. They lie in its directory when it is started first, and are its memory from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileOperand>,
    /// What people share with the run. It lies in its workspace, for its actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

impl Launch {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        self.check_command()?;
        if self.files.len() + self.inputs.len() > MOST_FILES {
            return Err(Refusal::invalid(format!("an agent is given at most {MOST_FILES} files; pack them together")));
        }
        for file in &self.files {
            ScopePath::new(file.path.as_bytes()).map_err(|bad| Refusal::invalid(bad.to_string()))?;
        }
        apart(self.files.iter().map(|file| file.path.as_str()))?;
        self.inputs.iter().try_for_each(check_input)?;
        apart(self.inputs.iter().map(|input| input.path.as_str()))
    }

    fn check_command(&self) -> Result<(), Refusal> {
        let plain = |text: &str| text.len() <= LONGEST_ARGUMENT && !text.contains('\0');
        if !self.program.starts_with('/') || !plain(&self.program) {
            return Err(Refusal::invalid("name the agent's program by its absolute path, such as `/usr/bin/python3`"));
        }
        if self.arguments.len() > MOST_ARGUMENTS || !self.arguments.iter().all(|argument| plain(argument)) {
            return Err(Refusal::invalid("an agent has at most 100 arguments of at most 4096 bytes each"));
        }
        Ok(())
    }
}

fn check_input(input: &Input) -> Result<(), Refusal> {
    if let Some(why) = input.withheld() {
        return Err(Refusal::invalid(format!("`{}` is not given to an agent: {why}", input.path)));
    }
    match input.digest {
        Some(_) => Ok(()),
        None => Err(Refusal::invalid(format!("`{}` is named without its digest; upload it first", input.path))),
    }
}

/// No two at one place, and none below another: each is a file.
fn apart<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    for path in paths {
        if !seen.insert(path) {
            return Err(Refusal::invalid(format!("`{path}` is given twice")));
        }
    }
    let above = |path: &&&str| path.match_indices('/').any(|(end, _)| seen.contains(&path[..end]));
    match seen.iter().find(above) {
        None => Ok(()),
        Some(path) => Err(Refusal::invalid(format!("`{path}` lies below another file"))),
    }
}
