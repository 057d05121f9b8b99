//! Attention: who should look at an action and who set it aside, with names. Agents are shown nothing of it.

use placet_domain::action::ActionState;
use placet_wire::api;

use super::names::person;
use super::view::time;
use crate::app::App;
use crate::error::No;
use crate::flow::Caller;

/// With names, and as whoever asks sees it now: what was set aside until a time that has come is not any more.
pub async fn view(app: &App, caller: &Caller, state: &ActionState) -> Result<api::AttentionView, No> {
    let (me, now) = (caller.identity.id, app.store().now());
    let mut view = api::AttentionView::default();
    if let Some(assigned) = &state.attention.assigned {
        let (to, by) = (person(app, assigned.to).await?, person(app, assigned.by).await?);
        let note = assigned.note.clone();
        view.assigned = Some(api::AssignmentView { to, to_id: assigned.to, by, note, is_yours: assigned.to == me });
    }
    for aside in state.attention.aside.iter().filter(|aside| aside.until > now) {
        let (who, until) = (person(app, aside.who).await?, time(aside.until));
        view.aside.push(api::AsideView { who, until, is_yours: aside.who == me });
    }
    Ok(view)
}
