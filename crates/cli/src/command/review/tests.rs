//! Sittings without a terminal: what is seen at several sizes, what strokes mean, and what hostile content cannot do.

mod attend;
mod back;
mod paging;
mod resting;
mod settling;
mod similar;

use placet_domain::digest::Digest;
use placet_wire::api::{CardView, CheckpointView, InboxView, RunView, StandsFor};
use serde_json::{Value, json};

use super::card::{self, Card};
use super::decision::{Decision, Intent, Refused, Verb};
use super::row::Subject;
use super::sitting::{Sitting, Wire};
use crate::terminal::model::Model;
use crate::terminal::rich::Letters;
use crate::terminal::screen::{Ink, Size};
use crate::terminal::stroke::{Stroke, Strokes};

const USUAL: Size = Size { columns: 80, rows: 24 };
/// 2026-01-31T09:30:00Z
const NOW_MS: i64 = 1_769_851_800_000;

fn id(prefix: &str, number: u32) -> String {
    format!("{prefix}_{number:032x}")
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn action(number: u32, tier: &str, tool: &str) -> Value {
    json!({
        "id": id("act", number), "run": id("run", 1), "project": id("prj", 1), "status": "PENDING_APPROVAL",
        "meaning": "Waits for a person.", "tool": tool, "title": format!("{tool} --with arguments"), "agent": "tom", "kind": "execute_code", "digest": digest("action"),
        "review": digest(&format!("review {number}")), "approvals": [], "approvals_missing": 1, "proposer": id("idn", 1),
        "deadline": "2026-01-31T10:29:00.000Z", "attempt": 0,
        "verdict": {
            "tier": tier, "risk": 0.3, "policy": digest("policy"),
            "reasons": [{ "rule": "code.review", "demands": tier, "weight": 0.3, "because": "runs code", "reason": { "code": "rule", "text": "runs code" } }],
        },
    })
}

fn card_of(number: u32, tier: &str, tool: &str, argv: &[&str], words: &str) -> CardView {
    let mut detail = action(number, tier, tool);
    detail["spec"] = json!({
        "v": 1, "run": id("run", 1), "agent": id("idn", 1), "scope": digest("scope"), "tool": tool,
        "tool_version": digest("tool"), "kind": "execute_code", "argv": argv, "environment": {},
        "files": [{ "path": "notes.txt", "digest": digest("file"), "size_bytes": 8 }], "outputs": ["out/a.txt"],
        "profile": "default", "profile_digest": digest("cage"),
        "limits": { "timeout_ms": 1000, "memory_bytes": 1, "output_bytes": 1, "file_bytes": 1, "processes": 1 },
    });
    detail["justification"] = json!(words);
    serde_json::from_value(json!({
        "detail": detail, "since": "2026-01-31T09:27:00.000Z", "agent": "tom", "goal": "try things", "may_decide": true,
        "files": [{ "path": "notes.txt", "digest": digest("file"), "size_bytes": 8, "shown": "text", "text": "one\nthree\n", "before": "one\ntwo\n" }],
        "history": { "approved": 14, "rejected": 1, "succeeded": 13, "failed": 0 }, "approved_by": [], "entries": [],
    }))
    .unwrap()
}

/// Identical ones that the control plane names in a row; of others it tells how many there are.
const MOST_TOLD: u32 = 49;

fn waiting(number: u32, tier: &str, tool: &str, twins: u32) -> Value {
    let twin = |twin: u32| json!({ "id": id("act", 100 + twin), "review": digest(&format!("twin {twin}")), "agent": "eve", "goal": "the same" });
    json!({
        "action": action(number, tier, tool), "since": "2026-01-31T09:27:00.000Z", "agent": "tom", "goal": "try things",
        "twins": (0..twins.min(MOST_TOLD)).map(twin).collect::<Vec<_>>(), "more_twins": twins.saturating_sub(MOST_TOLD),
    })
}

fn inbox_of(actions: &[Value]) -> InboxView {
    let run = |number: u32, why: &str| json!({ "run": id("run", number), "goal": "a plan that waits for somebody", "agent": "bruce", "since": "2026-01-31T08:30:00.000Z", "why": why });
    let runs = [run(7, "plan"), run(8, "checkpoint")];
    serde_json::from_value(json!({ "waiting": actions.len(), "actions": actions, "runs": runs })).unwrap()
}

fn inbox() -> InboxView {
    inbox_of(&[waiting(1, "C", "nmap", 0), waiting(2, "B", "sh", 3), waiting(3, "B", "write-file", 0)])
}

fn nmap() -> Card {
    card::of_action(&card_of(1, "C", "nmap", &["/usr/bin/nmap", "-sV", "10.0.0.5"], "It is needed."), None)
}

fn script() -> Card {
    card::of_action(&card_of(2, "B", "sh", &["/bin/sh", "-c", "make -j2 && ./run"], "Perfectly safe."), None)
}

fn act(number: u32) -> Subject {
    Subject::Action(id("act", number).parse().unwrap())
}

/// A sitting that looks at a script for which one person is asked, drawn.
fn at_a_script(size: Size, letters: Letters) -> Sitting {
    let mut sitting = Sitting::new(size, letters, NOW_MS);
    assert_eq!(sitting.listed(&inbox(), None), [Intent::Look(act(1))]);
    sitting.looked(nmap());
    sitting.drawn();
    assert_eq!(strokes(&mut sitting, "j"), [Intent::Look(act(2))]);
    sitting.looked(script());
    sitting.drawn();
    sitting
}

/// Types, each key a while after the one before.
fn strokes(sitting: &mut Sitting, typed: &str) -> Vec<Intent> {
    let mut intents = Vec::new();
    for stroke in Strokes::default().of(typed.as_bytes()) {
        let now_ms = sitting.now_ms + 400;
        intents.extend(sitting.stroke(&stroke, now_ms));
    }
    intents
}

/// The same, and then nothing for a second.
fn typed(sitting: &mut Sitting, typed: &str) -> Vec<Intent> {
    let mut intents = strokes(sitting, typed);
    let now_ms = sitting.now_ms + 1_000;
    intents.extend(sitting.tick(now_ms));
    intents
}

fn screen(sitting: &Sitting) -> String {
    sitting.draw().text()
}

fn foot(sitting: &Sitting) -> String {
    let screen = screen(sitting);
    screen.lines().rev().take(2).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn decision(intents: &[Intent]) -> &Decision {
    match intents {
        [Intent::Decide(decision)] => decision,
        others => panic!("one decision, not {others:?}"),
    }
}

#[test]
fn b4_screens_at_80_by_24_in_ascii_at_200_by_60_and_one_pane_at_a_time() {
    insta::assert_snapshot!("usual", screen(&at_a_script(USUAL, Letters::All)));
    insta::assert_snapshot!("ascii", screen(&at_a_script(USUAL, Letters::Ascii)));
    insta::assert_snapshot!("large", screen(&at_a_script(Size { columns: 200, rows: 60 }, Letters::All)));
    let mut small = at_a_script(Size { columns: 50, rows: 14 }, Letters::All);
    insta::assert_snapshot!("small_queue", screen(&small));
    strokes(&mut small, "\t");
    insta::assert_snapshot!("small_card", screen(&small));
    let mut keys = at_a_script(USUAL, Letters::All);
    strokes(&mut keys, "?");
    insta::assert_snapshot!("keys", screen(&keys));
    assert_eq!(screen(&at_a_script(Size { columns: 10, rows: 3 }, Letters::All)).trim(), "the window".trim());
}

#[test]
fn b4_approving_takes_two_strokes_and_is_bound_to_what_is_on_the_screen() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert_eq!(typed(&mut sitting, "a"), []);
    let asked = foot(&sitting);
    assert!(asked.contains("a again to approve") && asked.contains(&script().digest()), "{asked}");
    let intents = typed(&mut sitting, "a");
    let Decision { subject, verb, seen, twins, .. } = decision(&intents);
    assert_eq!((*subject, *verb, seen.as_str(), twins.len()), (act(2), Verb::Approve, script().seen.as_str(), 0));
}

#[test]
fn b4_a_key_that_is_held_down_decides_nothing() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let a = Stroke::Letter('a');
    let mut now_ms = sitting.now_ms + 1_000;
    let mut intents = sitting.stroke(&a, now_ms);
    // Half a second until it repeats, then thirty times a second.
    now_ms += 500;
    for _ in 0..90 {
        intents.extend(sitting.stroke(&a, now_ms));
        intents.extend(sitting.tick(now_ms + 20));
        now_ms += 33;
    }
    intents.extend(sitting.tick(now_ms + 10_000));
    assert_eq!(intents, []);
    assert!(foot(&sitting).contains("held down decides nothing"), "{}", foot(&sitting));
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "two strokes still do");
}

