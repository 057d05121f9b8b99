//! What an order would be, as somebody chooses it: how wide, until when, for how many. Pure, and in the same words on the command line, on
//! the screen of `placet review` and without one.

use std::fmt::Write as _;

use jiff::Zoned;
use placet_domain::action::ActionStatus;
use placet_domain::approval::Width;
use placet_wire::api::{OrderOffer, OrderRequest, WidthView};

use crate::command::until;
use crate::context::short;
use crate::error::CliError;
use crate::out::{BAD, BOLD, DIM, styled};

/// As long as an order holds if nothing is said, here and at the control plane.
pub(in crate::command) const AN_HOUR: &str = "1h";
/// For as many more actions as an order is if nothing is said, here and at the control plane.
pub(in crate::command) const SOME: u32 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::command) struct Terms {
    pub(in crate::command) width: Width,
    /// As it was typed: a time of day is counted from when it is sent.
    pub(in crate::command) until: String,
    pub(in crate::command) times: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Self { width: Width::Exact, until: AN_HOUR.to_owned(), times: SOME }
    }
}

impl Terms {
    /// What is sent. What is out of bounds is told before.
    pub(in crate::command) fn request(&self, offer: &OrderOffer, now: &Zoned) -> Result<OrderRequest, CliError> {
        let lasts_ms = until::lasts_ms(&self.until, now)?;
        if lasts_ms > offer.longest_ms {
            let most = offer.longest_ms / 60_000;
            return Err(
                CliError::usage(format!("an order holds for {most} minutes at most")).hint("say a shorter time")
            );
        }
        if self.times == 0 || self.times > offer.most_times {
            return Err(CliError::usage(format!("an order is for 1 to {} more actions", offer.most_times)));
        }
        Ok(OrderRequest { width: self.width, lasts_ms: Some(lasts_ms), times: Some(self.times) })
    }

    /// The next of the widths that are offered; from the widest on to the narrowest.
    pub(in crate::command) fn wider(&self, offer: &OrderOffer) -> Width {
        let offered: Vec<Width> = offer.widths.iter().filter_map(|view| view.width.parse().ok()).collect();
        let at = offered.iter().position(|width| *width == self.width).unwrap_or_default();
        offered.get((at + 1) % offered.len().max(1)).copied().unwrap_or(self.width)
    }

    /// What the order says yes to, and what each width would have said yes to so far, the one that is chosen first.
    pub(in crate::command) fn told(&self, offer: &OrderOffer) -> String {
        let mut text = format!(
            "{}\n  this action, and others of this run that are {}\n  {:<8} {} more at most\n  {:<8} {}\n",
            styled(BOLD, "What you approve"),
            same(self.width),
            "count",
            self.times,
            "holds",
            until::said(&self.until)
        );
        text.push_str(
            "  what a program finds in the workspace or gets from others may differ each time, and nobody will look\n",
        );
        let chosen = offer.widths.iter().find(|view| view.width == self.width.as_str());
        text.push_str(&chosen.map(so_far).unwrap_or_default());
        for view in offer.widths.iter().filter(|view| view.width != self.width.as_str()) {
            let meant = view.width.parse().map(same).unwrap_or_default();
            let _ = writeln!(text, "\n{}\n  {meant}", styled(DIM, format!("Instead, {}", view.width)));
            text.push_str(&so_far(view));
        }
        text
    }
}

const fn same(width: Width) -> &'static str {
    match width {
        Width::Exact => "exactly the same, the contents of its files too",
        Width::Contents => "the same but for what stands in the files it writes",
    }
}

/// That somebody said no to one of them is told in words, not by colour alone.
fn so_far(width: &WidthView) -> String {
    if width.would_cover.is_empty() {
        return "  nothing of this run so far would have been covered\n".to_owned();
    }
    let mut text = "  of this run it would have covered:\n".to_owned();
    for covered in &width.would_cover {
        let status = covered.status.as_str();
        let status = if covered.status == ActionStatus::Rejected {
            styled(BAD, format!("{status}: somebody said no to it"))
        } else {
            status.to_owned()
        };
        let _ = writeln!(text, "    {}  {}  {status}", short(covered.action), covered.proposed_at);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn offer() -> OrderOffer {
        let covered = |status: &str| serde_json::json!({ "action": format!("act_{:032x}", 7), "status": status, "proposed_at": "2026-01-31T09:00:00Z" });
        serde_json::from_value(serde_json::json!({
            "widths": [
                { "width": "exact", "would_cover": [covered("SUCCEEDED")] },
                { "width": "contents", "would_cover": [covered("SUCCEEDED"), covered("REJECTED")] },
            ],
            "longest_ms": 28_800_000, "most_times": 1_000,
        }))
        .unwrap()
    }

    fn now() -> Zoned {
        "2026-01-31T17:30:00+01:00[+01:00]".parse().unwrap()
    }

    #[test]
    fn b4_every_width_says_what_it_would_have_covered_and_what_somebody_rejected_in_words() {
        let told = anstream::adapter::strip_str(&Terms::default().told(&offer())).to_string();
        let (chosen, instead) = told.split_once("Instead, contents").unwrap();
        assert!(chosen.contains("20 more at most") && chosen.contains("for 1h"), "{told}");
        assert!(!chosen.contains("said no") && instead.contains("REJECTED: somebody said no to it"), "{told}");
    }

    #[test]
    fn b4_what_is_out_of_bounds_is_told_before_it_is_sent() {
        let terms = |until: &str, times| Terms { until: until.to_owned(), times, ..Terms::default() };
        for bad in [terms("9h", 1), terms("soon", 1), terms("17:00", 1), terms("1h", 0), terms("1h", 1_001)] {
            assert_eq!(bad.request(&offer(), &now()).unwrap_err().code, Code::Usage, "{bad:?}");
        }
        let request = terms("18:00", 1_000).request(&offer(), &now()).unwrap();
        assert_eq!((request.lasts_ms, request.times), (Some(1_800_000), Some(1_000)));
    }

    #[test]
    fn b4_only_widths_that_are_offered_are_chosen() {
        let narrow = OrderOffer { widths: offer().widths[..1].to_vec(), ..offer() };
        assert_eq!(Terms::default().wider(&narrow), Width::Exact);
        assert_eq!(Terms::default().wider(&offer()), Width::Contents);
        assert_eq!(Terms { width: Width::Contents, ..Terms::default() }.wider(&offer()), Width::Exact);
        assert_eq!(Terms::default().wider(&OrderOffer { widths: Vec::new(), ..offer() }), Width::Exact);
    }
}
