//! The approval card: from the sealed bytes and the verdict, never from the agent's words. The same order as everywhere: what and how
//! risky, why you are asked, what it can touch, exactly what will run, the files, what was decided before, the agent's own words last.

use maud::{Markup, html};
use placet_control::read::Blast;
use placet_control::read::around::{History, Who};
use placet_domain::budget::{Amounts, Ceiling, Resource};
use placet_domain::proposal::ActionSpec;
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;
use placet_lang::Lang;
use placet_wire::api::{ActionDetail, BudgetView};

use crate::markup::parts::{digest, fact, moment, section, size, status, tier};
use crate::markup::passkeys::Place;
use crate::markup::stage::Stage;
use crate::markup::{reasons, text};

/// Whether the person who looks may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    Yes,
    /// With a passkey, if this is where passkeys can be used.
    Sign(Place),
    /// With a passkey, and they have none yet.
    NoPasskey,
    /// Not this person, or not now, and why.
    No(Refusal),
    /// There is nothing to decide any more.
    Settled,
}

pub(crate) fn why(lang: Lang, detail: &ActionDetail, stage: Stage, who: Option<&Who>) -> Markup {
    let verdict = &detail.action.verdict;
    let percent = (verdict.risk * 100.0).round().clamp(0.0, 100.0);
    section(
        "why",
        stage.why(lang, &verdict.tier),
        &html! {
            ul.reasons {
                @for reason in &verdict.reasons {
                    li {
                        b.weight { "+" (lang.decimal(reason.weight)) }
                        div {
                            (reasons::of_rule(lang, &reason.rule, &reason.reason))
                            small { (lang.rule()) " " code { (reason.rule) } " · " (reason.demands) }
                        }
                    }
                }
            }
            p.risk {
                span { (lang.risk()) " " strong { (lang.decimal(verdict.risk)) } }
                meter min="0" max="100" low="30" high="60" optimum="0" value=(percent) aria-label=(lang.risk()) {}
                (tier(lang, &verdict.tier))
            }
            p.note { (lang.policy_version()) " " (digest(verdict.policy)) }
            @if let Some(who) = who { (may_decide(lang, who)) }
        },
    )
}

/// More names than anybody reads; how many there are besides is said.
const MOST_NAMES: usize = 12;

fn may_decide(lang: Lang, who: &Who) -> Markup {
    html! {
        p.deciders {
            (lang.who_can()) " "
            @if who.can.is_empty() { strong.bad { (lang.nobody_can()) } } @else { (names(lang, &who.can)) }
            @if !who.behind.is_empty() { " · " (lang.who_cannot()) " " (names(lang, &who.behind)) }
        }
    }
}

pub(crate) fn names(lang: Lang, names: &[String]) -> Markup {
    html! {
        @for (index, name) in names.iter().take(MOST_NAMES).enumerate() { @if index > 0 { ", " } strong { (text::line(lang, name)) } }
        @if names.len() > MOST_NAMES { " +" (names.len() - MOST_NAMES) }
    }
}

pub(crate) fn blast_radius(lang: Lang, detail: &ActionDetail, stage: Stage, blast: &Blast) -> Markup {
    let spec = &detail.spec;
    section(
        "blast",
        stage.touches(lang),
        &html! {
            dl.facts {
                @if let Some(target) = &spec.target { (fact(lang.target(), &text::line(lang, &target.to_string()))) }
                (fact(lang.reaches(), &reaches(lang, spec)))
                @for used in &spec.credentials { (fact(lang.uses(), &html! { code { (text::line(lang, &used.to_string())) } })) }
                (fact(lang.files(), &files(lang, spec)))
                (fact(lang.leaves(), &leaves(lang, spec)))
                @if stage.leaves_traces() { (fact(lang.reversible(), &reversible(lang, spec, blast))) }
                (fact(lang.budget_so_far(), &budget(lang, blast)))
            }
            @if blast.rehearsed { p.note { (lang.rehearsal()) } }
        },
    )
}

fn reaches(lang: Lang, spec: &ActionSpec) -> Markup {
    html! {
        @if spec.network.is_empty() { @if spec.target.is_none() { span.good { (lang.nobody()) } } @else { span.ask { (lang.nobody_caged()) } } }
        @for opening in &spec.network {
            div { code.reached { (text::line(lang, &opening.to_string())) } @if opening.caveat().is_some() { " " small { (lang.tunnel()) } } }
        }
    }
}

fn files(lang: Lang, spec: &ActionSpec) -> Markup {
    let bytes = spec.files.iter().map(|file| file.size_bytes).sum();
    html! { @if spec.files.is_empty() { (lang.nothing()) } @else { strong { (spec.files.len()) } " · " (size(lang, bytes)) } }
}

fn leaves(lang: Lang, spec: &ActionSpec) -> Markup {
    html! {
        @if spec.outputs.is_empty() { (lang.nothing()) }
        @for output in &spec.outputs { div { code { (text::line(lang, output)) } } }
    }
}

