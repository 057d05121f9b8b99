//! A drawing with its scale beside it: what its top, its middle and its ground stand for. Words, and not drawn ones, so that they are
//! readable however narrow the drawing is.

use maud::{Markup, html};

/// `highest` is what the top of the drawing stands for. Whoever cannot see the drawing has its figures as words elsewhere.
pub(crate) fn plot(drawing: &Markup, highest: u64, written: &dyn Fn(u64) -> String) -> Markup {
    // Half of one thing is nothing.
    let half = Some(highest / 2).filter(|half| *half > 0);
    html! {
        div.plot {
            (drawing)
            div.scale aria-hidden="true" {
                span { (written(highest)) }
                @if let Some(half) = half { span { (written(half)) } }
                span { (written(0)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_a_scale_names_top_middle_and_ground_and_no_half_of_one_thing() {
        let scale = |highest| plot(&html! {}, highest, &|value| format!("{value} s")).into_string();
        assert!(scale(40).contains("<span>40 s</span><span>20 s</span><span>0 s</span>"));
        assert!(scale(1).contains("<span>1 s</span><span>0 s</span>"));
    }
}
