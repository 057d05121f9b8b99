//! Curves as SVG: drawn on the server, coloured by the style, told in words to whoever cannot see them.

use std::fmt::Write as _;

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use crate::markup::parts::{exactly, written};
use crate::markup::plot::plot;

const WIDTH: u64 = 600;
const HEIGHT: u64 = 160;
/// Above the highest point, so that its line is seen.
const ABOVE: u64 = 8;
/// More corners than a screen has columns help nobody.
const MOST_POINTS: usize = 300;
/// A limit is drawn once a third of it is reached; before, it would press the curve down to a line.
const NEAR: u64 = 3;

/// Sums over time, and how they are written.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) points: Vec<(Timestamp, u64)>,
    /// What they may not go beyond.
    pub(crate) most: Option<u64>,
    pub(crate) written: fn(u64) -> String,
}

pub(crate) fn curve(lang: Lang, curve: &Curve) -> Markup {
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return html! { p.note { (lang.no_calls()) } };
    };
    let reached = curve.points.iter().map(|point| point.1).max().unwrap_or(1).max(1);
    let near = curve.most.filter(|most| reached >= most / NEAR);
    let highest = near.map_or(reached, |most| most.max(reached));
    let told = format!("{} – {}: {}", written(first.0), written(last.0), (curve.written)(last.1));
    let drawing = html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(told) {
            title { (told) }
            @for quarter in 0..5u64 { @let y = up(quarter, 4); line.grid x1="0" x2=(WIDTH) y1=(y) y2=(y) {} }
            @if let Some(most) = near { line.most x1="0" x2=(WIDTH) y1=(up(most, highest)) y2=(up(most, highest)) {} }
            path.area d=(path(&curve.points, highest, true)) {}
            path.curve d=(path(&curve.points, highest, false)) {}
        }
    };
    html! {
        (plot(&drawing, highest, &curve.written))
        p.ends {
            span { (exactly(first.0)) }
            span { strong { ((curve.written)(last.1)) } @if let Some(most) = curve.most { " " (lang.of()) " " ((curve.written)(most)) } }
            span { (exactly(last.0)) }
        }
    }
}

fn up(value: u64, highest: u64) -> u64 {
    HEIGHT - (u128::from(value) * u128::from(HEIGHT - ABOVE) / u128::from(highest)) as u64
}

/// Steps from left to right: a sum stays what it is until the next call.
fn path(points: &[(Timestamp, u64)], highest: u64, closed: bool) -> String {
    let (from, to) = match (points.first(), points.last()) {
        (Some(first), Some(last)) => (first.0.unix_ms(), last.0.unix_ms().max(first.0.unix_ms() + 1)),
        _ => return String::new(),
    };
    let across = |at: Timestamp| at.unix_ms().abs_diff(from) * WIDTH / from.abs_diff(to);
    let mut path = format!("M0 {HEIGHT}");
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    for (at, value) in points.iter().step_by(every).chain(points.last()) {
        let _ = write!(path, " H{} V{}", across(*at), up(*value, highest));
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
        let shown = curve(Lang::En, &Curve { points, most: None, written: |sum| format!("{sum} t") }).into_string();
        assert!(shown.contains("aria-label=\"1970-01-01 00:00:00 UTC – 1970-01-01 00:00:01 UTC: 40 t\""), "{shown}");
        let end = "<time datetime=\"1970-01-01T00:00:01Z\">1970-01-01 00:00:01 UTC</time>";
        assert!(shown.contains(end), "for people, and exact to machines: {shown}");
        assert!(!shown.contains("style="), "the content policy forbids styles within pages");
    }

    #[test]
    fn c16_a_limit_is_told_and_drawn_once_it_is_near() {
        let shown = |most| {
            let points = vec![(at(0), 10), (at(1_000), 40)];
            curve(Lang::En, &Curve { points, most: Some(most), written: |sum| format!("{sum} t") }).into_string()
        };
        let (near, far) = (shown(100), shown(1_000));
        assert!(near.contains("class=\"most\" x1=\"0\" x2=\"600\" y1=\"8\"") && near.contains(" of 100 t"), "{near}");
        assert!(!far.contains("class=\"most\"") && far.contains(" of 1000 t"), "{far}");
        assert!(shown(20).contains("y1=\"84\""), "what went beyond its limit stands above it");
    }

    #[test]
    fn one_call_or_none_are_no_trouble() {
        assert!(
            curve(Lang::En, &Curve { points: vec![(at(5), 0)], most: None, written: |_| String::new() })
                .into_string()
                .contains("svg")
        );
        assert!(
            !curve(Lang::En, &Curve { points: Vec::new(), most: None, written: |_| String::new() })
                .into_string()
                .contains("svg")
        );
    }
}
