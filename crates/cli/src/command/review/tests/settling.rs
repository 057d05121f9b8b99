//! What was interrupted is settled where it is looked at: run again or given up, with a reason, on the attempt that was shown.

use placet_domain::action::ActionStatus;

use super::*;
use crate::command::review::row::rows;

fn lost(number: u32, tier: &str, attempt: u32) -> Card {
    let mut view = card_of(number, tier, "sh", &["/bin/sh", "-c", "make deploy"], "It is needed.");
    (view.detail.action.status, view.detail.action.attempt) = (ActionStatus::Interrupted, attempt);
    view.detail.interruption = serde_json::from_value(json!({
        "attempt": attempt, "worker": id("idn", 7), "worker_name": "w1\u{202e}", "leased_at": "2026-01-31T09:00:00.000Z",
        "started_at": "2026-01-31T09:00:01.000Z", "heard_at": "2026-01-31T09:04:01.000Z",
        "interrupted_at": "2026-01-31T09:05:31.000Z",
    }))
    .unwrap();
    card::of_action(&view, None)
}

/// Somebody looks at what was interrupted.
fn at_lost(tier: &str, attempt: u32) -> Sitting {
    let mut row = waiting(9, tier, "sh", 0);
    row["action"]["status"] = json!("INTERRUPTED");
    row["action"]["title"] = json!("sh -c make deploy");
    let inbox = InboxView { interrupted: vec![serde_json::from_value(row).unwrap()], ..inbox() };
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    assert_eq!(sitting.listed(&inbox, None), [Intent::Look(act(9))]);
    sitting.looked(lost(9, tier, attempt));
    sitting.drawn();
    sitting
}

#[test]
fn d9_a_card_says_which_worker_had_it_which_attempt_it_was_and_when_it_was_lost() {
    let body = anstream::adapter::strip_str(&lost(9, "B", 2).body).to_string();
    for told in [
        "Interrupted: nobody knows how far it got",
        "worker   w1⟦U+202E⟧ (…00000007)",
        "attempt  2",
        "started  2026-01-31T09:00:01.000Z",
        "heard    2026-01-31T09:04:01.000Z",
        "given up 2026-01-31T09:05:31.000Z",
        "after    5m, the last 1m in silence",
    ] {
        assert!(body.contains(told), "`{told}` is not told:\n{body}");
    }
    let shown = screen(&at_lost("B", 2));
    assert!(shown.contains("B one sh -c make deploy") && shown.contains("interrupted"), "{shown}");
    assert!(foot(&at_lost("B", 2)).contains("a run again  r give up"), "{shown}");
}

#[test]
fn d9_what_was_interrupted_is_run_again_or_given_up_with_a_reason_on_the_attempt_that_was_shown() {
    for (typed_in, verb, words) in [
        ("ait only reads\r", Verb::Retry, "it only reads"),
        ("rit may have sent it\r", Verb::GiveUp, "it may have sent it"),
    ] {
        let mut sitting = at_lost("B", 2);
        let intents = strokes(&mut sitting, typed_in);
        let Decision { subject, verb: meant, number, words: said, .. } = decision(&intents);
        assert_eq!((*subject, *meant, *number, said.as_str()), (act(9), verb, Some(2), words));
    }
    let mut silent = at_lost("B", 2);
    assert_eq!(strokes(&mut silent, "a\r"), [], "without a reason nothing happens");
    assert!(foot(&silent).contains("say why"), "{}", foot(&silent));
}

#[test]
fn d9_where_two_people_are_asked_it_is_run_again_with_the_tools_name_and_given_up_without() {
    let mut sitting = at_lost("C", 1);
    assert_eq!(strokes(&mut sitting, "ayes\r"), []);
    assert!(foot(&sitting).contains("type `sh` to run it again"), "{}", foot(&sitting));
    let intents = strokes(&mut sitting, "\u{15}sh\rI looked at the machine\r");
    assert_eq!((decision(&intents).verb, decision(&intents).words.as_str()), (Verb::Retry, "I looked at the machine"));
    let mut sitting = at_lost("C", 1);
    assert_eq!(decision(&strokes(&mut sitting, "rnot wanted\r")).verb, Verb::GiveUp);
}

#[test]
fn d9_what_was_interrupted_again_meanwhile_is_another_question() {
    let mut sitting = at_lost("B", 1);
    sitting.looked(lost(9, "B", 2));
    assert_eq!(strokes(&mut sitting, "ait only reads"), []);
    assert!(foot(&sitting).contains("changed: press enter to look again"), "{}", foot(&sitting));
}

#[test]
fn d9_nothing_else_is_offered_for_what_was_interrupted() {
    for key in ["s", "e", "x", "w", "l", "u", "m"] {
        let mut sitting = at_lost("B", 1);
        assert_eq!(strokes(&mut sitting, key), [], "{key}");
        assert!(!foot(&sitting).contains("enter sends it"), "{key}: {}", foot(&sitting));
    }
}

#[test]
fn b4_rows_tell_what_would_be_done_and_spell_out_what_deceives() {
    let mut row = waiting(2, "B", "sh", 3);
    row["action"]["title"] = json!(format!("sh -c echo ok{}; rm \u{202e}docs", " ".repeat(300)));
    let listed = inbox_of(&[row]);
    assert!(rows(&listed)[0].what.starts_with("sh -c echo ok"));
    for (size, seen) in [
        (USUAL, "B one sh -c echo ok⟦300×U+0020⟧…"),
        (Size { columns: 160, rows: 50 }, "B one sh -c echo ok⟦300×U+0020⟧; rm ⟦U+202E⟧docs"),
    ] {
        let mut sitting = Sitting::new(size, Letters::All, NOW_MS);
        sitting.listed(&listed, None);
        let shown = screen(&sitting);
        let beginning: String = seen.chars().take(30).collect();
        assert!(shown.contains(&beginning) && !shown.contains('\u{202e}'), "{shown}");
        assert!(shown.contains("tom · 3m · 59m left · +3"), "{shown}");
        assert!(shown.lines().all(|line| crate::terminal::screen::columns(line) <= size.columns), "{shown}");
    }
}
