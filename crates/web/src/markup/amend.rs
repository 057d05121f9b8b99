//! What a reviewer makes of an action, on its card: every part of the wish that can be changed, and the text of the files it is given.
//!
//! A part is offered where it comes back from a form as it was; where it would not, the page says why and where it is changed instead. In
//! the inbox everything but the files: their text stands on the whole card.

use std::fmt::Display;

use maud::{Markup, html};
use placet_domain::proposal::Proposal;
use placet_lang::Lang;

use crate::markup::action::{ActionPage, Room, is_asked, typed};
use crate::markup::fielded::{Unfit, fit, lines, weight};
use crate::markup::forms::{Form, field, reason_again};
use crate::markup::layout::Viewer;
use crate::markup::problem::Problem;
use crate::markup::{refusals, text};

/// What the texts of all files take of a page at most, as a browser sends them: an eighth of what is read of a form, so that there is room for
/// whatever somebody writes.
const MOST_FILE_BYTES: usize = 128 << 10;
/// A field grows no further than what stands on a screen.
const MOST_ROWS: usize = 24;

/// What can be changed of an action, and what somebody has just tried to make of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Amending {
    /// Whether its tool is told whom it reaches.
    pub(crate) network: bool,
    /// Whether the team has credentials for its tool.
    pub(crate) credentials: bool,
    /// How much of a form is read.
    pub(crate) form_bytes: usize,
    pub(crate) tried: Option<Tried>,
}

/// A form that was not taken: everything that was written in it, and why.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) why: Problem,
}

impl Tried {
    fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn leaves_out(&self, index: usize) -> bool {
        self.fields.iter().any(|(name, value)| name == WITHOUT && *value == index.to_string())
    }
}

/// The field that names files to leave out.
pub(crate) const WITHOUT: &str = "without";

/// The field that holds the time limit, in seconds.
pub(crate) const TIMEOUT: &str = "timeout_seconds";

/// All of it: what nobody changes comes back to the millisecond.
fn in_seconds(millis: u64) -> String {
    let (whole, rest) = (millis / 1_000, millis % 1_000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}").trim_end_matches('0').to_owned() }
}

