//! ORDER: one yes for actions that are the same question, given once and used so many times.
//!
//! Whoever gives an order approves the action in front of them and says that others of its class may pass in this run. When its agent
//! proposes one, everything is looked at again as if that person were asked now: they are still a reviewer here, nobody took their
//! credential, they are independent of whoever proposes, one person is enough, and it is asked for the same reasons by the same policy.
//! The yes is theirs, and names the order.
//!
//! Only a proposal of the run's agent is ever covered: not what a reviewer amended, what was rehearsed and is to be done, what is tried
//! again, nor what was judged anew. What waits already when an order is given waits on: somebody looked at the queue, and decides there.
//!
//! What is not here: what an order is, and when it is over ([`crate::run::Order`]).

use super::decide::{Setting, approve, independence};
use super::event::ActionEvent;
use super::evolve::evolve;
use super::state::ActionState;
use crate::approval::{Approval, Extent, MOST_TIMES};
use crate::digest::Digest;
use crate::id::ActionId;
use crate::identity::{Identity, Role};
use crate::policy::{Tier, asks_each_time};
use crate::proposal::Action;
use crate::refusal::{Obstacle, Refusal};
use crate::run::{Order, Run, Stand};

/// The yes to the action that an order is given on. Under the conditions of every yes, and some more.
pub(super) fn give(
    state: &ActionState,
    seen: Digest,
    action: &Action,
    extent: Extent,
    setting: &Setting<'_>,
) -> Result<Vec<ActionEvent>, Refusal> {
    let yes = approve(state, seen, None, setting)?;
    if action.digest() != state.digest {
        return Err(Refusal::invalid("the order is about another action"));
    }
    if state.performing {
        return Err(Refusal::invalid("what was rehearsed is decided on one by one; approve it"));
    }
    can_be_ordered(action, state.verdict.tier(), setting.run)?;
    check_extent(action, extent, setting)?;
    Ok(yes)
}

/// Whether one person may say yes to its like beforehand.
fn can_be_ordered(action: &Action, tier: Tier, run: &Run) -> Result<(), Refusal> {
    if tier != Tier::B {
        return Err(Refusal::invalid("orders are given where one person is asked; here others decide too, or nobody"));
    }
    if asks_each_time(action, &run.posture) {
        let kind = action.spec().kind;
        let why = format!("this run asks a person each time before `{kind}`; approve this one");
        return Err(Refusal::invalid(why));
    }
    if !action.spec().credentials.is_empty() {
        return Err(Refusal::invalid(
            "it uses a credential of the team, which is asked about each time; approve this one",
        ));
    }
    Ok(())
}

fn check_extent(action: &Action, extent: Extent, setting: &Setting<'_>) -> Result<(), Refusal> {
    let most_ms = setting.terms.longest_order_ms;
    if most_ms == 0 {
        return Err(Refusal::invalid("no orders are given here (`longest_order_ms` is 0); approve this one"));
    }
    if !(1..=most_ms).contains(&extent.lasts_ms) {
        let why = format!("here an order holds for 1 to {most_ms} ms (`longest_order_ms`)");
        return Err(Refusal::invalid(why));
    }
    if !(1..=MOST_TIMES).contains(&extent.times) {
        return Err(Refusal::invalid(format!("an order is for 1 to {MOST_TIMES} actions")));
    }
    if !extent.width.fits(action.spec()) {
        let why = format!(
            "an order of the width `{}` is not given on this: it is for tools that only write the files they are given, without \
             network and credentials; give it as `exact`",
            extent.width
        );
        return Err(Refusal::invalid(why));
    }
    Ok(())
}

/// The yes of a standing order to what its agent just proposed, if there is one.
pub(super) fn covered(
    id: ActionId,
    begun: &[ActionEvent],
    action: &Action,
    setting: &Setting<'_>,
) -> Option<ActionEvent> {
    // Most runs have none.
    if setting.run.orders.is_empty() {
        return None;
    }
    let new = &begun.iter().fold(None, |state, event| evolve(id, state, event, setting.now))?;
    can_be_ordered(action, new.verdict.tier(), setting.run).ok()?;
    if new.verdict.policy() != setting.policy {
        return None;
    }
    let says_yes = |order: &&Order| {
        order.stand(setting.run, setting.policy, setting.now) == Stand::Stands
            && order.covers(setting.run, action.spec(), &new.verdict)
    };
    setting.run.orders.iter().filter(says_yes).find_map(|order| {
        let giver = setting.givers.iter().find(|giver| giver.id == order.giver)?;
        let single_operator = would_count(order, new, giver, setting.run)?;
        Some(yes((order, giver), new, single_operator, setting))
    })
}

/// The one yes that is needed, as its giver's. It holds no longer than the order itself.
fn yes(
    (order, giver): (&Order, &Identity),
    new: &ActionState,
    single_operator: bool,
    setting: &Setting<'_>,
) -> ActionEvent {
    let expires_at = setting.now.plus_ms(setting.terms.dispatch_within_ms).min(order.until);
    let (reviewer, lineage, review) = (giver.id, giver.lineage.clone(), new.review());
    let (order, signing) = (Some(order.number), None);
    let approval = Approval { reviewer, lineage, review, expires_at, single_operator, order, signing };
    ActionEvent::Approved { approval, complete: true }
}

/// Whether the giver's own yes to it would count now, and whether only because one person works alone.
fn would_count(order: &Order, new: &ActionState, giver: &Identity, run: &Run) -> Option<bool> {
    let may =
        !giver.revoked && giver.token == order.token && giver.has(Role::Reviewer) && giver.reach.includes(run.project);
    independence(new, giver, run.separation).ok().filter(|_| may)
}

/// What nobody stands behind any more is not begun.
pub(super) fn needs_its_order(state: &ActionState, run: &Run, what: &'static str) -> Result<(), Refusal> {
    if run.disowns(state) {
        return Err(Refusal::not_now(what, Obstacle::OrderRevoked));
    }
    Ok(())
}
