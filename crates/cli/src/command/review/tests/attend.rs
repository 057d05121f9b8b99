//! Who should look at something, and when: said from the screen, and nothing is decided by it.

use super::*;
use crate::command::review::decision::Attend;

fn attention(of: Value) -> InboxView {
    let mut action = waiting(2, "B", "sh", 0);
    action["attention"] = of;
    inbox_of(&[action, waiting(3, "B", "write-file", 0)])
}

#[test]
fn b4_a_name_and_a_note_are_typed_and_nothing_names_nobody() {
    for (typed_in, to, note) in [
        ("weve\r", Some("eve"), ""),
        ("weve: you know: this\r", Some("eve"), "you know: this"),
        ("w\r", None, ""),
        ("w: nobody\r", None, "nobody"),
    ] {
        let mut sitting = at_a_script(USUAL, Letters::All);
        let assign = Attend::Assign { to: to.map(str::to_owned), note: note.to_owned() };
        assert_eq!(strokes(&mut sitting, typed_in), [Intent::Attend(act(2), assign)], "{typed_in}");
    }
}

#[test]
fn b4_a_time_is_typed_and_what_is_none_stands_there_to_be_corrected() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert_eq!(strokes(&mut sitting, "lsoon\r"), []);
    assert!(foot(&sitting).contains("is no time"), "{}", foot(&sitting));
    let later = Attend::Defer { lasts_ms: Some(5_400_000) };
    assert_eq!(strokes(&mut sitting, "\u{15}90m\r"), [Intent::Attend(act(2), later)]);
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert_eq!(strokes(&mut sitting, "l\r"), [Intent::Attend(act(2), Attend::Defer { lasts_ms: None })]);
}

#[test]
fn b4_rows_and_cards_say_for_whom_something_is_in_words() {
    let named = |yours: bool| json!({ "assigned": { "to": "eve", "to_id": id("idn", 5), "by": "ada", "note": "a \u{1b}[2J b", "is_yours": yours } });
    let aside = json!({ "aside": [{ "who": "me", "until": "2026-01-31T12:00:00Z", "is_yours": true }] });
    for (said, mark) in [(named(true), "for you"), (named(false), "for eve"), (aside, "aside")] {
        let mut sitting = Sitting::new(Size { columns: 120, rows: 30 }, Letters::All, NOW_MS);
        sitting.listed(&attention(said), None);
        let shown = screen(&sitting);
        let row = shown.lines().skip_while(|row| !row.contains("B one sh")).nth(1).unwrap().to_owned();
        assert!(row.contains(mark), "{mark}: {row}");
    }
    let view = serde_json::from_value(named(true)).unwrap();
    let text = anstream::adapter::strip_str(&card::attention_text(&view)).to_string();
    assert!(text.contains("for you, by ada: a ") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn b4_what_was_said_is_told_and_the_card_is_fetched_anew_before_anything_is_decided() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    strokes(&mut sitting, "weve\r");
    assert_eq!(sitting.attended(act(2), Ok("it is for eve".to_owned())), [Intent::Look(act(2)), Intent::List]);
    assert!(foot(&sitting).contains("it is for eve"), "{}", foot(&sitting));
    assert_eq!(typed(&mut sitting, "aa"), []);
    sitting.tick(sitting.now_ms + 10_000);
    sitting.looked(script());
    sitting.drawn();
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "and then it is decided as before");
    let mut refused = at_a_script(USUAL, Letters::All);
    assert_eq!(refused.attended(act(2), Err("name a reviewer".to_owned())), []);
    assert!(foot(&refused).contains("not said: name a reviewer"), "{}", foot(&refused));
}

#[test]
fn b4_runs_and_what_is_settled_are_neither_assigned_nor_set_aside() {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    sitting.open(at_checkpoint());
    sitting.looked(checkpoint_card(&[]));
    sitting.drawn();
    for keys in ["weve\r", "l1h\r"] {
        assert_eq!(typed(&mut sitting, keys), [], "{keys}");
        sitting.tick(sitting.now_ms + 10_000);
    }
    let mut sitting = at_a_script(USUAL, Letters::All);
    sitting.wire(Wire::Lost("gone".to_owned()));
    assert_eq!(typed(&mut sitting, "weve\r"), []);
}
