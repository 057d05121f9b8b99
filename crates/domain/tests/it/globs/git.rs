//! Git itself, asked which texts a pattern matches.
//!
//! Two of git's own short cuts would spoil the comparison. A pathspec also matches what it equals letter by letter, and git
//! cuts the part before the first wildcard off a pattern, which gives a `**` behind it another meaning. So each pattern is
//! asked as `?[z]/pattern` about `<n>z/text`: the wildcard comes first, and nothing equals anything.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use placet_domain::scope::{Case, Slash};
use tempfile::TempDir;

/// One byte each, so that one `?` stands for all of them.
pub(super) const NUMBERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXY_=+,@%~";

/// A repository without files: only an index of names, and attributes that tell which pattern matched.
pub(super) struct Git {
    dir: TempDir,
    texts: Vec<String>,
}

impl Git {
    pub(super) fn knowing(texts: &[String]) -> Self {
        assert!(texts.len() <= NUMBERS.len());
        let git = Self { dir: tempfile::tempdir().expect("a directory"), texts: texts.to_vec() };
        git.ask(&["init", "--quiet"], b"");
        let blob = git.ask(&["hash-object", "-w", "--stdin"], b"");
        let blob = String::from_utf8_lossy(&blob).trim().to_owned();
        let index: String = git.names().map(|name| format!("100644 {blob} 0\t{name}\0")).collect();
        git.ask(&["update-index", "-z", "--index-info"], index.as_bytes());
        git
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.texts.iter().zip(NUMBERS).map(|(text, number)| format!("{}z/{text}", char::from(*number)))
    }

    /// Which of the texts a list of names stands for.
    fn numbered(names: impl Iterator<Item = u8>) -> BTreeSet<usize> {
        names.filter_map(|first| NUMBERS.iter().position(|number| *number == first)).collect()
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        git.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("LC_ALL", "C")]);
        let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git is installed");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("git answers");
        writer.join().expect("no panic").expect("git reads");
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    }

    /// The texts that a pathspec with the meaning of this mode matches.
    pub(super) fn matched(&self, pattern: &str, slash: Slash, case: Case) -> BTreeSet<usize> {
        let magic = match (slash, case) {
            (Slash::Stops, Case::Exact) => ":(glob)",
            (Slash::Stops, Case::Ignore) => ":(glob,icase)",
            (Slash::IsCrossed, Case::Exact) => "",
            (Slash::IsCrossed, Case::Ignore) => ":(icase)",
        };
        let found = self.ask(&["ls-files", "-z", "--", &format!("{magic}?[z]/{pattern}")], b"");
        Self::numbered(found.split(|byte| *byte == 0).filter_map(|name| name.first().copied()))
    }

    /// The same for many patterns at once, by attributes, which know only the path modes.
    pub(super) fn matched_at_once(&self, patterns: &[String], case: Case) -> Vec<BTreeSet<usize>> {
        let lines: String = patterns.iter().enumerate().map(|(n, pattern)| format!("/?[z]/{pattern} n{n}\n")).collect();
        std::fs::write(self.dir.path().join(".git/info/attributes"), lines).expect("attributes can be written");
        let ignore_case = format!("core.ignoreCase={}", case == Case::Ignore);
        let names: String = self.names().map(|name| name + "\0").collect();
        let told = self.ask(&["-c", &ignore_case, "check-attr", "-z", "-a", "--stdin"], names.as_bytes());
        let mut matched = vec![BTreeSet::new(); patterns.len()];
        let told: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
        for triple in told.chunks_exact(3) {
            let number =
                std::str::from_utf8(triple[1]).ok().and_then(|name| name.strip_prefix('n')?.parse::<usize>().ok());
            matched[number.expect("one of our attributes")]
                .extend(Self::numbered(triple[0].first().copied().into_iter()));
        }
        matched
    }
}
