//! The approval card in the terminal: rendered from the sealed bytes and the verdict, never from the agent's words.
//!
//! Same order as everywhere: what and how risky, why you are asked, what it touches, exactly what will run, the agent's own
//! words last and marked. Whatever could deceive the eye is spelled out.

use std::fmt::Write as _;

use placet_domain::action::ActionStatus;
use placet_domain::text::{lines, marked, marked_line};
use placet_wire::api::{ActionDetail, ActionView, InterruptionView};

use crate::changes;
use crate::context::short;
use crate::out::{ASK, BAD, BOLD, DIM, GOOD, fitted, styled, table};
use crate::span::{ms, span};
use crate::terminal::rich::{Letters, cut};

/// Rows for a list: what would be done is what somebody looks for.
pub(crate) fn rows<'a>(actions: impl IntoIterator<Item = &'a ActionView>) -> String {
    fitted(&actions.into_iter().map(row).collect::<Vec<_>>(), TITLE)
}

/// Which column of a row may be cut.
const TITLE: usize = 3;

fn row(action: &ActionView) -> Vec<String> {
    vec![
        short(action.id),
        tier(&action.verdict.tier),
        format!("{:.2}", action.verdict.risk),
        title(action),
        status(action),
    ]
}

/// What would be done, in a line, with what deceives marked; the tool and its kind where nobody told more.
pub(crate) fn title(action: &ActionView) -> String {
    let untold = || format!("{} ({})", action.tool, action.kind);
    marked(&action.title.clone().unwrap_or_else(untold))
}

/// Rows of what waits: beside what would be done whose it is, and how long it may still be decided.
pub(crate) fn waiting(actions: &[ActionView], now_ms: i64) -> String {
    let row = |action: &ActionView| {
        let left = if action.status == ActionStatus::Interrupted {
            status(action)
        } else {
            format!("{} left", span(ms(&action.deadline) - now_ms))
        };
        let letter = &action.verdict.tier;
        let tier = format!("{} {}", tier(letter), tier_word(letter));
        let agent = cut(&marked(action.agent.as_deref().unwrap_or_default()), LONGEST_NAME, Letters::All);
        vec![short(action.id), tier, format!("{:.2}", action.verdict.risk), title(action), agent, left]
    };
    fitted(&actions.iter().map(row).collect::<Vec<_>>(), TITLE)
}

/// Of a name as much as tells agents apart in a list; the whole stands on the card.
const LONGEST_NAME: usize = 16;

/// The tier in a word.
pub(crate) fn tier_word(tier: &str) -> &'static str {
    match tier {
        "A" => "passes",
        "B" => "one",
        "C" => "two",
        _ => "refused",
    }
}

fn tier(tier: &str) -> String {
    match tier {
        "A" => styled(GOOD, "A"),
        "D" => styled(BAD, "D"),
        other => styled(ASK, other),
    }
}

pub(crate) fn status(action: &ActionView) -> String {
    let status = action.status.as_str();
    match status {
        "SUCCEEDED" | "APPROVED" => styled(GOOD, status),
        "DENIED" | "REJECTED" | "FAILED" | "INTERRUPTED" => styled(BAD, status),
        _ => styled(ASK, status),
    }
}

/// What an amended action was made of.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) detail: ActionDetail,
    /// What was changed within its text files, line by line.
    pub(crate) texts: Vec<String>,
}

/// The whole card; for an amended action with the one it replaces.
pub(crate) fn card(detail: &ActionDetail, before: Option<&Before>) -> String {
    let mut text = String::new();
    head(&mut text, detail);
    text + &below_head(detail, before, "")
}

/// The card without its head, with more that stands before what the agent says, which is always last.
pub(crate) fn below_head(detail: &ActionDetail, before: Option<&Before>, more: &str) -> String {
    let mut text = String::new();
    detail.interruption.iter().for_each(|lost| interrupted(&mut text, lost));
    before.iter().for_each(|before| amended(&mut text, detail, before));
    // First, so that nobody decides without having had it before their eyes.
    runs(&mut text, detail);
    why(&mut text, detail);
    touches(&mut text, detail);
    text.push_str(more);
    words(&mut text, detail);
    text
}

fn section(text: &mut String, name: &str) {
    let _ = writeln!(text, "\n{}", styled(BOLD, name));
}

fn head(text: &mut String, detail: &ActionDetail) {
    let action = &detail.action;
    let _ = writeln!(text, "{} {} ({})", tier(&action.verdict.tier), styled(BOLD, &action.tool), action.kind);
    let _ = writeln!(text, "{}", styled(DIM, format!("action {}", action.id)));
    let _ = writeln!(text, "{}", styled(DIM, format!("digest {}", action.digest)));
    // What `placet approve --seen` takes: a reviewer in a script approves what this card shows, or nothing.
    let _ = writeln!(text, "{}", styled(DIM, format!("review {}", action.review)));
    let because = action.because.as_deref().map(|why| format!(": {}", marked(why))).unwrap_or_default();
    if let Some(agent) = &action.agent {
        let _ = writeln!(text, "by {} in {}", styled(BOLD, marked(agent)), action.run);
    }
    let _ = writeln!(text, "{} {}{because}", status(action), action.meaning);
    if let Some(successor) = action.superseded_by {
        let _ = writeln!(text, "in its place stands {}", styled(BOLD, successor));
    }
}

