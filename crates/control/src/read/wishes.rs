//! Wishes: what cages of a run were refused, and what people said to it.

use placet_domain::reason::StatusReason;
use placet_domain::run::{Answer, Run, Wish};
use placet_wire::api;

use super::view::time;
use crate::app::App;

/// The wishes of a run, each as it stands now.
pub fn listed(run: &Run, app: &App) -> api::WishList {
    let now = app.store().now();
    let one = |wish: &Wish| {
        let (status, until, reason) = match &wish.answer {
            Answer::Waiting => ("WAITING", None, None),
            Answer::Granted { until, .. } if *until > now => ("GRANTED", Some(time(*until)), None),
            Answer::Granted { until, .. } => ("EXPIRED", Some(time(*until)), None),
            Answer::Rejected { reason } => ("REJECTED", None, Some(StatusReason::said(reason))),
            Answer::Revoked { reason } => ("REVOKED", None, Some(reason.clone())),
        };
        api::WishView {
            number: wish.number,
            opening: wish.opening.to_string(),
            action: wish.action,
            asked_at: time(wish.asked_at),
            status: status.to_owned(),
            until,
            because: reason.as_ref().map(ToString::to_string),
            reason,
            review: wish.review(run.id),
        }
    };
    api::WishList { run: run.id, wishes: run.network.wishes.iter().map(one).collect() }
}