#[test]
fn b4_another_key_after_the_second_stroke_does_not_take_it_back_and_escape_does() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert!(matches!(strokes(&mut sitting, "aaj")[..], [Intent::Decide(_)]));
    let mut sitting = at_a_script(USUAL, Letters::All);
    strokes(&mut sitting, "aa");
    let now_ms = sitting.now_ms + 10;
    assert_eq!(sitting.stroke(&Stroke::Escape, now_ms), []);
    assert_eq!(sitting.tick(now_ms + 10_000), []);
}

#[test]
fn b4_whoever_interrupts_or_pastes_after_the_second_stroke_decides_nothing() {
    let others = [
        Stroke::Escape,
        Stroke::Control('c'),
        Stroke::Control('d'),
        Stroke::Control('z'),
        Stroke::Pasted("a".to_owned()),
        Stroke::Unknown,
    ];
    for (keys, other) in ["aa", "a"].iter().flat_map(|keys| others.iter().map(move |other| (keys, other))) {
        let mut sitting = at_a_script(USUAL, Letters::All);
        strokes(&mut sitting, keys);
        let now_ms = sitting.now_ms + 10;
        assert_eq!(sitting.stroke(other, now_ms), [], "{keys} {other:?}");
        assert_eq!(sitting.tick(now_ms + 10_000), [], "{keys} {other:?}");
        assert!(foot(&sitting).contains("nothing was decided"), "{}", foot(&sitting));
        assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "two strokes still do");
    }
}

