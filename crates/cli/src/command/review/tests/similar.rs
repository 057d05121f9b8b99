//! Standing orders from the screen: nothing is approved beforehand that was not on it first.

use placet_domain::approval::Width;
use placet_wire::api::OrderOffer;

use super::*;

fn covered(number: u32, status: &str) -> Value {
    json!({ "action": id("act", number), "status": status, "proposed_at": "2026-01-31T09:00:00.000Z" })
}

fn offer() -> OrderOffer {
    serde_json::from_value(json!({
        "widths": [
            { "width": "exact", "would_cover": [covered(11, "SUCCEEDED")] },
            { "width": "contents", "would_cover": [covered(11, "SUCCEEDED"), covered(12, "REJECTED")] },
        ],
        "longest_ms": 28_800_000, "most_times": 1_000,
    }))
    .unwrap()
}

/// A sitting at a script, with what an order on it would be on the screen and drawn.
fn at_an_offer(size: Size) -> Sitting {
    let mut sitting = at_a_script(size, Letters::All);
    assert_eq!(strokes(&mut sitting, "s"), [Intent::Offer(act(2))]);
    sitting.offered(act(2), Ok(offer()));
    sitting.drawn();
    sitting
}

#[test]
fn b4_what_an_order_would_be_stands_in_the_place_of_the_card() {
    insta::assert_snapshot!("similar", screen(&at_an_offer(USUAL)));
    let large = screen(&at_an_offer(Size { columns: 200, rows: 40 }));
    assert!(large.contains("REJECTED: somebody said no to it"), "{large}");
    assert!(large.contains("Instead, contents"), "{large}");
}

#[test]
fn b4_an_order_takes_two_strokes_and_is_bound_to_the_card_that_was_drawn() {
    let mut sitting = at_an_offer(USUAL);
    assert_eq!(typed(&mut sitting, "a"), []);
    let asked = foot(&sitting);
    assert!(asked.contains("this and 20 more, exact, for 1h") && asked.contains(&script().digest()), "{asked}");
    let intents = typed(&mut sitting, "a");
    let sent = decision(&intents);
    assert_eq!((sent.subject, sent.verb, sent.seen.as_str()), (act(2), Verb::Approve, script().seen.as_str()));
    let order = sent.order.clone().unwrap();
    assert_eq!((order.width, order.lasts_ms, order.times), (Width::Exact, Some(3_600_000), Some(20)));
}

#[test]
fn b4_width_time_and_count_are_chosen_and_drawn_before_they_count() {
    let mut sitting = at_an_offer(USUAL);
    // It is half past nine in the morning, where nobody said otherwise.
    for (keys, seen) in
        [("\u{1b}[C", "Instead, exact"), ("t\u{15}10:00\r", "until 10:00"), ("n\u{15}5\r", "5 more at most")]
    {
        assert_eq!(strokes(&mut sitting, keys), []);
        assert_eq!(typed(&mut sitting, "aa"), [], "{keys} was not drawn yet");
        assert!(screen(&sitting).contains(seen), "{seen}: {}", screen(&sitting));
        sitting.drawn();
        // Whoever typed on is not heard for a while.
        sitting.tick(sitting.now_ms + 10_000);
    }
    let at_ms = sitting.now_ms;
    let intents = typed(&mut sitting, "aa");
    let order = decision(&intents).order.clone().unwrap();
    assert_eq!((order.width, order.times), (Width::Contents, Some(5)));
    // Counted from the stroke that decided.
    let until_ms = NOW_MS + 30 * 60_000;
    assert!((until_ms - at_ms - 3_000..until_ms - at_ms).contains(&i64::try_from(order.lasts_ms.unwrap()).unwrap()));
}

#[test]
fn b4_what_is_no_time_or_too_much_is_told_and_stands_there_to_be_corrected() {
    for (keys, told) in [
        ("t\u{15}soon\r", "is no time"),
        ("t\u{15}9h\r", "480 minutes at most"),
        ("n\u{15}0\r", "1 to 1000"),
        ("nx\r", "1 to 1000"),
    ] {
        let mut sitting = at_an_offer(USUAL);
        assert_eq!(strokes(&mut sitting, keys), []);
        assert!(foot(&sitting).contains(told), "{keys}: {}", foot(&sitting));
        strokes(&mut sitting, "\u{1b}");
        sitting.stroke(&Stroke::Escape, sitting.now_ms + 1_000);
    }
}

#[test]
fn b4_while_somebody_looks_what_an_order_would_be_nothing_else_is_decided() {
    let mut sitting = at_an_offer(USUAL);
    for keys in ["rno\r", "eno\r", "x", "s", "u"] {
        assert_eq!(typed(&mut sitting, keys), [], "{keys}");
        assert!(screen(&sitting).contains("What you approve"), "{keys}");
        sitting.tick(sitting.now_ms + 10_000);
    }
    // The card again: drawn first, and approved alone.
    assert_eq!(sitting.stroke(&Stroke::Escape, sitting.now_ms + 1_000), []);
    assert_eq!(typed(&mut sitting, "aa"), []);
    sitting.drawn();
    sitting.tick(sitting.now_ms + 10_000);
    assert_eq!(decision(&typed(&mut sitting, "aa")).order, None);
}

#[test]
fn b4_where_there_is_no_order_it_is_said_why_and_the_key_is_not_offered_in_vain() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    assert!(foot(&sitting).contains("s similar"), "{}", foot(&sitting));
    strokes(&mut sitting, "s");
    let refused = "orders are for what one person decides \u{1b}[2J";
    sitting.offered(act(2), Ok(OrderOffer { refused: Some(refused.to_owned()), ..offer() }));
    assert!(foot(&sitting).contains("no order on this: orders are for what one person decides"), "{}", foot(&sitting));
    assert!(!screen(&sitting).contains('\u{1b}'));
    assert!(matches!(typed(&mut sitting, "aa")[..], [Intent::Decide(_)]), "the card stands as it was");
    let mut two = Sitting::new(USUAL, Letters::All, NOW_MS);
    two.listed(&inbox(), None);
    two.looked(nmap());
    two.drawn();
    assert!(!foot(&two).contains("similar") && !foot(&two).contains("x same"), "{}", foot(&two));
    two.open(at_checkpoint());
    two.looked(checkpoint_card(&[]));
    two.drawn();
    assert_eq!(typed(&mut two, "s"), [], "nor for a run");
}

#[test]
fn b4_a_key_that_is_held_down_gives_no_order() {
    let mut sitting = at_a_script(USUAL, Letters::All);
    let mut intents = Vec::new();
    for press in 0..80 {
        if press == 20 {
            sitting.offered(act(2), Ok(offer()));
            sitting.drawn();
        }
        let key = if press < 40 { 's' } else { 'a' };
        intents.extend(sitting.stroke(&Stroke::Letter(key), sitting.now_ms + 33));
    }
    intents.extend(sitting.tick(sitting.now_ms + 60_000));
    assert_eq!(intents, [Intent::Offer(act(2))]);
}

#[test]
fn b4_an_offer_for_what_changed_or_for_something_else_gives_no_order() {
    let mut sitting = at_an_offer(USUAL);
    let mut changed = script();
    changed.seen = digest("another");
    sitting.looked(changed);
    assert_eq!(typed(&mut sitting, "aa"), []);
    let mut elsewhere = at_a_script(USUAL, Letters::All);
    strokes(&mut elsewhere, "s");
    strokes(&mut elsewhere, "j");
    elsewhere.offered(act(2), Ok(offer()));
    assert!(!screen(&elsewhere).contains("What you approve"));
}