fn reversible(lang: Lang, spec: &ActionSpec, blast: &Blast) -> Markup {
    html! {
        @match blast.snapshot {
            Some(_) if spec.reaches_others() => span.ask { (lang.not_outside()) },
            Some(number) => span.good { (lang.yes_snapshot()) " " (number) },
            None => span.ask { (lang.not_reversible()) },
        }
    }
}

/// The limits of the run that this counts for, each with what is used and held by now.
fn budget(lang: Lang, blast: &Blast) -> Markup {
    let Some(BudgetView { limits: Ceiling { actions, usd_micros, .. }, spent, held, .. }) = &blast.budget else {
        return html! { (lang.no_budget()) };
    };
    let of_actions = actions.map(|most| {
        let used = spent.actions + held.actions;
        format!("{} {} {} {}", lang.number(used), lang.of(), lang.number(most), lang.n_actions(most))
    });
    let of_money = usd_micros
        .map(|most| format!("{} {} {}", lang.money(spent.usd_micros + held.usd_micros), lang.of(), lang.money(most)));
    let told: Vec<String> = of_actions.into_iter().chain(of_money).chain(held_for_it(lang, blast.held)).collect();
    html! { @if told.is_empty() { (lang.no_budget()) } @for line in told { div { (line) } } }
}

/// What this one holds of it until it is done.
fn held_for_it(lang: Lang, held: Option<Amounts>) -> Option<String> {
    let held = held.filter(|held| !held.is_none())?;
    let money = (held.usd_micros > 0).then(|| lang.money(held.usd_micros));
    let pages = (held.pages > 0).then(|| lang.amount(Resource::Pages, held.pages));
    let rest = (held.actions > 0).then(|| lang.amount(Resource::Actions, held.actions));
    let all: Vec<String> = rest.into_iter().chain(pages).chain(money).collect();
    (!all.is_empty()).then(|| format!("{} {}", lang.held_for_this(), all.join(", ")))
}

pub(crate) fn exactly(lang: Lang, detail: &ActionDetail, stage: Stage) -> Markup {
    let spec = &detail.spec;
    let odd = spec.argv.iter().chain(spec.environment.values()).any(|word| text::is_odd_word(word));
    section(
        "exactly",
        stage.exactly(lang),
        &html! {
            @if odd { p.note.bad { (lang.odd_text()) } }
            ol.argv start="0" {
                @for (index, word) in spec.argv.iter().enumerate() {
                    li title={ (if index == 0 { lang.program() } else { lang.argument() }) " " (index) } { code { (text::word(lang, word)) } }
                }
            }
            dl.facts.wide {
                @for (name, value) in &spec.environment {
                    (fact(lang.environment(), &html! { code { (text::line(lang, name)) "=" (text::line(lang, value)) } }))
                }
                (fact(lang.cage(), &cage(lang, spec)))
                (fact(lang.at_most(), &html! { (lang.span(spec.limits.timeout_ms)) " · " (size(lang, spec.limits.memory_bytes)) }))
                (fact(lang.sealed_as(), &digest(detail.action.digest)))
            }
        },
    )
}

fn cage(lang: Lang, spec: &ActionSpec) -> Markup {
    html! {
        code { (spec.profile) }
        @if let Some(sealed) = spec.profile_digest { " " (digest(sealed)) }
        @if spec.network.is_empty() { " · " (lang.no_network()) }
    }
}

pub(crate) fn history(lang: Lang, history: &History, now: Timestamp) -> Markup {
    let rows = [
        (history.approved, lang.n_approved(history.approved)),
        (history.rejected, lang.n_rejected(history.rejected)),
        (history.succeeded, lang.n_succeeded(history.succeeded)),
        (history.failed, lang.n_failed(history.failed)),
    ];
    section(
        "history",
        lang.history(),
        &html! {
            @if *history == History::default() { p.note { (lang.never_before()) } }
            @else { p { @for (count, word) in rows { span.tally { strong { (lang.number(count)) } " " (word) } } } }
            @if !history.recent.is_empty() {
                ul.plain.past {
                    @for past in &history.recent {
                        li {
                            a href={ "/actions/" (past.id) } { (text::line(lang, &past.title)) } " " (status(past.status.as_str())) " " (moment(lang, past.at, now))
                            @if let Some(reason) = &past.reason { " · " q { (text::line(lang, reason)) } }
                        }
                    }
                }
            }
        },
    )
}