#[test]
fn b4_what_was_typed_before_a_card_was_drawn_decides_nothing() {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    strokes(&mut sitting, "j");
    assert_eq!(typed(&mut sitting, "aa"), [], "nothing is there yet");
    sitting.looked(script());
    assert!(sitting.awaits_drawing());
    assert_eq!(typed(&mut sitting, "aa"), [], "it is there and nobody has seen it");
    sitting.drawn();
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]));
}

#[test]
fn b4_in_a_window_without_room_for_the_card_nothing_is_decided_until_it_was_looked_at() {
    for key in ["\t", "\r"] {
        let mut sitting = at_a_script(Size { columns: 50, rows: 14 }, Letters::All);
        assert!(!sitting.awaits_drawing(), "the queue alone is seen");
        for keys in ["aa", "rno", "x", "e"] {
            assert_eq!(typed(&mut sitting, keys), [], "{keys}");
        }
        assert!(foot(&sitting).contains("press tab or enter to look"), "{}", foot(&sitting));
        assert_eq!(typed(&mut sitting, &format!("{key}aa")), [], "it has a place now and was not drawn there yet");
        assert!(sitting.awaits_drawing());
        sitting.drawn();
        assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "{key:?}");
    }
}

#[test]
fn b4_a_card_that_left_the_screen_is_not_decided_on_not_even_in_the_midst_of_it() {
    for small in [Size { columns: 50, rows: 14 }, Size { columns: 10, rows: 3 }] {
        let mut sitting = at_a_script(USUAL, Letters::All);
        strokes(&mut sitting, "a");
        sitting.resize(small);
        sitting.drawn();
        assert_eq!(typed(&mut sitting, "a"), []);
        assert_eq!(typed(&mut sitting, "aa"), []);
        sitting.resize(USUAL);
        assert_eq!(typed(&mut sitting, "aa"), [], "not before it is drawn at this size");
        sitting.drawn();
        assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]));
    }
}

