//! The whole queue at the terminal: what was interrupted is in it, and at the end of what was fetched comes the rest.

use super::*;
use crate::command::review::row::{Unlisted, rows};

#[test]
fn c14_what_was_interrupted_is_listed_first_and_runs_out_of_no_time() {
    let mut lost = waiting(9, "B", "curl", 0);
    lost["action"]["status"] = json!("INTERRUPTED");
    let inbox = InboxView { interrupted: vec![serde_json::from_value(lost).unwrap()], ..inbox() };
    let listed: Vec<_> = rows(&inbox).into_iter().map(|row| (row.subject, row.until_ms.is_some())).collect();
    assert_eq!(listed[..2], [(act(9), false), (act(1), true)]);
}

#[test]
fn b4_at_the_end_of_what_was_fetched_more_is_fetched_once_and_is_no_news() {
    let size = Size { columns: 120, rows: 40 };
    let mut sitting = Sitting::new(size, Letters::All, NOW_MS);
    let first = InboxView { next: Some("30-7".to_owned()), runs: Vec::new(), ..inbox() };
    sitting.listed(&first, None);
    assert!(!strokes(&mut sitting, "j").contains(&Intent::More), "not before the end");
    assert!(strokes(&mut sitting, "j").contains(&Intent::More));
    assert!(!strokes(&mut sitting, "jj").contains(&Intent::More), "once");
    let mut whole = first;
    whole.next = None;
    whole.actions.push(serde_json::from_value(waiting(4, "B", "make", 0)).unwrap());
    sitting.listed(&whole, None);
    assert!(sitting.rows.iter().all(|row| !row.is_new), "it was there before");
    assert_eq!(strokes(&mut sitting, "j"), [Intent::Look(act(4))]);
    assert!(!strokes(&mut sitting, "G").contains(&Intent::More), "there is no more");
}

/// Its agent is this person's, or they set it aside.
fn aside(number: u32) -> Value {
    let mut row = waiting(number, "B", "make", 0);
    row["attention"] = json!({ "aside": [{ "who": "ada", "until": "2026-01-31T12:00:00.000Z", "is_yours": true }] });
    row
}

#[test]
fn b4_of_what_is_for_others_and_was_set_aside_a_few_are_listed_and_the_rest_is_counted() {
    let mut listed = inbox_of(&[waiting(1, "C", "nmap", 0), waiting(2, "B", "sh", 3), aside(3)]);
    (listed.waiting, listed.aside) = (45, 7);
    let unlisted = Unlisted::beside(&rows(&listed), &listed);
    assert_eq!(unlisted, Unlisted { others: 40, aside: 6 }, "identical ones are in their row");
    let mut sitting = Sitting::new(Size { columns: 200, rows: 40 }, Letters::All, NOW_MS);
    sitting.listed(&listed, None);
    let shown = sitting.draw().text();
    assert!(shown.contains("Queue 45 · runs 2 · 40 more of others · 6 more aside"), "{shown}");
    // As long as one's own are not all there, those are what is missing.
    listed.next = Some("30-7".to_owned());
    assert_eq!(Unlisted::beside(&rows(&listed), &listed), Unlisted::default());
    // What has a row is not counted again.
    let whole = InboxView { waiting: 5, aside: 1, next: None, ..listed };
    assert!(Unlisted::beside(&rows(&whole), &whole).told().is_empty());
}