/// Whose it was and when what happened: nobody knows how far it got, and this is all there is to judge that by.
fn interrupted(text: &mut String, lost: &InterruptionView) {
    section(text, "Interrupted: nobody knows how far it got");
    let InterruptionView { attempt, worker, worker_name, leased_at, started_at, heard_at, interrupted_at } = lost;
    let [from, heard, over] = [started_at, heard_at, interrupted_at].map(|at| ms(at));
    let rows = [
        ("worker", format!("{} ({})", marked(worker_name), short(worker))),
        ("attempt", attempt.to_string()),
        ("taken up", leased_at.clone()),
        ("started", started_at.clone()),
        ("heard", heard_at.clone()),
        ("given up", interrupted_at.clone()),
        ("after", format!("{}, the last {} in silence", span(over - from), span(over - heard))),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:<8} {value}");
    }
}

/// Not the agent's wish any more: who made what of it, and why.
fn amended(text: &mut String, detail: &ActionDetail, Before { detail: before, texts }: &Before) {
    section(text, "What a reviewer made of the agent's proposal");
    let by = detail.action.amendment.as_ref().and_then(|amendment| amendment.amenders.last());
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let reason = before.action.because.as_deref().map(|why| format!(": {}", marked(why))).unwrap_or_default();
    let _ = writeln!(text, "  amends {}{by}{reason}", before.action.id);
    changes::between(&before.spec, &detail.spec).iter().chain(texts).for_each(|line| {
        let _ = writeln!(text, "{line}");
    });
}

fn why(text: &mut String, detail: &ActionDetail) {
    let verdict = &detail.action.verdict;
    section(
        text,
        match verdict.tier.as_str() {
            "A" => "Why nobody is asked",
            "D" => "Why it is refused",
            _ => "Why you are asked",
        },
    );
    let mut rows: Vec<Vec<String>> = Vec::new();
    for reason in &verdict.reasons {
        let (weight, because) = (format!("  {:.2}", reason.weight), marked(&reason.because));
        rows.push(vec![weight, reason.demands.clone(), reason.rule.clone(), because]);
    }
    rows.push(vec![
        format!("  {:.2}", verdict.risk),
        verdict.tier.clone(),
        styled(BOLD, "risk and tier"),
        approvals(detail),
    ]);
    let _ = writeln!(text, "{}", table(&rows));
}

fn approvals(detail: &ActionDetail) -> String {
    let action = &detail.action;
    match (action.approvals.len(), action.approvals_missing) {
        (0, 0) if action.verdict.tier == "D" => "nobody can approve it".to_owned(),
        (0, 0) => "no approval needed".to_owned(),
        (given, 0) => match action.approvals.iter().find_map(|approval| approval.order) {
            Some(number) => format!("nobody looked at this one: approved by order {number} of its run"),
            None => format!("{given} approval(s) given"),
        },
        (given, missing) => format!("{given} approval(s) given, {missing} missing; decide before {}", action.deadline),
    }
}

fn touches(text: &mut String, detail: &ActionDetail) {
    section(text, "What it touches");
    let spec = &detail.spec;
    let target = spec.target.as_ref().map_or_else(|| "none".to_owned(), |target| marked(&target.to_string()));
    let _ = writeln!(text, "  target   {target}");
    for opening in &spec.network {
        let unseen = opening.caveat().map(|why| format!(" ({why})")).unwrap_or_default();
        let _ = writeln!(text, "  reaches  {}{unseen}", marked(&opening.to_string()));
    }
    for used in &spec.credentials {
        let _ = writeln!(text, "  uses     the team's credential {}", marked(&used.to_string()));
    }
    for file in &spec.files {
        let _ = writeln!(text, "  reads    {} ({} bytes, {})", marked(&file.path), file.size_bytes, file.digest);
    }
    for output in &spec.outputs {
        let _ = writeln!(text, "  leaves   {}", marked(output));
    }
}