#[test]
fn b4_whoever_saw_the_files_alone_has_not_seen_the_card() {
    let mut sitting = at_a_script(Size { columns: 50, rows: 14 }, Letters::All);
    strokes(&mut sitting, "d");
    sitting.drawn();
    assert_eq!(typed(&mut sitting, "aa"), []);
    assert!(foot(&sitting).contains("press d to look at the card"), "{}", foot(&sitting));
    strokes(&mut sitting, "d");
    sitting.drawn();
    assert!(matches!(typed(&mut sitting, "daa")[..], [Intent::Decide(_)]), "the card was seen before its files");
}

#[test]
fn b4_in_a_small_window_enter_shows_what_changed() {
    let mut sitting = at_a_script(Size { columns: 50, rows: 14 }, Letters::All);
    let mut changed = script();
    (changed.seen, changed.body) = (digest("another"), "something else entirely".to_owned());
    sitting.looked(changed.clone());
    strokes(&mut sitting, "\r");
    assert!(screen(&sitting).contains("something else entirely"), "{}", screen(&sitting));
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    assert_eq!(decision(&intents).seen, changed.seen);
}

#[test]
fn b4_what_is_pasted_never_acts_as_keys() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert_eq!(typed(&mut sitting, "\u{1b}[200~aaaarq\r\u{1b}[201~"), []);
    assert_eq!(typed(&mut sitting, "a\u{1b}[200~a\u{1b}[201~"), [], "nor as the second stroke");
}

#[test]
fn b4_whoever_has_decided_a_lot_types_the_name_and_approves_nothing_together() {
    let mut view = card_of(2, "B", "sh", &["/bin/sh", "-c", "make"], "Perfectly safe.");
    view.look_twice = true;
    let braked = || {
        let mut sitting = at_a_script(USUAL, Letters::All);
        strokes(&mut sitting, "k");
        strokes(&mut sitting, "j");
        sitting.looked(card::of_action(&view, None));
        sitting.drawn();
        sitting
    };
    let mut sitting = braked();
    assert_eq!(strokes(&mut sitting, "aa"), [], "two strokes are no yes");
    assert!(strokes(&mut sitting, "\r").is_empty());
    assert!(foot(&sitting).contains("you have decided a lot lately: type `sh` to approve"), "{}", foot(&sitting));
    let decided = strokes(&mut braked(), "ash\r");
    assert!(matches!(decided.as_slice(), [Intent::Decide(decision)] if decision.verb == Verb::Approve), "{decided:?}");
    for together in ["x", "s"] {
        let mut sitting = braked();
        assert_eq!(strokes(&mut sitting, together), [], "{together}");
        assert!(foot(&sitting).contains("look at each by itself"), "{}", foot(&sitting));
    }
    let edited = strokes(&mut braked(), "esmaller\r");
    assert!(matches!(edited.as_slice(), [Intent::Edit { slowly: Some(word), .. }] if word == "sh"), "{edited:?}");
    // To say no takes a reason and no more.
    let rejected = strokes(&mut braked(), "rno\r");
    assert!(matches!(rejected.as_slice(), [Intent::Decide(decision)] if decision.verb == Verb::Reject), "{rejected:?}");
}

#[test]
fn b4_where_two_people_are_asked_the_name_of_the_tool_is_typed() {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    sitting.looked(nmap());
    sitting.drawn();
    assert_eq!(typed(&mut sitting, "aa\r"), []);
    assert!(foot(&sitting).contains("type `nmap` to approve"), "{}", foot(&sitting));
    let intents = typed(&mut sitting, "\u{7f}nmap\r");
    assert_eq!(decision(&intents).seen, nmap().seen);
}

#[test]
fn b4_a_reason_is_needed_and_is_not_lost_when_it_did_not_arrive() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert_eq!(typed(&mut sitting, "r\r"), [], "without a reason nothing is sent");
    let intents = typed(&mut sitting, "too much at once\r");
    let sent = decision(&intents).clone();
    assert_eq!((sent.verb, sent.words.as_str()), (Verb::Reject, "too much at once"));
    assert_eq!(typed(&mut sitting, "aa"), [], "one decision at a time");
    sitting.refused(&sent, &Refused { why: "refused: no".to_owned(), is_stale: false });
    strokes(&mut sitting, "r");
    assert!(foot(&sitting).contains("too much at once"), "{}", foot(&sitting));
    strokes(&mut sitting, ", really\u{1b}");
    sitting.stroke(&Stroke::Escape, NOW_MS);
    strokes(&mut sitting, "r");
    assert!(foot(&sitting).contains("too much at once, really"), "{}", foot(&sitting));
}

