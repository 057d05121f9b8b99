//! Whoever runs through the queue asks for the cards where they rest, not for those that they pass.

use super::*;

/// How fast a key repeats that is held down.
const REPEAT_MS: i64 = 30;

fn long_queue() -> Sitting {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    let actions: Vec<Value> = (1..=100).map(|number| waiting(number, "B", "sh", 0)).collect();
    assert_eq!(sitting.listed(&inbox_of(&actions), None), [Intent::Look(act(1))]);
    sitting.tick(NOW_MS + 1_000);
    sitting
}

/// Holds a key down for so many repeats.
fn holds(sitting: &mut Sitting, key: char, repeats: usize) -> Vec<Intent> {
    let mut intents = Vec::new();
    for _ in 0..repeats {
        let now_ms = sitting.now_ms + REPEAT_MS;
        intents.extend(sitting.stroke(&Stroke::Letter(key), now_ms));
        intents.extend(sitting.tick(now_ms));
    }
    intents
}

#[test]
fn b4_a_key_that_is_held_down_asks_for_the_first_card_and_the_one_where_it_ends() {
    let mut sitting = long_queue();
    assert_eq!(holds(&mut sitting, 'j', 60), [Intent::Look(act(2))], "and for none that is only passed");
    assert!(screen(&sitting).contains("loading"), "nothing else is shown meanwhile");
    let rested = sitting.tick(sitting.now_ms + 300);
    assert_eq!(rested, [Intent::Look(act(61))]);
    assert_eq!(sitting.tick(sitting.now_ms + 300), [], "once");
}

#[test]
fn b4_news_while_a_key_is_held_down_fetch_no_card_that_is_only_passed() {
    let mut sitting = long_queue();
    holds(&mut sitting, 'j', 10);
    let actions: Vec<Value> = (1..=100).map(|number| waiting(number, "B", "sh", 0)).collect();
    assert_eq!(sitting.listed(&inbox_of(&actions), None), []);
    assert_eq!(sitting.tick(sitting.now_ms + 300), [Intent::Look(act(11))]);
}

#[test]
fn b4_step_by_step_every_card_is_asked_for_at_once() {
    let mut sitting = long_queue();
    let asked = strokes(&mut sitting, "jjk");
    assert_eq!(asked, [Intent::Look(act(2)), Intent::Look(act(3)), Intent::Look(act(2))]);
}

#[test]
fn b4_at_the_end_of_the_queue_a_key_that_is_held_down_asks_for_nothing_more() {
    let mut sitting = long_queue();
    holds(&mut sitting, 'j', 150);
    sitting.tick(sitting.now_ms + 300);
    assert_eq!(holds(&mut sitting, 'j', 50), []);
}
