//! Git itself, asked which texts a pattern matches.
//!
//! Two of git's own short cuts would spoil the comparison. A pathspec also matches what it equals letter by letter, and git
//! cuts the part before the first wildcard off a pattern, which gives a `**` behind it another meaning. So each pattern is
//! asked with a wildcard before it (`[0]12???/pattern`) about names that nothing equals (`012345/text`). The first three
//! digits are the number of the pattern: many of them are asked at once and still answer each for itself.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use placet_domain::scope::{Case, Slash};
use tempfile::TempDir;

/// How many patterns are asked in one call. Each of them looks at the names of all.
const AT_ONCE: usize = 100;

/// A repository without files: only an index of names, and attributes that tell which pattern matched.
pub(super) struct Git {
    dir: TempDir,
    texts: Vec<Vec<u8>>,
}

impl Git {
    pub(super) fn knowing<T: AsRef<[u8]>>(texts: &[T]) -> Self {
        assert!(texts.len() < 1_000, "three digits number a text");
        let texts = texts.iter().map(|text| text.as_ref().to_vec()).collect();
        let git = Self { dir: tempfile::tempdir().expect("a directory"), texts };
        git.ask(&["init", "--quiet"], b"");
        let blob = git.ask(&["hash-object", "-w", "--stdin"], b"");
        let entry = [b"100644 ", blob.trim_ascii(), b" 0\t"].concat();
        let lines: Vec<Vec<u8>> =
            (0..AT_ONCE).flat_map(|n| git.names(n)).map(|name| [&entry[..], &name].concat()).collect();
        git.ask(&["update-index", "-z", "--index-info"], &lines.concat());
        git
    }

    /// The texts as names that answer to one pattern, each with the NUL byte that ends it.
    fn names(&self, pattern: usize) -> impl Iterator<Item = Vec<u8>> {
        let name =
            move |(n, text): (usize, &Vec<u8>)| [format!("{pattern:03}{n:03}/").as_bytes(), text, b"\0"].concat();
        self.texts.iter().enumerate().map(name)
    }

    fn ask<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Vec<u8> {
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
        assert!(output.status.success(), "git {:?}", arguments.first().map(AsRef::as_ref));
        output.stdout
    }

    /// For each pattern, the texts that a pathspec with the meaning of this mode matches.
    pub(super) fn matched<P: AsRef<[u8]>>(&self, patterns: &[P], slash: Slash, case: Case) -> Vec<BTreeSet<usize>> {
        patterns.chunks(AT_ONCE).flat_map(|chunk| self.matched_by_pathspecs(chunk, slash, case)).collect()
    }

    fn matched_by_pathspecs<P: AsRef<[u8]>>(&self, patterns: &[P], slash: Slash, case: Case) -> Vec<BTreeSet<usize>> {
        let magic = match (slash, case) {
            (Slash::Stops, Case::Exact) => ":(glob)",
            (Slash::Stops, Case::Ignore) => ":(glob,icase)",
            (Slash::IsCrossed, Case::Exact) => "",
            (Slash::IsCrossed, Case::Ignore) => ":(icase)",
        };
        let pathspec = |(n, pattern): (usize, &P)| {
            [format!("{magic}[{}]{:02}???/", n / 100, n % 100).as_bytes(), pattern.as_ref()].concat()
        };
        let pathspecs: Vec<Vec<u8>> = patterns.iter().enumerate().map(pathspec).collect();
        let options = ["ls-files", "-z", "--"].map(str::as_bytes);
        let arguments: Vec<&OsStr> =
            options.into_iter().chain(pathspecs.iter().map(Vec::as_slice)).map(OsStr::from_bytes).collect();
        let mut matched = vec![BTreeSet::new(); patterns.len()];
        for name in self.ask(&arguments, b"").split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            matched[number(&name[..3])].insert(number(&name[3..6]));
        }
        matched
    }

    /// For each pattern, the texts that an ignore rule covers: by their own name, or by that of a directory above them.
    pub(super) fn ignored<P: AsRef<[u8]>>(&self, patterns: &[P], case: Case) -> Vec<BTreeSet<usize>> {
        patterns.chunks(AT_ONCE).flat_map(|chunk| self.ignored_by_rules(chunk, case)).collect()
    }

    fn ignored_by_rules<P: AsRef<[u8]>>(&self, patterns: &[P], case: Case) -> Vec<BTreeSet<usize>> {
        let rule = |(n, pattern): (usize, &P)| {
            [format!("/[{}]{:02}???/", n / 100, n % 100).as_bytes(), pattern.as_ref(), b"\n"].concat()
        };
        let rules: Vec<Vec<u8>> = patterns.iter().enumerate().map(rule).collect();
        std::fs::write(self.dir.path().join(".git/info/exclude"), rules.concat()).expect("rules can be written");
        let ignore_case = format!("core.ignoreCase={}", case == Case::Ignore);
        let names: Vec<Vec<u8>> = (0..patterns.len()).flat_map(|n| self.names(n)).collect();
        let options = ["-c", &ignore_case, "check-ignore", "-z", "-v", "--no-index", "--stdin"];
        let told = self.ask(&options, &names.concat());
        let told: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
        let mut ignored = vec![BTreeSet::new(); patterns.len()];
        for row in told.chunks_exact(4) {
            ignored[number(&row[3][..3])].insert(number(&row[3][3..6]));
        }
        ignored
    }

    /// The same as [`Self::matched`] for thousands of patterns at once, by attributes, which know only the path modes.
    pub(super) fn matched_by_attributes(&self, patterns: &[String], case: Case) -> Vec<BTreeSet<usize>> {
        let line = |(n, pattern): (usize, &String)| format!("/?00???/{pattern} n{n}\n");
        let lines: String = patterns.iter().enumerate().map(line).collect();
        std::fs::write(self.dir.path().join(".git/info/attributes"), lines).expect("attributes can be written");
        let ignore_case = format!("core.ignoreCase={}", case == Case::Ignore);
        let names: Vec<Vec<u8>> = self.names(0).collect();
        let told = self.ask(&["-c", &ignore_case, "check-attr", "-z", "-a", "--stdin"], &names.concat());
        let mut matched = vec![BTreeSet::new(); patterns.len()];
        let told: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
        for triple in told.chunks_exact(3) {
            let attribute = triple[1].strip_prefix(b"n").expect("one of our attributes");
            matched[number(attribute)].insert(number(&triple[0][3..6]));
        }
        matched
    }
}

fn number(digits: &[u8]) -> usize {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).expect("a number")
}
