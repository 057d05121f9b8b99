//! What git is told before it is asked anything: settings and variables, each with its reason.
//!
//! Settings given on the command line win over those of the repository, and reach programs that git starts itself.

/// Where git and its parts are looked for. Never the caller's own list, which may name directories others write to.
pub(super) const PROGRAM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Settings, each with its reason.
pub(super) const SETTINGS: &[(&str, &str, &str)] = &[
    ("core.hooksPath", "/dev/null", "hooks are programs"),
    ("core.fsmonitor", "false", "a monitor is a program, also in submodules"),
    ("core.attributesFile", "/dev/null", "attributes of the user choose filters"),
    ("core.sshCommand", "false", "nothing is fetched"),
    ("core.askPass", "", "nobody is asked"),
    ("core.editor", "false", "nobody edits"),
    ("core.pager", "cat", "nobody reads along"),
    ("core.alternateRefsCommand", "false", "it is a program"),
    ("core.fsync", "all", "what was taken over survives a crash"),
    ("core.bigFileThreshold", "32m", "larger objects are streamed, not kept in memory"),
    ("core.excludesFile", "/dev/null", "rules of the user hide files"),
    ("core.ignoreCase", "false", "a file that differs from a tracked one in case alone is another file"),
    ("core.gitProxy", "none", "a proxy is a program"),
    ("core.filesRefLockTimeout", "10000", "whoever moves a branch at the same time is waited for"),
    ("core.packedRefsTimeout", "10000", "whoever packs branches at the same time is waited for"),
    ("core.sparseCheckout", "false", "a worktree is whole, and nothing in it is hidden"),
    ("core.splitIndex", "false", "an index is one file"),
    ("core.untrackedCache", "false", "what is not tracked is looked at, not remembered"),
    ("core.quotePath", "true", "names in patches are quoted in one way"),
    ("credential.helper", "", "helpers are programs"),
    ("checkout.workers", "1", "one caller takes one processor, unless it says otherwise"),
    ("diff.external", "", "it is a program"),
    ("gpg.program", "false", "it is a program"),
    ("commit.gpgSign", "false", "signing starts a program"),
    ("diff.orderFile", "/dev/null", "an order is a file of somebody's choice"),
    ("log.showSignature", "false", "checking signatures starts a program"),
    ("tag.gpgSign", "false", "signing starts a program"),
    ("push.gpgSign", "false", "signing starts a program"),
    ("interactive.diffFilter", "", "it is a program"),
    ("gc.auto", "0", "housekeeping is the owner's"),
    ("maintenance.auto", "false", "housekeeping is the owner's"),
    ("pack.threads", "1", "one caller takes one processor"),
    ("protocol.allow", "never", "nothing is fetched, by whatever means"),
    ("protocol.ext.allow", "never", "this one would run a program"),
    ("safe.bareRepository", "explicit", "a directory that looks like a repository is none"),
    ("submodule.recurse", "false", "submodules have settings of their own"),
    ("transfer.fsckObjects", "true", "objects are checked wherever they come in"),
];

/// Variables, each with its reason. There are no others but those of one call.
pub(super) const VARIABLES: &[(&str, &str, &str)] = &[
    ("PATH", PROGRAM_PATH, "programs of the system only"),
    ("HOME", "/nonexistent", "no settings of a user"),
    ("LC_ALL", "C", "messages in one language"),
    ("GIT_CONFIG_GLOBAL", "/dev/null", "no settings of a user"),
    ("GIT_CONFIG_SYSTEM", "/dev/null", "no settings of the machine"),
    ("GIT_CONFIG_NOSYSTEM", "1", "no settings of the machine"),
    ("GIT_ATTR_NOSYSTEM", "1", "no attributes of the machine"),
    ("GIT_NO_REPLACE_OBJECTS", "1", "an object is what its name says"),
    ("GIT_NO_LAZY_FETCH", "1", "what is missing is missing"),
    ("GIT_LITERAL_PATHSPECS", "1", "a path is a path"),
    ("GIT_OPTIONAL_LOCKS", "0", "asking changes nothing"),
    ("GIT_TERMINAL_PROMPT", "0", "nobody is asked"),
    ("GIT_EDITOR", "false", "nobody edits"),
    ("GIT_SEQUENCE_EDITOR", "false", "nobody edits"),
    ("GIT_PAGER", "cat", "nobody reads along"),
    ("GIT_SSH_COMMAND", "false", "nothing is fetched"),
    ("GIT_ASKPASS", "false", "nobody is asked"),
    ("GIT_AUTHOR_NAME", "placet", "the log of a branch names who moved it"),
    ("GIT_AUTHOR_EMAIL", "placet@localhost", "the log of a branch names who moved it"),
    ("GIT_COMMITTER_NAME", "placet", "the log of a branch names who moved it"),
    ("GIT_COMMITTER_EMAIL", "placet@localhost", "the log of a branch names who moved it"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_reason_and_is_given_once() {
        for table in [SETTINGS, VARIABLES] {
            let mut names: Vec<&str> = table.iter().map(|(name, _, _)| *name).collect();
            assert!(table.iter().all(|(_, _, reason)| !reason.is_empty()));
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.len());
        }
    }
}
