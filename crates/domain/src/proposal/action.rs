//! The sealed action: canonical bytes and their digest. What is approved and what is executed are these bytes.
//!
//! Sealing checks form only: is every part well-formed, within the tool's limits, free of tricks? Whether the action is
//! *wanted* is for the policy. Over a limit means refused, never cut short.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::credential::{CredentialDenied, CredentialName, CredentialUse};
use super::opening::Opening;
use super::tool::{ActionKind, Tool, ToolName, ToolNetwork, Tools};
use crate::canonical;
use crate::digest::Digest;
use crate::id::{IdentityId, RunId};
use crate::scope::{BadPath, Scope, ScopePath, Target};

/// Beyond these an action cannot be reviewed by a person, so it is not an action.
const MOST_ARGUMENTS: usize = 512;
const MOST_ARGUMENT_BYTES: usize = 32 * 1024;
const MOST_FILES: usize = 256;
const MOST_VARIABLES: usize = 64;
const MOST_OPENINGS: usize = 32;
const MOST_CREDENTIALS: usize = 8;

/// Names (or beginnings of names) of variables that make programs load or run code of the caller's choosing.
const LOADING_VARIABLES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GLIBC_",
    "GCONV_",
    "MALLOC_",
    "PATH",
    "HOME",
    "SHELL",
    "IFS",
    "ENV",
    "BASH_",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "NPM_",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "CLASSPATH",
    "GIT_",
    "SSH_",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "MANPAGER",
    "LESS",
    "TMPDIR",
    "XDG_",
    "CARGO_",
    "RUSTC",
    "MAKEFLAGS",
    "GOFLAGS",
];

/// What an agent asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    pub tool: ToolName,
    #[serde(default)]
    pub arguments: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Files the program finds in its workspace, named by content: upload them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileOperand>,
    /// Files the program leaves in its workspace that become evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Whom the program may reach beside its target, each within the scope.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<Opening>,
    /// Credentials of the team that are put in for it, by name. The program never sees them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub credentials: BTreeSet<CredentialName>,
    /// Less than the tool's own limits, never more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The agent's own words: shown as untrusted, never hashed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub justification: String,
}

/// A file handed to the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileOperand {
    pub path: String,
    pub digest: Digest,
    pub size_bytes: u64,
}

/// What an execution may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub timeout_ms: u64,
    pub memory_bytes: u64,
    pub output_bytes: u64,
    pub file_bytes: u64,
    pub processes: u64,
    /// Of sites; a run's budget for them pays for so many before it is begun. Without a number, what is usual for its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
}

impl Default for Limits {
    /// Enough for a build step or a scan; little enough that a runaway is noticed within minutes.
    fn default() -> Self {
        Self {
            timeout_ms: 120_000,
            memory_bytes: 2 << 30,
            output_bytes: 8 << 20,
            file_bytes: 64 << 20,
            processes: 256,
            pages: None,
        }
    }
}

impl Limits {
    pub(super) fn first_zero(&self) -> Option<&'static str> {
        let Self { timeout_ms, memory_bytes, output_bytes, file_bytes, processes, pages: _ } = *self;
        let named = [
            (timeout_ms, "timeout_ms"),
            (memory_bytes, "memory_bytes"),
            (output_bytes, "output_bytes"),
            (file_bytes, "file_bytes"),
            (processes, "processes"),
        ];
        named.into_iter().find(|(value, _)| *value == 0).map(|(_, name)| name)
    }
}