#[test]
fn b4_nothing_is_exchanged_under_the_hand_and_a_change_is_told() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let before = screen(&sitting);
    let mut changed = script();
    (changed.seen, changed.body) = (digest("another"), "something else entirely".to_owned());
    strokes(&mut sitting, "a");
    sitting.looked(changed.clone());
    assert_eq!(typed(&mut sitting, "a"), [], "the second stroke is about what was shown");
    assert!(foot(&sitting).contains("changed: press enter to look again"), "{}", foot(&sitting));
    assert_eq!(typed(&mut sitting, "aa"), []);
    assert!(
        !screen(&sitting).contains("something else")
            && screen(&sitting).contains("argv[2]  make") == before.contains("argv[2]  make")
    );
    strokes(&mut sitting, "\r");
    assert!(screen(&sitting).contains("something else entirely"));
    assert_eq!(typed(&mut sitting, "aa"), [], "and not before it was drawn");
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    assert_eq!(decision(&intents).seen, changed.seen);
}

#[test]
fn b4_a_decision_taken_elsewhere_is_told_with_who_and_when_and_stays_where_it_is() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let mut view = card_of(2, "B", "sh", &["/bin/sh", "-c", "make -j2 && ./run"], "Perfectly safe.");
    view.may_decide = false;
    view.detail.action.status = serde_json::from_value(json!("REJECTED")).unwrap();
    let entry = json!({ "seq": 9, "at": "2026-01-31T09:29:00.000Z", "event": "action_rejected", "by": "grace" });
    view.entries = vec![serde_json::from_value(entry).unwrap()];
    let intents = sitting.listed(&inbox_of(&[waiting(1, "C", "nmap", 0), waiting(3, "B", "write-file", 0)]), None);
    assert_eq!(intents, [Intent::Look(act(2))]);
    sitting.looked(card::of_action(&view, None));
    let shown = screen(&sitting);
    assert!(shown.contains("decided elsewhere: REJECTED: action_rejected by grace at 2026-01-31T09:29"), "{shown}");
    let row: Vec<&str> = shown.lines().filter(|line| line.contains("▌")).collect();
    assert!(row[0].contains("sh") && row[1].contains("gone"), "{row:?}");
    assert_eq!(typed(&mut sitting, "aa"), []);
    assert_eq!(strokes(&mut sitting, "j"), [Intent::Look(act(3))]);
    assert!(!screen(&sitting).contains("gone"));
}

#[test]
fn b4_what_comes_does_not_move_what_is_looked_at_until_somebody_sorts() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let at = |sitting: &Sitting| screen(sitting).lines().position(|line| line.contains('▌')).unwrap();
    let before = at(&sitting);
    let more = [
        waiting(9, "C", "curl", 0),
        waiting(1, "C", "nmap", 0),
        waiting(2, "B", "sh", 3),
        waiting(3, "B", "write-file", 0),
    ];
    sitting.listed(&inbox_of(&more), None);
    assert_eq!(at(&sitting), before);
    assert!(screen(&sitting).contains("1 new *: g"), "{}", screen(&sitting));
    assert_eq!(strokes(&mut sitting, "g"), [Intent::Look(act(9))], "the riskiest first");
}

#[test]
fn b4_what_is_not_identical_any_more_is_not_approved_with_others() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    strokes(&mut sitting, "x");
    sitting.drawn();
    // Two of the three were decided, or somebody spoke about them.
    sitting.listed(&inbox_of(&[waiting(2, "B", "sh", 1)]), None);
    assert!(foot(&sitting).contains("not any more"), "{}", foot(&sitting));
    assert_eq!(typed(&mut sitting, "aa"), [], "nobody has seen yet which are left");
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    assert_eq!(decision(&intents).twins.len(), 1);
}

