//! Standing orders: the form that gives one, beside the decision it comes with; and what stands, with the way to take it back.

use maud::{Markup, html};
use placet_domain::action::ActionStatus;
use placet_lang::Lang;
use placet_wire::api::{ActionView, CoveredView, OrderOffer, OrderView, WidthView};

use crate::markup::forms::{Form, field, reason};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{exactly, moment, parsed, short, status};
use crate::markup::{reasons, text};

const USUAL_MINUTES: u64 = 60;
const USUAL_TIMES: u32 = 20;
const MINUTE_MS: u64 = 60_000;

/// An order with the name of whoever gave it.
#[derive(Debug, Clone)]
pub(crate) struct OrderRow {
    pub(crate) order: OrderView,
    pub(crate) giver: String,
    /// Whether the viewer may take it back.
    pub(crate) revocable: bool,
}

/// What it would say yes to, in words, and what that would have been so far. Folded away: a yes to one thing comes first.
pub(crate) fn give(viewer: &Viewer, action: &ActionView, offer: &OrderOffer) -> Markup {
    let lang = viewer.lang;
    let form = Form::to(format!("/actions/{}/order", action.id), viewer).on(action.review).named("order");
    html! {
        details.panel.decides {
            summary { (lang.order_give()) " " kbd { "S" } }
            p { (lang.order_hint()) }
            p.note { (lang.order_beware()) }
            (form.with(&html! {
                fieldset {
                    legend { (lang.order_width()) }
                    @for (index, width) in offer.widths.iter().enumerate() { (choice(viewer, width, index == 0)) }
                }
                (extent(lang, offer))
                button { (lang.order_give_now()) }
            }))
        }
    }
}

fn choice(viewer: &Viewer, width: &WidthView, checked: bool) -> Markup {
    let lang = viewer.lang;
    html! {
        label.choice {
            input type="radio" name="width" value=(width.width) checked[checked];
            code { (width.width) } " " span { (meaning(lang, &width.width)) }
        }
        @if width.would_cover.is_empty() { p.note { (lang.order_none_yet()) } }
        @else {
            p.note { (lang.order_would_have()) }
            ul.plain { @for covered in &width.would_cover { li { (past(viewer, covered)) } } }
        }
    }
}

fn past(viewer: &Viewer, covered: &CoveredView) -> Markup {
    let refused = covered.status == ActionStatus::Rejected;
    html! {
        a href={ "/actions/" (covered.action) } { (short(&covered.action.to_string())) } " "
        (moment(viewer.lang, parsed(&covered.proposed_at), viewer.now)) " " (status(covered.status.as_str()))
        @if refused { " " strong.bad { (viewer.lang.order_was_rejected()) } }
    }
}

fn extent(lang: Lang, offer: &OrderOffer) -> Markup {
    let most_minutes = offer.longest_ms / MINUTE_MS;
    let minutes = USUAL_MINUTES.min(most_minutes.max(1));
    html! {
        (field("order-minutes", lang.order_minutes(), &html! {
            input #order-minutes name="minutes" value=(minutes) inputmode="numeric" pattern="[0-9]+" required;
        }))
        (field("order-times", lang.order_times(), &html! {
            input #order-times name="times" value=(USUAL_TIMES) inputmode="numeric" pattern="[0-9]+" required;
        }))
        p.note { (lang.at_most()) " " (lang.span(offer.longest_ms)) " · " (lang.number(u64::from(offer.most_times))) }
    }
}

fn meaning(lang: Lang, width: &str) -> &'static str {
    if width == "contents" { lang.order_contents() } else { lang.order_exact() }
}

/// That nobody looked at this very action, and whose order let it pass.
pub(crate) fn by_order(lang: Lang, action: &ActionView) -> Markup {
    let number = action.approvals.iter().find_map(|approval| approval.order);
    html! {
        @if let Some(number) = number {
            " · " strong.ask { (lang.order_approved_by()) " " a href={ "/runs/" (action.run) "#orders" } { (number) } }
        }
    }
}

/// All of them, one below the other.
pub(crate) fn list(viewer: &Viewer, rows: &[OrderRow]) -> Markup {
    html! { ul.plain { @for row in rows { li { (line(viewer, row)) } } } }
}

fn line(viewer: &Viewer, OrderRow { order, giver, revocable }: &OrderRow) -> Markup {
    let (lang, stands) = (viewer.lang, order.status == "STANDS");
    // What was approved by one that is used up may not have begun yet.
    let stoppable = stands || order.status == "USED_UP";
    html! {
        strong { (order.number) } " " (status(&order.status)) " "
        a href={ "/actions/" (order.action) } { (text::line(lang, if order.title.is_empty() { &order.tool } else { &order.title })) } " "
        code { (order.width) } " · "
        (lang.order_used()) " " strong { (order.used) } " " (lang.of()) " " (order.times) " · "
        (lang.order_until()) " " (exactly(parsed(&order.until)))
        @if stands { " (" (moment(lang, parsed(&order.until), viewer.now)) ")" }
        " · " (lang.order_given_by()) " " (text::line(lang, giver))
        @if let Some(reason) = &order.reason { " · " (reasons::of_status(lang, reason)) }
        @if stoppable && *revocable { (revoke(viewer, order)) }
    }
}