/// Everything that will be done, and nothing else: this is what the digest covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionSpec {
    pub v: u8,
    pub run: RunId,
    pub agent: IdentityId,
    /// The version of the scope under which it was sealed.
    pub scope: Digest,
    pub tool: ToolName,
    pub tool_version: Digest,
    pub kind: ActionKind,
    /// The program and its arguments, exactly as they will be handed to the kernel.
    pub argv: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_digest: Option<Digest>,
    pub environment: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    pub files: Vec<FileOperand>,
    pub outputs: Vec<String>,
    /// Whom its cage may reach, and nobody else. Without any it has no network at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<Opening>,
    /// Credentials of the team that are put into its requests, and for whom. Names, never values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialUse>,
    pub profile: String,
    /// What that profile amounts to: a worker whose profile of that name is another one does not run it. Older builds
    /// sealed the name alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_digest: Option<Digest>,
    pub limits: Limits,
}

impl ActionSpec {
    /// Whether somebody outside of the run's own workspace may notice it: by what kind of act it is, or because its program
    /// reaches others. Searching and looking change nothing for anybody.
    pub const fn reaches_others(&self) -> bool {
        let looks = matches!(self.kind, ActionKind::SearchWeb | ActionKind::TakeScreenshot);
        self.kind.reaches_others() || (!self.network.is_empty() && !looks)
    }
}

