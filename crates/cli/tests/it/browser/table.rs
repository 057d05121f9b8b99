//! The reviewed table of every page and every form, and of the walks that get there in real Chromium.
//!
//! The routes are the product's own. A walk must do what the table says of it and nothing else, so the table is true; and it has a walk
//! for everything, so a new page or form is missing until somebody walks to it. `UPDATE_EXPECT=1` writes a walk's part of it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use placet_web::page_table;

const PLAIN: &str = "-plain";
/// Only a script can ask a browser for a passkey, and whoever has one signs with it what changes their doors.
const NEEDS_SCRIPT: &[&str] = &[
    "POST /enter/passkey",
    "POST /settings/passkeys",
    "POST /settings/passkeys/remove",
    "POST /settings/people/{identity}/passkeys/remove",
    "POST /settings/people/{identity}/token",
];
/// What is got by pages rather than looked at: nothing of it is for eyes, or it is on the way to a page.
const NOT_LOOKED_AT: &[&str] = &[
    "GET /enter/passkey",
    "GET /enter/provider",
    "GET /enter/provider/back",
    "GET /language/{code}",
    "GET /assets/{name}",
    "GET /live",
    "GET /actions/{action}/question",
    "GET /evidence/{project}/{digest}",
    "GET /settings/passkeys/question",
    "GET /settings/doors/question",
];

/// Route by route, in the order of the product, who walks there.
type Table = Vec<(String, BTreeSet<String>)>;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/browser/walks.txt")
}

fn routes() -> Vec<String> {
    page_table().into_iter().map(|(method, path, _)| format!("{method} {path}")).collect()
}

fn reviewed() -> Table {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let route = format!("{} {}", words.next().unwrap_or_default(), words.next().unwrap_or_default());
        (route, words.map(str::to_owned).collect())
    };
    text.lines().map(row).collect()
}

fn written(table: &Table) -> String {
    let width = table.iter().map(|(route, _)| route.len()).max().unwrap_or_default();
    let line = |(route, walks): &(String, BTreeSet<String>)| {
        let walks: Vec<&str> = walks.iter().map(String::as_str).collect();
        format!("{route:width$}  {}", walks.join(" ")).trim_end().to_owned() + "\n"
    };
    table.iter().map(line).collect()
}

/// The route that answers this: of those that fit, the one with the most words of its own.
fn route_of<'r>(routes: &'r [String], told: &str) -> &'r str {
    let is_open = |word: &str| word.starts_with('{');
    let fits = |route: &str| {
        let (words, given): (Vec<&str>, Vec<&str>) = (route.split('/').collect(), told.split('/').collect());
        words.len() == given.len() && words.iter().zip(given).all(|(word, given)| is_open(word) || *word == given)
    };
    let own = |route: &&String| route.split('/').filter(|word| !is_open(word)).count();
    let found = routes.iter().filter(|route| fits(route)).max_by_key(own);
    found.unwrap_or_else(|| panic!("no route of the product answers `{told}`"))
}

/// What a walk told, as its cells of the table: each route with its name, marked where no script ran.
fn cells(name: &str, told: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let routes = routes();
    let mut cells: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in told {
        let (one, mark) = one.strip_suffix(" plain").map_or((one.as_str(), ""), |one| (one, PLAIN));
        cells.entry(route_of(&routes, one).to_owned()).or_default().insert(format!("{name}{mark}"));
    }
    cells
}

fn is_of(name: &str, cell: &str) -> bool {
    cell.strip_suffix(PLAIN).unwrap_or(cell) == name
}

/// A walk went where the table says, and nowhere else.
#[track_caller]
pub(super) fn assert_walked(name: &str, told: &[String]) {
    let found = cells(name, told);
    let mut known = reviewed().into_iter().collect::<BTreeMap<_, _>>();
    let row = |route: String| {
        let mut walks = known.remove(&route).unwrap_or_default();
        walks.retain(|cell| !is_of(name, cell));
        walks.extend(found.get(&route).cloned().unwrap_or_default());
        (route, walks)
    };
    let table: Table = routes().into_iter().map(row).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path(), written(&table)).unwrap();
    }
    let (reviewed, table) = (written(&reviewed()), written(&table));
    let differs: Vec<&str> = table.lines().filter(|line| !reviewed.lines().any(|known| known == *line)).collect();
    assert!(differs.is_empty(), "`{name}` did not walk where walks.txt says:\n{}", differs.join("\n"));
}

#[test]
fn c16_every_page_and_every_form_is_walked_to_by_hand() {
    let table = reviewed();
    let listed: Vec<String> = table.iter().map(|(route, _)| route.clone()).collect();
    assert_eq!(listed, routes(), "walks.txt has every page and form of the product, in its order");
    for (route, walks) in &table {
        let plain = walks.iter().any(|walk| walk.ends_with(PLAIN));
        assert!(walks.iter().any(|walk| !walk.ends_with(PLAIN)), "nobody walks to {route}");
        let is_form = route.starts_with("POST ");
        assert!(!is_form || plain != NEEDS_SCRIPT.contains(&route.as_str()), "{route} is sent without a script too");
        let is_looked_at = is_form || NOT_LOOKED_AT.contains(&route.as_str()) || walks.contains("every-page");
        assert!(is_looked_at, "{route} is looked at light, dark, on a phone and in French");
    }
    for exempt in NEEDS_SCRIPT.iter().chain(NOT_LOOKED_AT) {
        assert!(listed.iter().any(|route| route == exempt), "{exempt} is no route any more");
    }
}

#[test]
fn c16_what_was_walked_to_is_told_by_the_route_that_answers_it() {
    let routes = routes();
    for (told, route) in [
        ("GET /enter/passkey", "GET /enter/passkey"),
        ("GET /enter/abc", "GET /enter/{code}"),
        ("POST /runs/run_1/wishes/2/grant", "POST /runs/{run}/wishes/{number}/grant"),
    ] {
        assert_eq!(route_of(&routes, told), route);
    }
    let told = ["POST /enter plain".to_owned(), "POST /enter".to_owned()];
    let expected: BTreeSet<String> = ["entering", "entering-plain"].map(str::to_owned).into();
    assert_eq!(cells("entering", &told)["POST /enter"], expected);
}
