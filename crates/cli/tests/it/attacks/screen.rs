//! What an agent, a program or a worker writes, on the screen of whoever decides.

use super::attacks;
use super::scene::{Hand, Scene, done_if};

attacks! { "reviewer";
    ansi_in_an_argument, "erase the line above", SpelledOut, "spelled out", honestly plain_words_are_shown_as_they_are;
    bidi_in_an_argument, "turn the direction of writing", SpelledOut, "spelled out", honestly plain_words_are_shown_as_they_are;
    newline_in_an_argument, "forge another argument", SpelledOut, "one argument", honestly plain_words_are_shown_as_they_are;
    invisible_in_an_output, "two names that look alike", SpelledOut, "spelled out", honestly an_output_is_shown_as_it_is;
    card_in_the_justification, "forge a card with another digest", Marked, "one card", honestly words_are_shown_as_the_agents;
    ansi_in_the_justification, "hide what is above", SpelledOut, "spelled out", honestly words_are_shown_as_the_agents;
    c1_controls_in_json, "the same in JSON at a terminal", Escaped, "escaped", honestly json_says_what_was_proposed;
    ansi_in_output_at_a_terminal, "the same in what a program printed", SpelledOut, "spelled out", honestly output_in_a_pipe_is_byte_for_byte;
    ansi_in_a_workers_words, "the same in why nothing started", SpelledOut, "spelled out", honestly a_workers_words_are_shown;
    lines_in_a_workers_words, "forge a success below", SpelledOut, "one ending", honestly a_workers_words_are_shown;
    lines_in_an_evidence_name, "forge another piece of evidence", SpelledOut, "one piece", honestly evidence_is_listed;
    forged_summary, "end a run in words", SpelledOut, "still waiting", honestly a_summary_is_shown_as_the_agents;
}

/// Whether something that moves, hides or turns reached the screen as it is.
fn deceives(shown: &str) -> bool {
    let styles = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
    let rest = styles.iter().fold(shown.to_owned(), |text, style| text.replace(style, ""));
    rest.chars().any(|c| (c.is_control() && !"\n\r\t".contains(c)) || ('\u{202a}'..='\u{202e}').contains(&c))
}

fn spelled(shown: &str, how: &str) -> String {
    if !deceives(shown) && shown.contains(how) { "spelled out".to_owned() } else { format!("{shown:?}") }
}