/// A proposal that cannot become an action, with what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsealable {
    #[error("no tool `{0}` is declared; add it to the project's tools file or use one that is")]
    UnknownTool(ToolName),
    #[error("`{tool}` does not take the argument `{argument}`; its definition lists what it takes")]
    Argument { tool: ToolName, argument: String },
    #[error("{what}: {count} given, at most {limit} can be reviewed; split the action")]
    TooMany { what: &'static str, count: usize, limit: usize },
    #[error("{0} contains a NUL byte, which would cut it short")]
    Nul(&'static str),
    #[error("the environment variable `{0}` is not taken: {1}")]
    Variable(String, &'static str),
    #[error(transparent)]
    Path(#[from] BadPath),
    #[error("the path `{0}` is given twice")]
    TwicePath(String),
    #[error("the paths `{0}` and `{1}` cannot both be files: one would be a directory; rename one of them")]
    FileInFile(String, String),
    #[error(
        "the paths `{0}` and `{1}` differ only in letter case, and some file systems take them for one; rename one of them"
    )]
    SameButCase(String, String),
    #[error("`{tool}` reaches {may}, and is not given `{asked}`; its definition says so with `network`")]
    Network { tool: ToolName, may: ToolNetwork, asked: Box<Opening> },
    #[error("the profile `{profile}` of `{tool}` lets nobody reach `{asked}`: its network is {may}")]
    CageNetwork { tool: ToolName, profile: String, may: String, asked: Box<Opening> },
    #[error(transparent)]
    Credential(#[from] CredentialDenied),
    #[error("the time limit {asked} ms is more than the tool's {most} ms")]
    Timeout { asked: u64, most: u64 },
    #[error("the time limit must be at least 1 ms")]
    NoTime,
    #[error("the tool `{0}` was changed since; propose it again")]
    ChangedTool(ToolName),
    #[error("these bytes are not a sealed action: {0}")]
    NotSealed(String),
}

/// A sealed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    spec: ActionSpec,
    bytes: Vec<u8>,
    digest: Digest,
}

impl Action {
    /// Turns a wish into bytes that can be judged, shown, approved and executed.
    pub fn seal(
        proposal: &Proposal,
        tools: &Tools,
        scope: &Scope,
        run: RunId,
        agent: IdentityId,
    ) -> Result<Self, Unsealable> {
        let tool = tools.get(&proposal.tool).ok_or_else(|| Unsealable::UnknownTool(proposal.tool.clone()))?;
        check_arguments(proposal, tool)?;
        check_environment(&proposal.environment)?;
        let network = openings(proposal, tool, tools)?;
        let spec = ActionSpec {
            v: 1,
            run,
            agent,
            scope: scope.version(),
            tool: proposal.tool.clone(),
            tool_version: tool.version(),
            kind: tool.kind,
            argv: argv(tool, proposal),
            program_digest: tool.program_digest,
            environment: proposal.environment.clone(),
            target: proposal.target.clone(),
            files: sorted_files(&proposal.files)?,
            outputs: sorted_outputs(&proposal.outputs, &proposal.files)?,
            credentials: credentials(proposal, tools, &network)?,
            network,
            profile: tool.profile.clone(),
            profile_digest: tools.cage_of(tool),
            limits: limits(tool, proposal.timeout_ms)?,
        };
        let action = Self::from_spec(spec);
        // Canonical JSON rounds numbers beyond 2^53, and two different wishes must never become the same bytes.
        canonical::parse(&action.bytes).map_err(|e| Unsealable::NotSealed(e.to_string()))?;
        Ok(action)
    }

    fn from_spec(spec: ActionSpec) -> Self {
        let bytes = canonical::to_bytes(&spec);
        let digest = Digest::of(&bytes);
        Self { spec, bytes, digest }
    }

    /// Reads an action back from its bytes, which must be the canonical ones: what is shown is what is hashed.
    pub fn open(bytes: &[u8]) -> Result<Self, Unsealable> {
        let not_sealed = |why: String| Unsealable::NotSealed(why);
        let value = canonical::parse(bytes).map_err(|e| not_sealed(e.to_string()))?;
        let spec: ActionSpec = serde_json::from_value(value).map_err(|e| not_sealed(e.to_string()))?;
        let action = Self::from_spec(spec);
        if action.bytes == bytes { Ok(action) } else { Err(not_sealed("they are not in canonical form".to_owned())) }
    }

    pub const fn spec(&self) -> &ActionSpec {
        &self.spec
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

fn argv(tool: &Tool, proposal: &Proposal) -> Vec<String> {
    let program = std::iter::once(tool.program.clone());
    let target = proposal.target.iter().map(Target::to_string);
    program.chain(tool.prefix.iter().cloned()).chain(proposal.arguments.iter().cloned()).chain(target).collect()
}

/// Whom it reaches: what its tool may be given, within what its cage may have.
fn openings(proposal: &Proposal, tool: &Tool, tools: &Tools) -> Result<Vec<Opening>, Unsealable> {
    at_most("openings of the network", proposal.network.len(), MOST_OPENINGS)?;
    let (name, may) = (&proposal.tool, tool.network);
    if let Some(asked) = proposal.network.first().filter(|_| may != ToolNetwork::Named) {
        return Err(Unsealable::Network { tool: name.clone(), may, asked: Box::new(asked.clone()) });
    }
    let target = proposal.target.iter().filter(|_| may != ToolNetwork::None).cloned().map(Opening::all_of);
    let all: BTreeSet<Opening> = target.chain(proposal.network.iter().cloned()).collect();
    let within = tools.cages().network_of(&tool.profile);
    match all.iter().find(|opening| !within.reaches(opening.to())) {
        None => Ok(all.into_iter().collect()),
        Some(asked) => Err(Unsealable::CageNetwork {
            tool: name.clone(),
            profile: tool.profile.clone(),
            may: within.to_string(),
            asked: Box::new(asked.clone()),
        }),
    }
}

/// Which credentials it uses, each for those of its places that the action opens.
fn credentials(proposal: &Proposal, tools: &Tools, network: &[Opening]) -> Result<Vec<CredentialUse>, Unsealable> {
    at_most("credentials", proposal.credentials.len(), MOST_CREDENTIALS)?;
    let usage = |name| tools.credentials().usage(name, &proposal.tool, network);
    Ok(proposal.credentials.iter().map(usage).collect::<Result<_, _>>()?)
}

fn at_most(what: &'static str, count: usize, limit: usize) -> Result<(), Unsealable> {
    if count > limit { Err(Unsealable::TooMany { what, count, limit }) } else { Ok(()) }
}

fn check_arguments(proposal: &Proposal, tool: &Tool) -> Result<(), Unsealable> {
    at_most("arguments", proposal.arguments.len(), MOST_ARGUMENTS)?;
    at_most("bytes of arguments", proposal.arguments.iter().map(String::len).sum(), MOST_ARGUMENT_BYTES)?;
    if proposal.arguments.iter().any(|argument| argument.contains('\0')) {
        return Err(Unsealable::Nul("an argument"));
    }
    match tool.arguments.first_refused(&proposal.arguments) {
        Some(argument) => Err(Unsealable::Argument { tool: proposal.tool.clone(), argument: argument.to_owned() }),
        None => Ok(()),
    }
}

fn check_environment(environment: &BTreeMap<String, String>) -> Result<(), Unsealable> {
    at_most("environment variables", environment.len(), MOST_VARIABLES)?;
    at_most("bytes of environment", environment.values().map(String::len).sum(), MOST_ARGUMENT_BYTES)?;
    for (name, value) in environment {
        let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) || name.as_bytes()[0].is_ascii_digit() {
            return Err(Unsealable::Variable(name.escape_default().to_string(), "names are capitals, digits and `_`"));
        }
        if LOADING_VARIABLES.iter().any(|known| name.starts_with(known)) {
            return Err(Unsealable::Variable(name.clone(), "it can make programs run other code"));
        }
        if value.contains('\0') {
            return Err(Unsealable::Nul("an environment variable"));
        }
    }
    Ok(())
}

fn sorted_files(files: &[FileOperand]) -> Result<Vec<FileOperand>, Unsealable> {
    at_most("files", files.len(), MOST_FILES)?;
    distinct_paths(files.iter().map(|file| file.path.as_str()))?;
    no_path_in_the_way(&files.iter().map(|file| file.path.as_str()).collect())?;
    let mut sorted = files.to_vec();
    sorted.sort();
    Ok(sorted)
}

fn sorted_outputs(outputs: &[String], files: &[FileOperand]) -> Result<Vec<String>, Unsealable> {
    at_most("outputs", outputs.len(), MOST_FILES)?;
    distinct_paths(outputs.iter().map(String::as_str))?;
    // A program may change an input file and return it as an output, so the same path may be in both lists.
    let all: BTreeSet<&str> =
        files.iter().map(|file| file.path.as_str()).chain(outputs.iter().map(String::as_str)).collect();
    no_path_in_the_way(&all)?;
    let mut sorted = outputs.to_vec();
    sorted.sort();
    Ok(sorted)
}

fn distinct_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), Unsealable> {
    let mut seen = BTreeSet::new();
    for path in paths {
        ScopePath::new(path.as_bytes())?;
        if !seen.insert(path) {
            return Err(Unsealable::TwicePath(path.to_owned()));
        }
    }
    Ok(())
}

/// Checks that all paths can be files of one workspace, also on a file system that ignores letter case. A check at execution time
/// would be too late: a reviewer would already have approved an action that cannot be executed.
fn no_path_in_the_way(paths: &BTreeSet<&str>) -> Result<(), Unsealable> {
    let mut folded: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        if let Some(other) = folded.insert(path.to_lowercase(), path) {
            return Err(Unsealable::SameButCase(other.to_owned(), (*path).to_owned()));
        }
    }
    for (key, path) in &folded {
        let above = key.match_indices('/').find_map(|(slash, _)| folded.get(&key[..slash]));
        if let Some(file) = above {
            return Err(Unsealable::FileInFile((*file).to_owned(), (*path).to_owned()));
        }
    }
    Ok(())
}