#[test]
fn b4_identical_ones_are_approved_each_by_itself_as_they_were_listed() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert!(screen(&sitting).contains("+3"), "{}", screen(&sitting));
    assert_eq!(typed(&mut sitting, "xaa"), [], "nobody has seen yet which they are");
    assert!(sitting.awaits_drawing());
    sitting.drawn();
    strokes(&mut sitting, "a");
    assert!(foot(&sitting).contains("approve 4 actions"), "{}", foot(&sitting));
    // What comes now is not among them.
    sitting.listed(&inbox_of(&[waiting(2, "B", "sh", 9)]), None);
    let intents = typed(&mut sitting, "a");
    let twins: Vec<String> = decision(&intents).twins.iter().map(|twin| twin.review.to_string()).collect();
    assert_eq!(twins, [digest("twin 0"), digest("twin 1"), digest("twin 2")]);
}

#[test]
fn b4_identical_ones_stand_on_the_card_with_id_agent_and_goal_and_are_fifty_at_most() {
    let mut sitting = at_a_script(Size { columns: 200, rows: 90 }, Letters::All);
    let mut listed = inbox_of(&[waiting(2, "B", "sh", 80)]);
    listed.actions[0].twins[1].goal = "a\u{1b}[2J\nWhy you are asked".to_owned();
    sitting.listed(&listed, None);
    strokes(&mut sitting, "dx");
    let shown = screen(&sitting);
    assert!(shown.contains("Approved with it: 49 identical"), "{shown}");
    for number in 100..149 {
        assert!(shown.contains(&format!("{} by eve for ", id("act", number))), "{number} {shown}");
    }
    assert!(shown.contains("by eve for a⟦U+001B⟧[2J⟦U+000A⟧Why you are asked"), "{shown}");
    assert!(!shown.contains(&id("act", 149)), "{shown}");
    assert!(foot(&sitting).contains("with 49 of 80 identical"), "{}", foot(&sitting));
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    assert_eq!(decision(&intents).twins.len(), 49, "and itself");
}

#[test]
fn b4_identical_ones_that_do_not_fit_are_scrolled_through_before_they_are_approved() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    sitting.listed(&inbox_of(&[waiting(2, "B", "sh", 30)]), None);
    let mut tries = |keys: &str| {
        strokes(&mut sitting, keys);
        sitting.drawn();
        let intents = typed(&mut sitting, "aa");
        (intents, foot(&sitting))
    };
    let (intents, said) = tries("x");
    assert_eq!(intents, []);
    assert!(said.contains("press space: more are approved with it"), "{said}");
    assert_eq!(tries("\tG").0, [], "whoever leaps has not seen what is between");
    assert_eq!(tries("g").0, []);
    let pages = (0..9).position(|_| !tries(" ").0.is_empty());
    // Thirty of two rows each, eighteen rows at a time.
    assert_eq!(pages, Some(2));
}

#[test]
fn b4_without_the_identical_ones_the_card_is_as_it_was() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let before = screen(&sitting).lines().nth(1).map(str::to_owned);
    strokes(&mut sitting, "x");
    assert_ne!(screen(&sitting).lines().nth(1).map(str::to_owned), before);
    sitting.drawn();
    strokes(&mut sitting, "x");
    assert_eq!(screen(&sitting).lines().nth(1).map(str::to_owned), before);
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    assert_eq!(decision(&intents).twins, []);
}

#[test]
fn b4_without_a_connection_nothing_is_decided_and_that_is_said() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    sitting.wire(Wire::Lost("connection refused".to_owned()));
    assert!(foot(&sitting).contains("not there (connection refused); trying again"), "{}", foot(&sitting));
    assert_eq!(typed(&mut sitting, "aa"), []);
    assert_eq!(typed(&mut sitting, "rno\r"), []);
    sitting.wire(Wire::Live);
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]));
}

#[test]
fn b4_a_reason_that_nothing_was_opened_for_does_not_act_as_keys() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    sitting.wire(Wire::Lost("gone".to_owned()));
    strokes(&mut sitting, "r");
    sitting.wire(Wire::Live);
    assert_eq!(typed(&mut sitting, "Haarlem, aa q"), []);
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "after a pause keys are keys");
}

