//! Small things that many pages show: tiers, states, times, digests, sizes.

use jiff::Timestamp as Instant;
use maud::{Markup, html};
use placet_domain::digest::Digest;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

/// The tier as a letter and a word: never a colour alone.
pub(crate) fn tier(lang: Lang, tier: &str) -> Markup {
    html! { span.tier data-tier=(tier) { b { (tier) } " " span { (tier_word(lang, tier)) } } }
}

/// How many people are asked.
pub(crate) const fn tier_word(lang: Lang, tier: &str) -> &'static str {
    match tier.as_bytes() {
        b"A" => lang.tier_a(),
        b"B" => lang.tier_b(),
        b"C" => lang.tier_c(),
        _ => lang.tier_d(),
    }
}

/// A state, as machines name it, coloured by what it means for people.
pub(crate) fn status(status: &str) -> Markup {
    let mood = match status {
        "SUCCEEDED" | "APPROVED" | "COMPLETED" | "EXECUTING" | "STANDS" | "GRANTED" => "good",
        "DENIED" | "REJECTED" | "FAILED" | "INTERRUPTED" | "CANCELLED" | "EXPIRED" => "bad",
        "PENDING_APPROVAL" | "CHECKPOINT_REACHED" | "PENDING_EXPORT" | "PAUSED" | "WAITING" => "ask",
        _ => "still",
    };
    html! { span.status data-mood=(mood) { (status) } }
}

/// A moment, exact to machines and to whoever points at it, and how long ago it was or how soon it is.
pub(crate) fn moment(lang: Lang, at: Timestamp, now: Timestamp) -> Markup {
    let distance = now.unix_ms().abs_diff(at.unix_ms());
    let told = if at > now { lang.within(distance) } else { lang.ago(distance) };
    html! { time datetime=(iso(at)) title=(iso(at)) { (told) } }
}

/// The moment itself.
pub(crate) fn exactly(at: Timestamp) -> Markup {
    html! { time datetime=(iso(at)) { (written(at)) } }
}

/// As people write it.
pub(crate) fn written(at: Timestamp) -> String {
    iso(at).replace('T', " ").replace('Z', " UTC")
}

fn iso(at: Timestamp) -> String {
    let instant = Instant::from_millisecond(at.unix_ms()).unwrap_or(Instant::MAX);
    format!("{instant:.0}")
}

/// When something written as RFC 3339 was; the end of time for what is none.
pub(crate) fn parsed(at: &str) -> Timestamp {
    at.parse::<Instant>().map_or(Timestamp::END, |instant| Timestamp::from_unix_ms(instant.as_millisecond()))
}

/// A digest, short; whole to whoever points at it or copies it.
pub(crate) fn digest(digest: Digest) -> Markup {
    let whole = digest.to_string();
    let hex = whole.strip_prefix("sha256:").unwrap_or(&whole);
    html! { code.digest title=(whole) { (&hex[..12.min(hex.len())]) "…" } }
}

/// An id, short enough to tell two apart.
pub(crate) fn short(id: &str) -> String {
    let tail = id.len().saturating_sub(8);
    match id.split_once('_') {
        Some((kind, _)) => format!("{kind}_…{}", &id[tail..]),
        None => id.to_owned(),
    }
}

pub(crate) fn size(lang: Lang, bytes: u64) -> String {
    lang.in_bytes(bytes)
}

/// A section of a page with a heading.
pub(crate) fn section(id: &str, heading: &str, content: &Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(id) {
            h2 id=(id) { (heading) }
            (content)
        }
    }
}

/// Something and what it is called, for a list of facts.
pub(crate) fn fact(name: &str, value: &Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_a_moment_is_exact_to_machines_and_says_to_people_whether_it_was_or_comes() {
        let at = Timestamp::from_unix_ms(1_769_851_800_000);
        let shown = moment(Lang::En, at, at.plus_ms(185_000)).into_string();
        assert_eq!(
            shown,
            "<time datetime=\"2026-01-31T09:30:00Z\" title=\"2026-01-31T09:30:00Z\">3 min 5 s ago</time>"
        );
        let ahead = moment(Lang::En, at.plus_ms(185_000), at).into_string();
        assert!(ahead.ends_with(">in 3 min 5 s</time>"), "{ahead}");
        assert!(moment(Lang::Fr, at, at.plus_ms(13_000)).into_string().ends_with(">il y a 13 s</time>"));
        assert!(moment(Lang::Fr, at.plus_ms(13_000), at).into_string().ends_with(">dans 13 s</time>"));
        assert_eq!(parsed("2026-01-31T09:30:00.000Z"), at);
    }

    #[test]
    fn ids_and_sizes_are_short() {
        assert_eq!(short("act_0123456789abcdef"), "act_…89abcdef");
        assert_eq!(size(Lang::En, 1_500_000), "1 MiB");
    }
}
