//! Where somebody probably wanted to go who asks for an address at which there is nothing: by an id in it, or by a page of nearly that name.
//!
//! A guess from the address alone. What is there is told by the page that it leads to, to whoever may see it.

use placet_domain::id::{ActionId, IdentityId, RunId};

/// Pages by their names, and by what others call them.
const PAGES: &[(&str, &str)] = &[
    ("/", "inbox"),
    ("/", "queue"),
    ("/", "home"),
    ("/", "actions"),
    ("/runs", "runs"),
    ("/decisions", "decisions"),
    ("/me", "me"),
    ("/orders", "orders"),
    ("/agents", "agents"),
    ("/workers", "workers"),
    ("/policy", "policy"),
    ("/policy", "rules"),
    ("/policy", "tools"),
    ("/ledger", "ledger"),
    ("/ledger", "audit"),
    ("/settings", "settings"),
    ("/settings", "users"),
    ("/find", "search"),
    ("/help", "help"),
    ("/enter", "login"),
];
/// As many letters as are typed wrong at once: with more it is another word.
const MOST_SLIPS: usize = 2;

/// The address of a page, if there is one that was probably meant.
pub(super) fn meant(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let thing = parts.iter().find_map(|part| page_of(part));
    thing.or_else(|| named(parts.first()?))
}

/// The page of what has this id.
fn page_of(part: &str) -> Option<String> {
    let is = |kind: &str| part.starts_with(kind);
    match part {
        id if is("act_") => id.parse::<ActionId>().ok().map(|id| format!("/actions/{id}")),
        id if is("run_") => id.parse::<RunId>().ok().map(|id| format!("/runs/{id}")),
        id if is("idn_") => id.parse::<IdentityId>().ok().map(|id| format!("/agents/{id}")),
        _ => None,
    }
}

/// The page whose name is nearest, if any is near.
fn named(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let most = MOST_SLIPS.min(word.chars().count() / 2);
    let near = PAGES.iter().map(|(page, name)| (slips(&word, name), *page)).min_by_key(|(slips, _)| *slips)?;
    (near.0 <= most).then(|| near.1.to_owned())
}

/// How many letters have to be put in, left out or exchanged to make one word of the other.
fn slips(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (index, letter) in (1..).zip(one.chars()) {
        let mut before = std::mem::replace(&mut row[0], index);
        for (at, other) in (1..).zip(other.chars()) {
            let same = before + usize::from(letter != other);
            before = row[at];
            row[at] = same.min(before + 1).min(row[at - 1] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_an_address_with_an_id_or_nearly_the_name_of_a_page_leads_there_and_nonsense_leads_nowhere() {
        let id = "0".repeat(32);
        for (asked, there) in [
            (format!("/action/act_{id}"), Some(format!("/actions/act_{id}"))),
            (format!("/projects/x/runs/run_{id}/steps"), Some(format!("/runs/run_{id}"))),
            ("/run".to_owned(), Some("/runs".to_owned())),
            ("/Setings/password".to_owned(), Some("/settings".to_owned())),
            ("/queue".to_owned(), Some("/".to_owned())),
            ("/policies".to_owned(), None),
            ("/act_1".to_owned(), None),
            ("/wp-login.php".to_owned(), None),
            ("/x".to_owned(), None),
        ] {
            assert_eq!(meant(&asked), there, "{asked}");
        }
    }
}