/// As somebody writes it, with a point or a comma; nothing for what is no such number.
pub(crate) fn from_seconds(written: &str) -> Option<u64> {
    let (whole, rest) = written.split_once(['.', ',']).unwrap_or((written, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(rest) || rest.len() > 3 {
        return None;
    }
    let rest_ms: u64 = format!("{rest:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(rest_ms)
}

/// The field that holds the text of a file.
pub(crate) fn file_field(index: usize) -> String {
    format!("file-{index}")
}

/// That it was not taken, where nobody overlooks it.
pub(crate) fn not_taken(lang: Lang, shown: &ActionPage) -> Markup {
    let Some(Tried { why, .. }) = &shown.amending.tried else { return html! {} };
    html! {
        div.panel role="alert" {
            h2 { (match (why.code.as_str(), why.is_as_before()) { ("stale", _) => lang.it_changed(), (_, true) => lang.not_taken(), (_, false) => lang.look_again() }) }
            p {
                (refusals::of_problem(lang, why))
            }
            p { @if why.is_as_before() { (lang.nothing_changed()) " " } code { (why.code) } " · " a href="#amend" { (lang.still_written()) } }
        }
    }
}

/// Whether a card has the form: what was written in one is put back into it, or shown beside it.
pub(crate) fn is_offered(shown: &ActionPage) -> bool {
    is_asked(shown) && shown.detail.proposal.is_some()
}

pub(crate) fn amend(viewer: &Viewer, shown: &ActionPage, room: Room) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    let Some(proposal) = &shown.detail.proposal else { return html! {} };
    let form = Form::to(format!("/actions/{}/amend", action.id), viewer).on(action.review).named("amend");
    let form = form.at_most(shown.amending.form_bytes, lang.form_too_long());
    html! {
        details.panel.decides open[shown.amending.tried.is_some()] {
            summary { (lang.amend()) " " kbd { "E" } }
            p { (lang.amend_hint()) }
            (form.with(&html! {
                (wish(lang, shown, proposal))
                (files(lang, shown, room))
                (reason_again("amend-reason", lang.reason_needed(), written(shown, "reason")))
                (typed("amend-confirm", lang, shown))
                button { (lang.amend()) }
            }))
        }
    }
}

/// Everything but files.
fn wish(lang: Lang, shown: &ActionPage, proposal: &Proposal) -> Markup {
    let pairs: Vec<String> = proposal.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (target, timeout) = (written(shown, "target"), written(shown, TIMEOUT));
    let was = proposal.target.as_ref().map(ToString::to_string).unwrap_or_default();
    let amending = &shown.amending;
    html! {
        (several(lang, shown, ("arguments", lang.arguments_lines()), &proposal.arguments))
        (several(lang, shown, ("environment", lang.environment_lines()), &pairs))
        @if text::is_odd(&was) { (unfit(lang, shown, lang.target_of_it(), lang.unfit_words())) }
        @else { (field("target", lang.target_of_it(), &html! { input #target name="target" value=(target.unwrap_or(&was)) autocomplete="off" spellcheck="false"; })) }
        (several(lang, shown, ("outputs", lang.outputs_lines()), &proposal.outputs))
        @if amending.network { (several(lang, shown, ("network", lang.network_lines()), &proposal.network)) }
        @if amending.credentials { (several(lang, shown, ("credentials", lang.credentials_lines()), &proposal.credentials)) }
        (field("timeout", lang.timeout_seconds(), &html! {
            input #timeout name=(TIMEOUT) inputmode="decimal" pattern="[0-9]*([.,][0-9]{1,3})?" value=(timeout.map_or_else(|| in_seconds(shown.detail.spec.limits.timeout_ms), ToOwned::to_owned));
        }))
    }
}

/// What somebody wrote there before it was not taken.
fn written<'s>(shown: &'s ActionPage, name: &str) -> Option<&'s str> {
    shown.amending.tried.as_ref().and_then(|tried| tried.get(name))
}

/// What there may be several of, one on a line: where each is one line that is seen whole, it comes back as it was.
fn several<T: Display>(
    lang: Lang,
    shown: &ActionPage,
    (name, label): (&str, &str),
    each: impl IntoIterator<Item = T>,
) -> Markup {
    let each: Vec<String> = each.into_iter().map(|one| one.to_string()).collect();
    // What comes back without its blanks, or not at all, would be changed by whoever touches nothing.
    let is_bare = |one: &String| name == "arguments" || name == "environment" || one.trim() == one;
    if each.iter().any(|one| one.is_empty() || text::is_odd(one) || !is_bare(one)) {
        return unfit(lang, shown, label, lang.unfit_words());
    }
    let now = written(shown, name).map_or_else(|| each.join("\n"), ToOwned::to_owned);
    field(name, label, &lines(name, name, rows(&now, 2), &now))
}

fn rows(text: &str, least: usize) -> usize {
    (text.matches('\n').count() + 1).clamp(least, MOST_ROWS)
}

/// What is not changed here, why, and where it is.
fn unfit(lang: Lang, shown: &ActionPage, label: &str, why: &str) -> Markup {
    html! { div.field { p.note { strong { (label) } " · " (why) " " (elsewhere(lang, shown)) } } }
}

fn elsewhere(lang: Lang, shown: &ActionPage) -> Markup {
    html! { (lang.edit_at_terminal()) " " code { "placet approve " (shown.detail.action.id) " --edit --reason …" } }
}

/// The files, each with its text where that is fit for a field and there is room for it, and the way to leave it out.
fn files(lang: Lang, shown: &ActionPage, room: Room) -> Markup {
    if shown.files.is_empty() {
        return html! {};
    }
    if room == Room::Inbox {
        return html! { p.note { a href={ "/actions/" (shown.detail.action.id) } { (lang.edit_on_card()) } } };
    }
    let mut left = MOST_FILE_BYTES;
    html! {
        fieldset {
            legend { (lang.given_files()) }
            @for (index, file) in shown.files.iter().enumerate() {
                @let text = fit(file).and_then(|text| taken(&mut left, text));
                @let id = file_field(index);
                details.edit open[written(shown, &id).is_some_and(|now| text.is_ok_and(|text| now != text.replace("\r\n", "\n")))] {
                    summary { code { (text::line(lang, &file.path)) } }
                    @match text {
                        Ok(text) => {
                            @let now = written(shown, &id).unwrap_or(text);
                            label for=(id) { (lang.text_of_file()) " " code { (text::line(lang, &file.path)) } }
                            (lines(&id, &id, rows(now, 4), now))
                        },
                        Err(why) => p.note { (said(lang, why)) " " (elsewhere(lang, shown)) },
                    }
                    label.choice {
                        input type="checkbox" name=(WITHOUT) value=(index) checked[shown.amending.tried.as_ref().is_some_and(|tried| tried.leaves_out(index))];
                        (lang.leave_file_out())
                    }
                }
            }
        }
    }
}

/// A text, as long as there is room for it.
fn taken<'t>(left: &mut usize, text: &'t str) -> Result<&'t str, Unfit> {
    *left = left.checked_sub(weight(text)).ok_or(Unfit::Large)?;
    Ok(text)
}

const fn said(lang: Lang, why: Unfit) -> &'static str {
    match why {
        Unfit::NoText => lang.unfit_no_text(),
        Unfit::Large => lang.unfit_large(),
        Unfit::Withheld => lang.withheld(),
        Unfit::Removed => lang.removed_bytes(),
        Unfit::Tricky => lang.unfit_tricky(),
        Unfit::Ends => lang.unfit_ends(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_a_time_limit_is_told_in_seconds_and_comes_back_to_the_millisecond() {
        for (millis, told) in [(0, "0"), (1, "0.001"), (1_500, "1.5"), (30_000, "30"), (61_042, "61.042")] {
            assert_eq!(in_seconds(millis), told);
            assert_eq!(from_seconds(told), Some(millis), "{told}");
        }
        assert_eq!(from_seconds("1,5"), Some(1_500), "as the French write it");
        for strange in ["", "soon", "1.", ".5", "1.2345", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(from_seconds(strange), None, "{strange}");
        }
    }
}