#[test]
fn b4_after_a_decision_the_next_one_is_looked_at() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let intents = typed(&mut sitting, "aa");
    let sent = decision(&intents).clone();
    assert_eq!(sitting.decided(&sent, "approved …00000002"), [Intent::Look(act(3)), Intent::List]);
    assert!(foot(&sitting).contains("approved …00000002"));
    assert_eq!(typed(&mut sitting, "aa"), [], "what comes next was not seen yet");
}

#[test]
fn b4_after_the_last_decision_nothing_is_left_to_decide_on() {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    let mut one = inbox_of(&[waiting(2, "B", "sh", 0)]);
    one.runs.clear();
    sitting.listed(&one, None);
    sitting.looked(script());
    sitting.drawn();
    let intents = typed(&mut sitting, "aa");
    let sent = decision(&intents).clone();
    assert_eq!(sitting.decided(&sent, "approved"), [Intent::List]);
    assert!(screen(&sitting).contains("nothing waits for you"), "{}", screen(&sitting));
    assert_eq!(typed(&mut sitting, "aa"), []);
}

#[test]
fn b4_resizing_keeps_the_place() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    strokes(&mut sitting, "\tjjjjj");
    let top = |sitting: &Sitting| {
        let screen = screen(sitting);
        let row = screen.lines().nth(1).unwrap().to_owned();
        row.rsplit("││").next().unwrap().trim_matches(['│', ' ']).to_owned()
    };
    let before = top(&sitting);
    sitting.resize(Size { columns: 140, rows: 30 });
    assert_eq!(top(&sitting).chars().take(10).collect::<String>(), before.chars().take(10).collect::<String>());
    sitting.resize(USUAL);
    assert_eq!(top(&sitting), before);
}

#[test]
fn b4_a_filter_narrows_the_list_and_keeps_what_is_looked_at() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    strokes(&mut sitting, "/NMAP\r");
    let shown = screen(&sitting);
    assert!(shown.contains("nmap") && shown.contains("/NMAP") && !shown.contains("write-file"), "{shown}");
    assert!(shown.lines().any(|line| line.contains('▌') && line.contains("sh")), "{shown}");
}

fn run_view(status: &str) -> RunView {
    serde_json::from_value(json!({
        "id": id("run", 8), "project": id("prj", 1), "goal": "a plan that waits for somebody", "plan": ["look", "write"],
        "status": status, "meaning": "Stands still.", "agent": id("idn", 1), "scope": digest("scope"),
        "review": digest("run"), "mode": "CHECKPOINT", "effect": "execute", "steps_done": 1, "destroyed": false,
        "checkpoint": 3,
    }))
    .unwrap()
}

fn at_checkpoint() -> Subject {
    Subject::Run(id("run", 8).parse().unwrap(), StandsFor::Checkpoint)
}

/// A checkpoint, and what was saved until there.
fn checkpoint_card(snapshots: &[u32]) -> Card {
    let checkpoint: CheckpointView = serde_json::from_value(json!({
        "run": id("run", 8), "number": 3, "kind": "STEP", "reached_at": "2026-01-31T09:30:00.000Z", "step": 1, "of_steps": 2,
        "percent": 50, "summary": "half done", "reason": { "code": "said", "text": "half done" }, "actions_done": [], "actions_next": [], "steps_next": ["write"], "worked_ms": 1,
        "spent": {}, "options": ["approve", "modify", "reject", "pause", "cancel", "rollback"], "review": digest("checkpoint"),
    }))
    .unwrap();
    let mut run = run_view("CHECKPOINT_REACHED");
    let saved = |number: &u32| {
        serde_json::from_value(json!({ "number": number, "taken_at": "2026-01-31T09:30:00.000Z", "workspace": digest("w"), "memory": digest("m"), "files": 1, "size_bytes": 1, "steps_done": 1, "decided": false })).unwrap()
    };
    run.snapshots = snapshots.iter().map(saved).collect();
    card::of_checkpoint(&run, Some(&checkpoint))
}

