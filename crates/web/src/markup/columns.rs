//! Columns as SVG, with the same figures as a table folded below: whoever cannot see the one reads the other.

use maud::{Markup, html};
use placet_lang::Lang;

use crate::markup::plot::plot;

const WIDTH: u64 = 600;
const HEIGHT: u64 = 140;
/// Above the highest column, so that its end is seen.
const ABOVE: u64 = 4;
/// More columns than a screen tells apart; the last are drawn.
const MOST: usize = 40;
/// Room for at least so many, so that one figure is a column and no wall.
const FEWEST: u64 = 12;

/// What is drawn: the name of each series, and for each column its label and one value of each series.
pub(crate) struct Columns<'a> {
    pub(crate) title: &'a str,
    pub(crate) of: &'a str,
    pub(crate) series: Vec<&'a str>,
    pub(crate) rows: Vec<(String, Vec<u64>)>,
    pub(crate) written: &'a dyn Fn(u64) -> String,
    pub(crate) layout: Layout,
    pub(crate) labels: Labels,
}

/// Which columns are named below the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    /// The first and the last, between which time passes.
    Ends,
    /// Each: they are few, and nobody could guess those in between. They share the whole width.
    Each,
}

/// How the series of one column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// On top of each other: parts of a whole.
    Stacked,
    /// Beside each other.
    Grouped,
}

pub(crate) fn columns(lang: Lang, chart: &Columns<'_>) -> Markup {
    if chart.rows.is_empty() {
        return html! { p.note { (lang.no_figures()) } };
    }
    let shown = &chart.rows[chart.rows.len().saturating_sub(MOST)..];
    let drawing = html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(chart.title) {
            title { (chart.title) }
            @for height in [ABOVE, (HEIGHT + ABOVE) / 2, HEIGHT] { line.grid x1="0" x2=(WIDTH) y1=(height) y2=(height) {} }
            @for (class, x, y, width, height) in boxes(shown, chart.layout, chart.labels) {
                rect class={ "s" (class) } x=(x) y=(y) width=(width) height=(height) {}
            }
        }
    };
    html! {
        (plot(&drawing, highest(shown, chart.layout), chart.written))
        (labels(shown, chart.labels))
        p.legend { @for (index, name) in chart.series.iter().enumerate() { span class={ "s" (index) } { (name) } } }
        details.figures { summary { (lang.as_a_table()) } (figures(chart, shown)) }
    }
}

fn labels(shown: &[(String, Vec<u64>)], labels: Labels) -> Markup {
    match (labels, shown) {
        (Labels::Each, all) => html! { p.ends.each { @for (label, _) in all { span { (label) } } } },
        (Labels::Ends, [(first, _), .., (last, _)]) => html! { p.ends { span { (first) } span { (last) } } },
        (Labels::Ends, _) => html! {},
    }
}

fn figures(chart: &Columns<'_>, shown: &[(String, Vec<u64>)]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(chart.title) {
            table.list.figures {
                thead { tr { th { (chart.of) } @for name in &chart.series { th { (name) } } } }
                tbody {
                    @for (label, values) in shown.iter().rev() {
                        tr { th scope="row" { (label) } @for value in values { td { ((chart.written)(*value)) } } }
                    }
                }
            }
        }
    }
}

/// What the top of the drawing stands for.
fn highest(rows: &[(String, Vec<u64>)], layout: Layout) -> u64 {
    let whole = |values: &[u64]| match layout {
        Layout::Stacked => values.iter().sum(),
        Layout::Grouped => values.iter().copied().max().unwrap_or(0),
    };
    rows.iter().map(|(_, values)| whole(values)).max().unwrap_or(1).max(1)
}

/// Series, left, top, width and height of each box.
fn boxes(rows: &[(String, Vec<u64>)], layout: Layout, labels: Labels) -> Vec<(usize, u64, u64, u64, u64)> {
    let highest = highest(rows, layout);
    let fewest = match labels {
        Labels::Ends => FEWEST,
        Labels::Each => 1,
    };
    let step = WIDTH / (rows.len() as u64).max(fewest);
    let tall = |value: u64| (u128::from(value) * u128::from(HEIGHT - ABOVE) / u128::from(highest)) as u64;
    let mut drawn = Vec::new();
    for (index, (_, values)) in rows.iter().enumerate() {
        let (left, gap) = (index as u64 * step, (step / 8).max(1));
        let mut below = 0;
        for (series, value) in values.iter().enumerate() {
            let height = tall(*value);
            let (x, width) = match layout {
                Layout::Stacked => (left + gap, step.saturating_sub(2 * gap).max(1)),
                Layout::Grouped => {
                    let part = (step.saturating_sub(2 * gap) / values.len() as u64).max(1);
                    (left + gap + series as u64 * part, part)
                }
            };
            drawn.push((series, x, HEIGHT - below - height, width, height));
            below += if layout == Layout::Stacked { height } else { 0 };
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(rows: Vec<(String, Vec<u64>)>) -> String {
        let written = |value: u64| format!("{value} s");
        let (title, of, series, layout) = ("Wait", "Day", vec!["half", "nine of ten"], Layout::Grouped);
        let labels = Labels::Ends;
        columns(Lang::En, &Columns { title, of, series, rows, written: &written, layout, labels }).into_string()
    }

    #[test]
    fn c16_where_columns_are_kinds_each_is_named_below_itself() {
        let rows = ["new", "older", "oldest"].map(|label| (label.to_owned(), vec![1])).to_vec();
        let drawn = boxes(&rows, Layout::Stacked, Labels::Each);
        let middles: Vec<u64> = drawn.iter().map(|(_, x, _, width, _)| x + width / 2).collect();
        assert_eq!(middles, [100, 300, 500], "in the middle of its third of the width");
        let shown = labels(&rows, Labels::Each).into_string();
        assert_eq!(shown, "<p class=\"ends each\"><span>new</span><span>older</span><span>oldest</span></p>");
        assert_eq!(
            labels(&rows, Labels::Ends).into_string(),
            "<p class=\"ends\"><span>new</span><span>oldest</span></p>"
        );
    }

    #[test]
    fn c16_every_figure_of_a_chart_stands_in_its_table_and_nothing_is_styled_within_the_page() {
        let shown = chart(vec![("Monday".to_owned(), vec![3, 40]), ("Tuesday".to_owned(), vec![5, 8])]);
        for figure in
            ["3 s", "40 s", "5 s", "8 s", "Monday", "aria-label=\"Wait\"", "<span>20 s</span><span>0 s</span>"]
        {
            assert!(shown.contains(figure), "{figure}: {shown}");
        }
        assert!(!shown.contains("style="), "{shown}");
        assert!(!chart(Vec::new()).contains("svg"));
    }

    #[test]
    fn stacked_parts_stand_on_each_other_and_the_highest_column_fills_the_height() {
        let rows = [("a".to_owned(), vec![1, 1]), ("b".to_owned(), vec![1, 0])];
        let boxes = boxes(&rows, Layout::Stacked, Labels::Ends);
        assert_eq!(boxes[0].2 + boxes[0].4, HEIGHT, "the first stands on the ground");
        assert_eq!(boxes[1].2 + boxes[1].4, boxes[0].2, "the second on the first");
        assert_eq!(boxes[1].2, ABOVE);
    }
}