fn revoke(viewer: &Viewer, order: &OrderView) -> Markup {
    let lang = viewer.lang;
    let id = format!("order-{}-{}", order.run, order.number);
    let form = Form::to(format!("/runs/{}/orders/{}/revoke", order.run, order.number), viewer);
    form.with(&html! { (reason(&id, lang.reason())) button.bad { (lang.revoke()) } })
}

/// What stands, run by run.
pub(crate) fn orders(viewer: &Viewer, rows: &[OrderRow]) -> Markup {
    let lang = viewer.lang;
    let runs = rows.chunk_by(|one, other| one.order.run == other.order.run);
    let content = html! {
        h1 { (lang.nav_orders()) }
        p { (lang.orders_hint()) }
        div data-live="standing" {
            @if rows.is_empty() { div.empty { p { strong { (lang.no_orders()) } } p { (lang.no_orders_hint()) } } }
            @for rows in runs {
                @if let Some(first) = rows.first() {
                    section.panel {
                        h2 { a href={ "/runs/" (first.order.run) } { (text::line(lang, &first.order.goal)) } }
                        ul.plain { @for row in rows { li { (line(viewer, row)) } } }
                    }
                }
            }
        }
    };
    page(viewer, Here::Orders, lang.nav_orders(), &Live::of_all(), &content)
}

#[cfg(test)]
pub(crate) mod tests {
    use placet_domain::time::Timestamp;
    use serde_json::json;

    use super::*;

    pub(crate) fn viewer() -> Viewer {
        Viewer {
            name: "rita".to_owned(),
            reads_ledger: false,
            lang: Lang::En,
            csrf: "c".to_owned(),
            mark: "m".to_owned(),
            onward: None,
            waiting: 0,
            now: Timestamp::from_unix_ms(1_769_851_800_000),
            halted: None,
            safe_mode: None,
        }
    }

    fn row(status: &str) -> OrderRow {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        let order = json!({
            "run": format!("run_{id}"), "project": format!("prj_{id}"), "goal": "<b>scan</b>", "number": 3, "status": status,
            "action": format!("act_{id}"), "tool": "nmap", "width": "exact", "class": digest, "giver": format!("idn_{id}"),
            "given_at": "2026-01-31T09:00:00.000Z", "until": "2026-01-31T10:30:00.000Z", "times": 20, "used": 7,
        });
        let order = serde_json::from_value(order).expect("an order as the API gives it");
        OrderRow { order, giver: "rita \u{202e}".to_owned(), revocable: true }
    }

    #[test]
    fn b4_an_order_that_stands_is_told_with_its_uses_its_end_and_the_way_to_take_it_back() {
        let shown = orders(&viewer(), &[row("STANDS")]).into_string();
        for told in ["STANDS", "nmap", "<strong>7</strong> of 20", "2026-01-31 10:30:00 UTC", "1 h", "orders/3/revoke"]
        {
            assert!(shown.contains(told), "`{told}` is missing:\n{shown}");
        }
        assert!(shown.contains("⟦U+202E⟧") && shown.contains("&lt;b&gt;scan"), "{shown}");
    }

    #[test]
    fn b4_an_order_that_is_over_offers_nothing() {
        let mut over = row("EXPIRED");
        assert!(!list(&viewer(), std::slice::from_ref(&over)).into_string().contains("revoke"));
        over.order.status = "STANDS".to_owned();
        over.revocable = false;
        assert!(!list(&viewer(), &[over]).into_string().contains("revoke"), "nor to somebody who only looks");
    }

    #[test]
    fn b4_what_an_order_would_have_covered_is_listed_and_rejections_are_marked() {
        let would = json!([{ "action": format!("act_{}", "1".repeat(32)), "status": "REJECTED", "proposed_at": "2026-01-31T09:00:00.000Z" }]);
        let offer = json!({ "widths": [{ "width": "exact", "would_cover": would }], "longest_ms": 28_800_000, "most_times": 1000 });
        let offer: OrderOffer = serde_json::from_value(offer).expect("an offer");
        let shown = offer.widths.iter().map(|width| choice(&viewer(), width, true).into_string()).collect::<String>();
        assert!(shown.contains("value=\"exact\" checked") && shown.contains("somebody rejected it"), "{shown}");
        assert!(extent(Lang::En, &offer).into_string().contains("8 h"));
    }
}