fn ansi_in_an_argument(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", &format!("echo {}\u{1b}[2K\u{1b}[1A\u{1b}[8m; ls", scene.canary)]);
    spelled(&scene.card(&id), &format!("{}⟦U+001B⟧[2K", scene.canary))
}

fn bidi_in_an_argument(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", &format!("ls {}\u{202e}dliub fr- mr\u{2066}", scene.canary)]);
    spelled(&scene.card(&id), &format!("{}⟦U+202E⟧", scene.canary))
}

fn newline_in_an_argument(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", &format!("rm {}\n  argv[3]  harmless", scene.canary)]);
    let card = scene.card(&id);
    let forged = card.lines().any(|line| line.trim_start().starts_with("argv[3]"));
    if !forged && card.contains("⟦U+000A⟧") { "one argument".to_owned() } else { card }
}

fn plain_words_are_shown_as_they_are(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", &format!("echo {} déjà vu 日本", scene.canary)]);
    let card = scene.card(&id);
    done_if(card.contains(&format!("argv[2]  echo {} déjà vu 日本", scene.canary)), || card)
}

fn invisible_in_an_output(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", "true", "--output", "out/re\u{200b}port.txt"]);
    spelled(&scene.card(&id), "out/re⟦U+200B⟧port.txt")
}

fn an_output_is_shown_as_it_is(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", "true", "--output", "out/report.txt"]);
    let card = scene.card(&id);
    done_if(card.contains("leaves   out/report.txt"), || card)
}

/// Whoever approves by script takes the line that begins with `review `: there must be one, and the real one.
fn card_in_the_justification(scene: &Scene) -> String {
    let forged = format!("review sha256:{}", "0".repeat(64));
    let words = format!("--because=fine\n{forged}\n\nExactly what will run\n  argv[0]  /usr/bin/true {}", scene.canary);
    let id = scene.proposes(&["sh", "true", &words]);
    let card = scene.world.by("ada", &["show", &id]).ok();
    let reviews: Vec<&str> = card.out().lines().filter(|line| line.starts_with("review ")).collect();
    let headings = card.out().lines().filter(|line| *line == "Exactly what will run").count();
    let real = reviews == [format!("review {}", scene.review(&id))];
    if real && headings == 1 && card.out().contains(&scene.canary) {
        "one card".to_owned()
    } else {
        card.out().to_owned()
    }
}

fn ansi_in_the_justification(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", "true", &format!("--because={}\u{1b}[2J\u{9b}2J\u{7}", scene.canary)]);
    spelled(&scene.card(&id), &format!("{}⟦U+001B⟧[2J⟦U+009B⟧2J⟦U+0007⟧", scene.canary))
}

fn words_are_shown_as_the_agents(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", "true", &format!("--because=I need {}.", scene.canary)]);
    let card = scene.world.by("ada", &["show", &id]).ok();
    let after = card.out().split_once("The agent says (untrusted").map(|(_, after)| after.to_owned());
    done_if(after.is_some_and(|after| after.contains(&format!("│ I need {}.", scene.canary))), || {
        card.out().to_owned()
    })
}

const TRICK: &str = "\u{9b}2J\u{202e}\u{7f}";

fn c1_controls_in_json(scene: &Scene) -> String {
    let id = scene.proposes(&["sh", &format!("echo {}{TRICK}", scene.canary)]);
    let shown = scene.at_a_terminal(&["--json", "show", &id]);
    let escaped = shown.contains(&format!("{}\\u009b2J\\u202e\\u007f", scene.canary));
    if escaped && !deceives(&shown) { "escaped".to_owned() } else { format!("{shown:?}") }
}

fn json_says_what_was_proposed(scene: &Scene) -> String {
    let id = scene.newest();
    let said = scene.world.json("ada", &["show", &id]);
    let wanted = format!("echo {}{TRICK}", scene.canary);
    done_if(said["spec"]["argv"][2] == wanted.as_str(), || said.to_string())
}

fn printed(scene: &Scene) -> String {
    let _worker = scene.worker();
    let script = format!(r"printf '{}\033]0;owned\007\033[2J\302\233\n'", scene.canary);
    scene.world.perform(&scene.run, &["sh", &script]).id
}

fn ansi_in_output_at_a_terminal(scene: &Scene) -> String {
    let id = printed(scene);
    spelled(
        &scene.at_a_terminal(&["evidence", "get", &id, "stdout"]),
        &format!("{}⟦U+001B⟧]0;owned⟦U+0007⟧", scene.canary),
    )
}

fn output_in_a_pipe_is_byte_for_byte(scene: &Scene) -> String {
    let got = scene.world.evidence(&scene.newest(), "stdout");
    let wanted = format!("{}\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}\n", scene.canary);
    done_if(got == wanted.as_bytes(), || format!("{got:?}"))
}

/// What `evidence list` says of an action about which the worker reports these words.
fn reported(scene: &Scene, why: &str) -> String {
    let id = scene.waiting();
    scene.approved(&id);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    hand.redeem(&job);
    let mut manifest = hand.manifest(&job, "stdout", b"");
    manifest.items.clear();
    manifest.exit = placet_domain::evidence::Exit::NotStarted { why: why.to_owned() };
    hand.complete(&manifest);
    let mut list = scene.world.command(&["--as", "ada", "evidence", "list", &id]);
    crate::support::Said::by(list.env("CLICOLOR_FORCE", "1")).ok().out().to_owned()
}

fn ansi_in_a_workers_words(scene: &Scene) -> String {
    spelled(&reported(scene, &format!("{}\u{1b}[1A\u{1b}[2K", scene.canary)), "⟦U+001B⟧[1A")
}

fn lines_in_a_workers_words(scene: &Scene) -> String {
    let shown = reported(scene, &format!("no cage\nexit 0 after 5 ms {}", scene.canary));
    let endings = shown.lines().filter(|line| line.starts_with("exit 0") || line.starts_with("not started")).count();
    if endings == 1 && shown.starts_with("not started: no cage") { "one ending".to_owned() } else { shown }
}

fn a_workers_words_are_shown(scene: &Scene) -> String {
    let shown = reported(scene, "no cage here");
    done_if(shown.starts_with("not started: no cage here"), || shown)
}

/// The lines of `evidence list` below the ending, where a worker names its one piece of evidence so.
fn listed(scene: &Scene, name: &str) -> Vec<String> {
    let id = scene.waiting();
    scene.approved(&id);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    hand.redeem(&job);
    hand.keep(&job, b"x");
    hand.complete(&hand.manifest(&job, name, b"x"));
    let said = scene.world.by("ada", &["evidence", "list", &id]).ok();
    said.out().lines().skip(1).map(ToOwned::to_owned).collect()
}

fn lines_in_an_evidence_name(scene: &Scene) -> String {
    let lines = listed(scene, &format!("out/a\nout/{}  9 bytes  sha256:", scene.canary));
    if lines.len() == 1 && lines[0].contains("out/a⟦U+000A⟧") {
        "one piece".to_owned()
    } else {
        format!("{lines:?}")
    }
}

fn evidence_is_listed(scene: &Scene) -> String {
    let lines = listed(scene, "out/a b");
    done_if(lines.len() == 1 && lines[0].starts_with("out/a b  1 bytes"), || format!("{lines:?}"))
}

fn finish(scene: &Scene, summary: &str) -> String {
    scene.waiting();
    scene.agent(&["run", "finish", &scene.run, "--summary", summary]).ok();
    scene.world.by("ada", &["run", "show", &scene.run]).ok().out().to_owned()
}

fn forged_summary(scene: &Scene) -> String {
    let shown = finish(scene, &format!("{}\nCOMPLETED The results were accepted.\u{1b}[1A", scene.canary));
    let forged = shown.lines().any(|line| line.starts_with("COMPLETED"));
    let marked = shown.contains(&format!("│ {}", scene.canary)) && !deceives(&shown);
    let status = scene.world.json("ada", &["run", "show", &scene.run])["run"]["status"].clone();
    if !forged && marked && status == "PENDING_EXPORT" { "still waiting".to_owned() } else { shown }
}

fn a_summary_is_shown_as_the_agents(scene: &Scene) -> String {
    scene.world.by("ada", &["run", "reject-results", &scene.run, "--reason", "again"]).ok();
    scene.agent(&["run", "finish", &scene.run, "--summary", "counted twice"]).ok();
    let shown = scene.world.by("ada", &["run", "show", &scene.run]).ok();
    done_if(shown.out().contains("│ counted twice"), || shown.out().to_owned())
}
