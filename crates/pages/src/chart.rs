//! Curves as SVG: drawn on the server, coloured by the style, told in words to whoever cannot see them.

use std::fmt::Write as _;

use maud::{Markup, html};
use placet_domain::time::Timestamp;

use crate::lang::Lang;
use crate::parts::iso;

const WIDTH: u64 = 600;
const HEIGHT: u64 = 160;
/// More corners than a screen has columns help nobody.
const MOST_POINTS: usize = 300;

/// Sums over time, and how they are written.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(Timestamp, u64)>,
    pub(crate) written: fn(u64) -> String,
}

pub(crate) fn curve(lang: Lang, curve: &Curve) -> Markup {
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return html! { p.note { (lang.no_calls()) } };
    };
    let highest = curve.points.iter().map(|point| point.1).max().unwrap_or(1).max(1);
    let told = format!("{} – {}: {}", iso(first.0), iso(last.0), (curve.written)(last.1));
    html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(told) {
            title { (told) }
            @for quarter in 1..4u64 { line.grid x1="0" x2=(WIDTH) y1=(HEIGHT * quarter / 4) y2=(HEIGHT * quarter / 4) {} }
            path.area d=(path(&curve.points, highest, true)) {}
            path.curve d=(path(&curve.points, highest, false)) {}
        }
        p.ends { span { (iso(first.0)) } strong { ((curve.written)(last.1)) } span { (iso(last.0)) } }
    }
}

/// Steps from left to right: a sum stays what it is until the next call.
fn path(points: &[(Timestamp, u64)], highest: u64, closed: bool) -> String {
    let (from, to) = match (points.first(), points.last()) {
        (Some(first), Some(last)) => (first.0.unix_ms(), last.0.unix_ms().max(first.0.unix_ms() + 1)),
        _ => return String::new(),
    };
    let across = |at: Timestamp| at.unix_ms().abs_diff(from) * WIDTH / from.abs_diff(to);
    let up = |value: u64| HEIGHT - (u128::from(value) * u128::from(HEIGHT - 8) / u128::from(highest)) as u64;
    let mut path = format!("M0 {HEIGHT}");
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    for (at, value) in points.iter().step_by(every).chain(points.last()) {
        let _ = write!(path, " H{} V{}", across(*at), up(*value));
    }
    let _ = write!(path, " H{WIDTH}");
    if closed {
        let _ = write!(path, " V{HEIGHT} Z");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[test]
    fn a_curve_goes_up_in_steps_from_left_to_right_and_says_its_end_in_words() {
        let points = vec![(at(0), 10), (at(500), 20), (at(1_000), 40)];
        assert_eq!(path(&points, 40, false), "M0 160 H0 V122 H300 V84 H600 V8 H600 V8 H600");
        let shown = curve(Lang::En, &Curve { points, written: |sum| format!("{sum} t") }).into_string();
        assert!(shown.contains("aria-label=\"1970-01-01T00:00:00Z – 1970-01-01T00:00:01Z: 40 t\""), "{shown}");
        assert!(!shown.contains("style="), "the content policy forbids styles within pages");
    }

    #[test]
    fn one_call_or_none_are_no_trouble() {
        assert!(
            curve(Lang::En, &Curve { points: vec![(at(5), 0)], written: |_| String::new() })
                .into_string()
                .contains("svg")
        );
        assert!(
            !curve(Lang::En, &Curve { points: Vec::new(), written: |_| String::new() }).into_string().contains("svg")
        );
    }
}