fn runs(text: &mut String, detail: &ActionDetail) {
    section(text, if detail.action.verdict.tier == "D" { "What would have run" } else { "Exactly what will run" });
    let spec = &detail.spec;
    for (index, argument) in spec.argv.iter().enumerate() {
        let _ = writeln!(text, "  argv[{index}]  {}", marked(argument));
    }
    for (name, value) in &spec.environment {
        let _ = writeln!(text, "  env      {name}={}", marked(value));
    }
    let (limits, reaches) =
        (&spec.limits, if spec.network.is_empty() { "no network" } else { "the network named above" });
    let _ = writeln!(text, "  cage     {}, {reaches}, at most {} ms", spec.profile, limits.timeout_ms);
    // What the name amounts to: `placet sandbox explain --profile NAME` shows it with the same digest.
    let sealed = spec.profile_digest.map_or_else(|| "by its name alone".to_owned(), |digest| digest.to_string());
    let _ = writeln!(text, "           {}", styled(DIM, sealed));
}

fn words(text: &mut String, detail: &ActionDetail) {
    if let Some(words) = &detail.justification {
        section(text, "The agent says (untrusted, not part of what you approve)");
        for line in lines(words) {
            let _ = writeln!(text, "  {} {}", styled(DIM, "│"), marked_line(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An action whose every text tries to be something else.
    fn deceptive() -> ActionDetail {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        let detail = json!({
            "id": format!("act_{id}"), "run": format!("run_{id}"), "project": format!("prj_{id}"),
            "status": "PENDING_APPROVAL", "meaning": "Waits for a person.", "tool": "sh", "kind": "execute_code",
            "digest": digest, "review": digest, "approvals": [], "approvals_missing": 1,
            "proposer": format!("idn_{id}"), "deadline": "2026-01-31T09:30:00.000Z", "attempt": 0,
            "verdict": {
                "tier": "B", "risk": 0.3, "policy": digest,
                "reasons": [{ "rule": "code.review", "demands": "B", "weight": 0.3, "because": "runs code", "reason": { "code": "rule", "text": "runs code" } }],
            },
            "spec": {
                "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "sh",
                "tool_version": digest, "kind": "execute_code",
                "argv": ["/bin/sh", "-c", "rm -rf \u{202e}build\u{1b}[2K\rls\nargv[3]  harmless"],
                "environment": { "A": "x\ny" }, "files": [], "outputs": ["out\u{200b}.txt"], "profile": "default", "profile_digest": digest,
                "limits": { "timeout_ms": 1000, "memory_bytes": 1, "output_bytes": 1, "file_bytes": 1, "processes": 1 },
            },
            "justification": "Perfectly safe.\n\nWhy you are asked\n  0.00  A  nothing",
        });
        serde_json::from_value(detail).unwrap()
    }

    #[test]
    fn b4_the_card_shows_what_will_run_before_what_the_agent_says_and_hides_nothing() {
        let shown = anstream::adapter::strip_str(&card(&deceptive(), None)).to_string();
        let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("`{text}` is not shown:\n{shown}"));
        let order = ["Exactly what will run", "Why you are asked", "What it touches", "The agent says (untrusted"];
        assert!(order.is_sorted_by_key(|text| place(text)), "{shown}");
        place("argv[2]  rm -rf ⟦U+202E⟧build⟦U+001B⟧[2K⟦U+000D⟧ls⟦U+000A⟧argv[3]  harmless");
        place("A=x⟦U+000A⟧y");
        place("out⟦U+200B⟧.txt");
        place(&format!("cage     default, no network, at most 1000 ms\n           sha256:{}", "a".repeat(64)));
        let invisible = |c: char| c != '\n' && (c.is_control() || placet_domain::text::is_invisible(c));
        assert!(!shown.contains(invisible), "{shown:?}");
    }

    #[test]
    fn r5_what_is_padded_imitates_or_turns_is_told_at_a_terminal_too() {
        let mut detail = deceptive();
        detail.spec.argv = vec![
            format!("echo ok{}; rm -rf docs", " ".repeat(1_500)),
            "\u{261}oogle.com\u{a0}x".to_owned(),
            "cp \u{5d0} /".to_owned(),
        ];
        let shown = anstream::adapter::strip_str(&card(&detail, None)).to_string();
        for told in ["echo ok⟦1500×U+0020⟧; rm -rf docs", "\u{261}oogle.com⟦U+0261⟧⟦U+00A0⟧x", "cp ⟦U+05D0⟧ /"]
        {
            assert!(shown.contains(told), "`{told}` is not shown:\n{shown}");
        }
    }

    #[test]
    fn r5_a_card_never_says_that_there_is_no_network_where_there_is_one() {
        let mut detail = deceptive();
        detail.spec.network = vec!["https://api.example.com".parse().unwrap()];
        let shown = anstream::adapter::strip_str(&card(&detail, None)).to_string();
        assert!(shown.contains("reaches  https://api.example.com") && !shown.contains("no network"), "{shown}");
    }

    #[test]
    fn b4_the_agents_words_cannot_pass_for_a_part_of_the_card() {
        let shown = anstream::adapter::strip_str(&card(&deceptive(), None)).to_string();
        let headings = shown.lines().filter(|line| *line == "Why you are asked").count();
        assert_eq!(headings, 1, "what the agent writes is marked on every line:\n{shown}");
    }
}