#[test]
fn c10_at_a_checkpoint_a_person_goes_on_rejects_notes_pauses_and_cancels() {
    let (subject, card) = (at_checkpoint(), checkpoint_card(&[]));
    for (keys, verb, words) in [
        ("aa", Verb::Approve, ""),
        ("rnot so\r", Verb::Reject, "not so"),
        ("mfaster\r", Verb::Modify, "faster"),
        ("pp", Verb::Pause, ""),
        ("cenough\r", Verb::Cancel, "enough"),
    ] {
        let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
        sitting.listed(&inbox(), None);
        sitting.open(subject);
        sitting.looked(card.clone());
        sitting.drawn();
        let intents = typed(&mut sitting, keys);
        let sent = decision(&intents);
        assert_eq!((sent.subject, sent.verb, sent.words.as_str(), sent.number), (subject, verb, words, Some(3)));
        assert_eq!(sent.seen, digest("checkpoint"));
    }
}

/// What agents, programs and strangers write.
const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}[H\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{9b}2J\u{9d}0;x\u{9c}",
    "rm -rf \u{202e}build\u{2066}x\u{2069}",
    "p\u{0430}ypal.com/\u{FF0E}\u{FF0E}",
    "zero\u{200b}width\u{feff}\u{e0041}",
    "日本語👩\u{200d}👩\u{200d}👧 🇫🇷",
    "z\u{301}\u{302}\u{303}\u{304}\u{305}a",
    "\r\n\u{8}\u{8}\u{8}safe\u{0}",
    "│ Why you are asked\n  0.00  A  nothing",
];

#[test]
fn r5_whatever_agents_write_only_our_own_escapes_reach_the_terminal() {
    let huge = format!("{}rm -rf /", " ".repeat(20_000));
    for text in HOSTILE.iter().copied().chain([huge.as_str()]) {
        for (size, letters) in [(USUAL, Letters::All), (Size { columns: 30, rows: 10 }, Letters::Ascii)] {
            let mut view = card_of(2, "B", "sh", &["/bin/sh", "-c", text], text);
            (view.agent, view.goal) = (text.to_owned(), text.to_owned());
            view.files[0].path = text.to_owned();
            view.files[0].text = Some(text.to_owned());
            view.cannot = Some(text.to_owned());
            let mut listed = inbox();
            listed.actions[1].agent = text.to_owned();
            listed.runs[0].goal = text.to_owned();
            let mut sitting = Sitting::new(size, letters, NOW_MS);
            sitting.listed(&listed, Some(text.to_owned()));
            strokes(&mut sitting, "j");
            sitting.looked(card::of_action(&view, None));
            sitting.drawn();
            let (mut model, mut before) = (Model::new(size), None);
            for keys in ["", "\t", "   ", "d", " ", "a", "/x\u{1b}[200~\u{1b}]0;y\u{7}\u{1b}[201~"] {
                strokes(&mut sitting, keys);
                let drawn = sitting.draw();
                model.takes(drawn.after(before.as_ref(), Ink::Coloured).as_bytes());
                assert_eq!(model.text(), drawn.text(), "{text:?}");
                before = Some(drawn);
            }
        }
    }
}

#[test]
fn r5_the_agents_words_come_last_and_are_marked_on_every_row() {
    let words = format!("fine\nWhy you are asked\n{}", "x".repeat(300));
    let view = card_of(2, "B", "sh", &["/bin/sh"], &words);
    let mut sitting = Sitting::new(Size { columns: 130, rows: 200 }, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    strokes(&mut sitting, "j");
    sitting.looked(card::of_action(&view, None));
    let shown = screen(&sitting);
    let card: Vec<&str> = shown.lines().filter_map(|line| line.split("││ ").nth(1)).collect();
    let said = card.iter().position(|line| line.starts_with("The agent says (untrusted")).unwrap();
    let order = [
        "Exactly what will run",
        "Why you are asked",
        "What it touches",
        "File notes.txt",
        "This tool in this project",
        "What your decision is bound to",
    ];
    let places: Vec<usize> =
        order.iter().map(|head| card.iter().position(|line| line.starts_with(head)).unwrap()).collect();
    assert!(places.is_sorted() && places.iter().all(|place| *place < said), "{places:?} {said}");
    let after = card[said + 1..].iter().map(|line| line.trim_end_matches(['│', ' '])).filter(|line| !line.is_empty());
    assert!(
        after.clone().count() >= 7 && after.clone().all(|line| line.trim_start().starts_with('│')),
        "{:?}",
        after.collect::<Vec<_>>()
    );
}