/// What the agent says for itself, folded away and marked: nothing of it is part of what is approved.
pub(crate) fn words(lang: Lang, detail: &ActionDetail) -> Markup {
    html! {
        @if let Some(words) = &detail.justification {
            details.words {
                summary { (lang.agent_says()) " " small { (lang.agent_says_untrusted()) } }
                blockquote { pre { (text::lines(lang, words)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use placet_control::read::around::Past;
    use placet_domain::action::ActionStatus;

    use super::*;

    fn detail() -> ActionDetail {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        let detail = json!({
            "id": format!("act_{id}"), "run": format!("run_{id}"), "project": format!("prj_{id}"),
            "status": "PENDING_APPROVAL", "meaning": "Waits for a person.", "tool": "curl", "kind": "execute_code",
            "digest": digest, "review": digest, "approvals": [], "approvals_missing": 1,
            "proposer": format!("idn_{id}"), "deadline": "2026-01-31T09:30:00.000Z", "attempt": 0,
            "verdict": { "tier": "B", "risk": 0.3, "policy": digest, "reasons": [] },
            "spec": {
                "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "curl",
                "tool_version": digest, "kind": "execute_code", "argv": ["/usr/bin/curl", "x".repeat(200)],
                "environment": { "A": "one\ntwo" }, "files": [], "outputs": ["out\u{200b}.txt"], "profile": "default",
                "credentials": [{ "name": "github", "to": ["https://api.example.org/repos"] }],
                "limits": { "timeout_ms": 1000, "memory_bytes": 1, "output_bytes": 1, "file_bytes": 1, "processes": 1 },
            },
        });
        serde_json::from_value(detail).expect("a detail as the API gives it")
    }

    #[test]
    fn b4_the_card_names_whose_credential_goes_where_and_what_is_left_behind() {
        let shown = blast_radius(Lang::En, &detail(), Stage::Asked, &Blast::default()).into_string();
        assert!(shown.contains("Uses the team") && shown.contains("github"), "{shown}");
        assert!(shown.contains("api.example.org") && shown.contains("⟦U+200B⟧"), "{shown}");
    }

    #[test]
    fn b4_whom_it_reaches_stands_out_and_is_never_broken_within_its_name() {
        let mut detail = detail();
        detail.spec.network = serde_json::from_value(json!(["https://api.example.org/"])).expect("an opening");
        let shown = blast_radius(Lang::En, &detail, Stage::Asked, &Blast::default()).into_string();
        assert!(shown.contains("<code class=\"reached\">"), "{shown}");
        let style = include_str!("../../assets/placet.css");
        let rule = style.lines().find(|line| line.starts_with(".reached {")).expect("it has a rule of its own");
        assert!(rule.contains("color: var(--ask)") && rule.contains("overflow-wrap: break-word"), "{rule}");
        assert!(style.contains(".facts > div:has(.reached) { grid-column: 1 / -1; }"), "it has the whole row");
    }

    #[test]
    fn b4_what_was_decided_before_is_told_by_what_it_was() {
        let past = Past {
            id: serde_json::from_value(json!(format!("act_{}", "7".repeat(32)))).unwrap(),
            title: "curl -X POST <b>".to_owned(),
            status: ActionStatus::Rejected,
            at: Timestamp::from_unix_ms(0),
            reason: Some("not now".to_owned()),
        };
        let before = History { rejected: 1, recent: vec![past], ..History::default() };
        let shown = history(Lang::En, &before, Timestamp::from_unix_ms(60_000)).into_string();
        assert!(shown.contains(">curl -X POST &lt;b&gt;</a>") && shown.contains("<q>not now</q>"), "{shown}");
    }

    #[test]
    fn b4_the_card_names_who_can_decide_and_who_stands_behind_it() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let who = Who { can: names(&["ada", "bob"]), ids: Vec::new(), behind: names(&["tom"]) };
        let shown = why(Lang::En, &detail(), Stage::Asked, Some(&who)).into_string();
        assert!(shown.contains("Who can decide: <strong>ada</strong>, <strong>bob</strong> · not, because"), "{shown}");
        assert!(shown.contains("proposal: <strong>tom</strong>"), "{shown}");
        assert!(
            why(Lang::En, &detail(), Stage::Asked, Some(&Who::default()))
                .into_string()
                .contains("nobody who is registered here")
        );
    }

    #[test]
    fn b4_the_card_tells_what_is_held_of_the_budget_for_it() {
        let held = Some(Amounts { actions: 1, usd_micros: 250_000, ..Amounts::NONE });
        let limits = Ceiling { actions: Some(20), ..Ceiling::default() };
        let budget = Some(BudgetView { limits, warn_at_percent: 80, spent: Amounts::NONE, held: Amounts::NONE });
        let shown =
            blast_radius(Lang::En, &detail(), Stage::Asked, &Blast { budget, held, ..Blast::default() }).into_string();
        assert!(shown.contains("held for this one: 1 action, ") && shown.contains("0.25"), "{shown}");
    }

    #[test]
    fn b4_every_word_that_will_run_is_there_and_a_title_is_only_a_title() {
        let detail = detail();
        let whole = exactly(Lang::En, &detail, Stage::Asked).into_string();
        assert!(
            whole.contains(&"x".repeat(200)) && whole.contains("⟦U+000A⟧") && whole.contains("no network"),
            "{whole}"
        );
        assert!(detail.spec.title().chars().count() < 100, "{}", detail.spec.title());
    }
}
