//! Going back from a checkpoint: nothing is lost that was not listed on the screen first.

use super::*;

const LOST: &str = "going back to snapshot 4 would change\nfiles: 0 created, 0 changed, 1 removed\n  - letter.txt\n";

/// A sitting at a checkpoint where something was saved, drawn.
fn at_saved() -> Sitting {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    sitting.open(at_checkpoint());
    sitting.looked(checkpoint_card(&[0, 2, 4]));
    sitting.drawn();
    sitting
}

/// The same, with what would be lost on the screen.
fn foreseeing() -> Sitting {
    let mut sitting = at_saved();
    assert_eq!(strokes(&mut sitting, "u"), [Intent::Foresee(at_checkpoint(), 4)]);
    sitting.foreseen(at_checkpoint(), 4, Ok(LOST.to_owned()));
    sitting
}

#[test]
fn c10_what_going_back_would_change_is_seen_before_it_can_be_decided() {
    let mut sitting = foreseeing();
    assert!(screen(&sitting).contains("- letter.txt") && screen(&sitting).contains("back to snapshot 4"));
    assert_eq!(typed(&mut sitting, "unot so\r"), [], "it was not drawn yet");
    sitting.drawn();
    assert_eq!(strokes(&mut sitting, "u"), []);
    assert!(foot(&sitting).contains("go back, and lose what is listed: why?"), "{}", foot(&sitting));
    assert_eq!(strokes(&mut sitting, "\r"), [], "it takes a reason");
    let intents = typed(&mut sitting, "not so\r");
    let sent = decision(&intents);
    assert_eq!((sent.subject, sent.verb, sent.words.as_str()), (at_checkpoint(), Verb::RollBack, "not so"));
    assert_eq!((sent.seen.as_str(), sent.number), (digest("checkpoint").as_str(), Some(4)));
}

#[test]
fn c10_while_somebody_looks_what_would_be_lost_nothing_else_is_decided() {
    let mut sitting = foreseeing();
    sitting.drawn();
    for keys in ["aa", "pp", "cenough\r", "rno\r", "mfaster\r", "x"] {
        assert_eq!(typed(&mut sitting, keys), [], "{keys}");
        assert!(screen(&sitting).contains("- letter.txt"));
    }
    // The card again: and first it is drawn.
    assert_eq!(sitting.stroke(&Stroke::Escape, sitting.now_ms + 1_000), []);
    assert!(screen(&sitting).contains("half done") && !screen(&sitting).contains("letter.txt"));
    assert_eq!(typed(&mut sitting, "aa"), []);
    sitting.drawn();
    assert_eq!(decision(&typed(&mut sitting, "aa")).verb, Verb::Approve);
}

#[test]
fn c10_a_key_that_is_held_down_takes_nobody_back() {
    let mut sitting = at_saved();
    let mut intents = Vec::new();
    for press in 0..40 {
        if press == 20 {
            sitting.foreseen(at_checkpoint(), 4, Ok(LOST.to_owned()));
            sitting.drawn();
        }
        intents.extend(sitting.stroke(&Stroke::Letter('u'), NOW_MS + press * 30));
    }
    assert_eq!(intents, [Intent::Foresee(at_checkpoint(), 4)], "it is asked for once, and nothing is sent");
    assert_eq!(sitting.tick(NOW_MS + 60_000), []);
}

#[test]
fn c10_what_is_not_known_or_has_changed_is_not_gone_back_on() {
    let mut sitting = at_saved();
    strokes(&mut sitting, "u");
    sitting.foreseen(at_checkpoint(), 4, Err("its host does not answer".to_owned()));
    assert!(foot(&sitting).contains("not known: its host does not answer"), "{}", foot(&sitting));
    assert_eq!(strokes(&mut sitting, "u"), [Intent::Foresee(at_checkpoint(), 4)], "it can be asked again");
    // Somebody lets it go on meanwhile.
    sitting.foreseen(at_checkpoint(), 4, Ok(LOST.to_owned()));
    sitting.drawn();
    sitting.looked(card::of_checkpoint(&run_view("EXECUTING"), None));
    assert_eq!(typed(&mut sitting, "unot so"), []);
    assert!(foot(&sitting).contains("decided elsewhere"), "{}", foot(&sitting));
    // What is told about something else is not shown here.
    let mut elsewhere = at_a_script(USUAL, Letters::All);
    elsewhere.foreseen(at_checkpoint(), 4, Ok(LOST.to_owned()));
    assert!(!screen(&elsewhere).contains("letter.txt"));
}

#[test]
fn c10_where_nothing_was_saved_nobody_goes_back() {
    let mut sitting = Sitting::new(USUAL, Letters::All, NOW_MS);
    sitting.listed(&inbox(), None);
    sitting.open(at_checkpoint());
    sitting.looked(checkpoint_card(&[]));
    sitting.drawn();
    assert_eq!(strokes(&mut sitting, "u"), []);
    assert!(foot(&sitting).contains("nothing was saved that it could go back to"), "{}", foot(&sitting));
    let mut script = at_a_script(USUAL, Letters::All);
    assert_eq!(typed(&mut script, "u"), [], "nor from an action");
}

#[test]
fn c10_whoever_wants_to_go_back_further_sees_what_that_would_change() {
    let mut sitting = foreseeing();
    sitting.drawn();
    let (left, right) = ("\u{1b}[D", "\u{1b}[C");
    assert_eq!(strokes(&mut sitting, right), [], "there is nothing newer");
    assert_eq!(strokes(&mut sitting, left), [Intent::Foresee(at_checkpoint(), 2)]);
    assert_eq!(typed(&mut sitting, "unot so\r"), [], "what was seen was about another one");
    sitting.foreseen(at_checkpoint(), 4, Ok(LOST.to_owned()));
    assert!(!screen(&sitting).contains("letter.txt"), "that is not what was asked last");
    sitting.foreseen(at_checkpoint(), 2, Ok("all of it".to_owned()));
    sitting.drawn();
    assert_eq!(decision(&typed(&mut sitting, "ufurther\r")).number, Some(2));
    assert!(screen(&sitting).contains("all of it"));
}
