//! Paths that were seen, as a list that a person can read.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::scope::UrlPath;

use crate::rules::PathRule;

/// Of one directory so many paths are listed; more are taken together.
pub(super) const MOST_LISTED: usize = 8;

/// Exact paths, and directories where too many were seen. The root of a host never stands for what lies in it.
pub(super) fn narrowest(seen: &BTreeSet<&UrlPath>) -> BTreeSet<PathRule> {
    let mut directories: BTreeMap<&str, Vec<&UrlPath>> = BTreeMap::new();
    for path in seen {
        directories.entry(directory(path)).or_default().push(path);
    }
    directories.into_iter().flat_map(|(directory, paths)| in_directory(directory, &paths)).collect()
}

fn in_directory(directory: &str, paths: &[&UrlPath]) -> Vec<PathRule> {
    let together = directory.parse().ok().filter(|_| directory != "/" && paths.len() > MOST_LISTED);
    match together {
        Some(directory) => vec![PathRule::Below(directory)],
        None => paths.iter().map(|&path| PathRule::Exactly(path.clone())).collect(),
    }
}

/// Up to and with the last slash.
fn directory(path: &UrlPath) -> &str {
    let text = path.as_str();
    &text[..text.rfind('/').map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(paths: &[String]) -> Vec<String> {
        let paths: Vec<UrlPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
        narrowest(&paths.iter().collect()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn few_paths_are_listed_and_many_of_one_directory_are_taken_together() {
        assert_eq!(rules(&["/a".into(), "/b/c".into()]), ["=/a", "=/b/c"]);
        let many: Vec<String> = (0..=MOST_LISTED).map(|number| format!("/items/{number}")).collect();
        assert_eq!(rules(&many), ["/items/"]);
        assert_eq!(rules(&many[..MOST_LISTED]).len(), MOST_LISTED);
    }

    #[test]
    fn the_root_of_a_host_never_stands_for_what_lies_in_it() {
        let many: Vec<String> = (0..50).map(|number| format!("/{number}")).collect();
        assert_eq!(rules(&many).len(), 50);
    }
}