fn limits(tool: &Tool, asked_timeout_ms: Option<u64>) -> Result<Limits, Unsealable> {
    match asked_timeout_ms {
        None => Ok(tool.limits),
        Some(0) => Err(Unsealable::NoTime),
        Some(asked) if asked > tool.limits.timeout_ms => {
            Err(Unsealable::Timeout { asked, most: tool.limits.timeout_ms })
        }
        Some(timeout_ms) => Ok(Limits { timeout_ms, ..tool.limits }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::scope::ScopeDraft;

    const TOOLS: &str = r#"
        [sh]
        program = "/bin/sh"
        kind = "execute_code"
        prefix = ["-c"]
        [nmap]
        program = "/usr/bin/nmap"
        kind = "network_scan"
        arguments.only = { flags = ["-sV", "-Pn"], options = ["-p"] }
    "#;

    fn seal_with(tools: &str, proposal: &serde_json::Value) -> Result<Action, Unsealable> {
        let proposal: Proposal = serde_json::from_value(proposal.clone()).expect("a proposal");
        let scope = Scope::lock(ScopeDraft::default());
        let (run, agent) = (RunId::from_uuid(Uuid::from_u128(1)), IdentityId::from_uuid(Uuid::from_u128(2)));
        Action::seal(&proposal, &Tools::parse(tools).unwrap(), &scope, run, agent)
    }

    fn seal(proposal: serde_json::Value) -> Result<Action, Unsealable> {
        seal_with(TOOLS, &proposal)
    }

    fn digest(proposal: serde_json::Value) -> Digest {
        seal(proposal).expect("a sealable proposal").digest()
    }

    #[test]
    fn the_target_is_the_last_argument_and_the_prefix_comes_first() {
        let scan =
            serde_json::json!({"tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"], "target": "10.0.0.5"});
        assert_eq!(seal(scan).unwrap().spec().argv, ["/usr/bin/nmap", "-sV", "-Pn", "-p", "1-1000", "10.0.0.5"]);
        assert_eq!(
            seal(serde_json::json!({"tool": "sh", "arguments": ["true"]})).unwrap().spec().argv,
            ["/bin/sh", "-c", "true"]
        );
    }

    #[test]
    fn the_agents_own_words_are_not_part_of_the_digest_and_everything_else_is() {
        let file = serde_json::json!({"path": "a.txt", "digest": Digest::of(b"a"), "size_bytes": 1});
        let base = serde_json::json!({"tool": "sh", "arguments": ["true"], "environment": {"A": "1"}, "files": [file], "outputs": ["o"], "timeout_ms": 5});
        let reworded = |words: &str| {
            let mut proposal = base.clone();
            proposal["justification"] = words.into();
            digest(proposal)
        };
        assert_eq!(reworded("please"), reworded("this is perfectly safe"));
        let changes = [
            ("/arguments/0", serde_json::json!("false")),
            ("/environment/A", serde_json::json!("2")),
            ("/files/0/digest", serde_json::json!(Digest::of(b"b"))),
            ("/files/0/path", serde_json::json!("b.txt")),
            ("/outputs/0", serde_json::json!("p")),
            ("/timeout_ms", serde_json::json!(6)),
        ];
        for (pointer, value) in changes {
            let mut changed = base.clone();
            *changed.pointer_mut(pointer).expect("a path into the proposal") = value;
            assert_ne!(digest(changed), digest(base.clone()), "{pointer}");
        }
    }

    #[test]
    fn a_changed_tool_definition_changes_the_digest() {
        let proposal = serde_json::json!({"tool": "sh", "arguments": ["true"]});
        let longer = TOOLS.replace("prefix = [\"-c\"]", "prefix = [\"-c\"]\nlimits.timeout_ms = 7");
        assert_ne!(seal_with(TOOLS, &proposal).unwrap().digest(), seal_with(&longer, &proposal).unwrap().digest());
    }

    #[test]
    fn what_cannot_be_reviewed_or_hides_something_is_refused() {
        let sh = |more: serde_json::Value| {
            let mut proposal = serde_json::json!({"tool": "sh", "arguments": ["true"]});
            proposal.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            seal(proposal).unwrap_err()
        };
        assert!(matches!(sh(serde_json::json!({"tool": "rm"})), Unsealable::UnknownTool(_)));
        assert!(matches!(sh(serde_json::json!({"arguments": vec!["a"; 513]})), Unsealable::TooMany { .. }));
        assert!(matches!(sh(serde_json::json!({"arguments": ["a".repeat(40_000)]})), Unsealable::TooMany { .. }));
        assert!(matches!(sh(serde_json::json!({"arguments": ["a\0b"]})), Unsealable::Nul(_)));
        for name in ["LD_PRELOAD", "PAGER", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "PATH", "lower", "", "1A", "A=B"] {
            assert!(matches!(sh(serde_json::json!({"environment": {name: "x"}})), Unsealable::Variable(..)), "{name}");
        }
        let file = serde_json::json!({"path": "../x", "digest": Digest::of(b""), "size_bytes": 0});
        assert!(matches!(sh(serde_json::json!({"files": [file]})), Unsealable::Path(_)));
        assert!(matches!(sh(serde_json::json!({"outputs": ["a", "a"]})), Unsealable::TwicePath(_)));
        assert!(matches!(sh(serde_json::json!({"timeout_ms": 120_001})), Unsealable::Timeout { .. }));
        assert!(matches!(sh(serde_json::json!({"timeout_ms": 0})), Unsealable::NoTime));
    }

    #[test]
    fn paths_that_exclude_each_other_are_not_sealed() {
        let sealed = |files: &[&str], outputs: &[&str]| {
            let operand = |path: &&str| serde_json::json!({"path": path, "digest": Digest::of(b""), "size_bytes": 0});
            let files: Vec<_> = files.iter().map(operand).collect();
            seal(serde_json::json!({"tool": "sh", "arguments": ["true"], "files": files, "outputs": outputs}))
        };
        let in_file = [(vec!["a", "a/b"], vec![]), (vec![], vec!["a/b/c", "a/b"]), (vec!["a"], vec!["a/b"])];
        let in_file = in_file.into_iter().chain([(vec!["a/b"], vec!["a"]), (vec!["A"], vec!["a/b"])]);
        for (files, outputs) in in_file {
            let refused = sealed(&files, &outputs);
            assert!(matches!(refused, Err(Unsealable::FileInFile(..))), "{files:?} {outputs:?}: {refused:?}");
        }
        let case = [(vec!["Makefile", "makefile"], vec![]), (vec![], vec!["a/B", "a/b"]), (vec!["É"], vec!["é"])];
        for (files, outputs) in case {
            let refused = sealed(&files, &outputs);
            assert!(matches!(refused, Err(Unsealable::SameButCase(..))), "{files:?} {outputs:?}: {refused:?}");
        }
        assert!(sealed(&["a", "b/c", "a.b/c"], &["a", "ab", "b/d"]).is_ok(), "a file may be handed back");
    }

    #[test]
    fn sealed_bytes_open_to_the_same_action_and_any_other_spelling_is_refused() {
        let action = seal(serde_json::json!({"tool": "sh", "arguments": ["true"]})).unwrap();
        assert_eq!(Action::open(action.bytes()).unwrap(), action);
        let mut spaced = action.bytes().to_vec();
        spaced.push(b' ');
        assert!(matches!(Action::open(&spaced), Err(Unsealable::NotSealed(_))));
    }

    proptest! {
        #[test]
        fn every_flipped_bit_changes_the_digest_or_is_refused(at in 0usize..600, bit in 0u8..8) {
            let action = seal(serde_json::json!({"tool": "sh", "arguments": ["echo one"]})).unwrap();
            let mut bytes = action.bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            if let Ok(other) = Action::open(&bytes) {
                prop_assert_ne!(other.digest(), action.digest());
            }
        }

        #[test]
        fn arguments_reach_argv_unchanged(words in prop::collection::vec("[^\0]{0,12}", 0..8)) {
            let action = seal(serde_json::json!({"tool": "sh", "arguments": words})).unwrap();
            prop_assert_eq!(&action.spec().argv[2..], &words[..]);
        }
    }
}
