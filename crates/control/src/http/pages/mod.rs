//! PAGES: the same control plane for people with a browser. Every page and every form on one page, each with who may use it.
//!
//! A page shows what the API says, rendered by `placet-pages`; a form asks for what the API's route asks for, through the same flow. Here
//! is only what browsers need besides: a visit instead of a token, forms instead of JSON, pages instead of problems. Nothing is decided
//! here, and whatever is sent counts only from the visit that it was shown to ([`guard`]).

mod action;
mod address;
mod amend;
mod around;
mod attention;
mod brake;
mod budget;
mod course;
mod deciding;
mod done;
mod doors;
mod enter;
mod file;
mod find;
mod form;
mod guard;
mod inbox;
mod ledger;
mod live;
mod log;
mod marks;
mod names;
mod oidc;
mod onward;
mod order;
mod output;
mod passkey;
mod password;
mod people;
mod policy;
mod question;
mod routes;
mod run;
mod seen;
mod settings;
mod telling;
mod timeline;
mod twins;
mod viewer;

pub(super) use action::{decider, page as action_page};
pub(super) use address::Address;
pub(super) use guard::{Browsing, explained, needs_own_host, turned_away, unanswered};
pub(crate) use live::{News, spread as spread_news};
pub(crate) use marks::Marks;
pub(crate) use names::Names;
pub(super) use names::person;
pub(crate) use password::Passwords;
pub(super) use people::worker_rows;
pub(crate) use question::Questions;
pub(super) use twins::{MOST_TWINS, folded};
pub(super) use viewer::standing;

use axum::Router;
use axum::middleware::from_fn_with_state;
use placet_domain::identity::Role::{Admin, Auditor, Operator, Reviewer};

use super::PEOPLE;
use super::route::{Access, Route, get, post};
use crate::app::App;

const REVIEWERS: Access = Access::Roles(&[Reviewer]);
const MOVERS: Access = Access::Roles(&[Operator, Reviewer]);

/// Every page and every form.
#[rustfmt::skip]
pub(super) fn table() -> Vec<Route> {
    vec![
        // Coming in and going. Whoever has no visit is sent to the first of these.
        get("/enter", enter::show).access(Access::Public).about("Sign in."),
        post("/enter", enter::by_password).access(Access::Public).about("By name and password."),
        get("/enter/passkey", passkey::ask_to_enter).access(Access::Public).about("What a passkey signs to come in."),
        post("/enter/passkey", enter::by_passkey).access(Access::Public).about("By a passkey."),
        get("/enter/provider", oidc::set_out).access(Access::Public).about("Leads to the provider that vouches for people."),
        get("/enter/provider/back", oidc::come_back).access(Access::Public).about("By what the provider says."),
        get("/enter/{code}", enter::invitation).access(Access::Public).about("A link that lets in once; looking at it does nothing."),
        post("/enter/{code}", enter::by_link).access(Access::Public).about("By that link."),
        post("/leave", enter::leave).access(PEOPLE).about("Gives the visit up."),
        get("/language/{code}", enter::language).access(Access::Public).about("In which language pages are shown."),
        get("/assets/{name}", file::asset).access(Access::Public).about("Style, script and icon."),

        // What waits, and what can be decided about it.
        get("/", inbox::show).access(PEOPLE).about("What waits for a person."),
        get("/live", live::follow).access(PEOPLE).about("Tells that something changed."),
        get("/actions/{action}", action::show).access(PEOPLE).about("One action."),
        get("/actions/{action}/log", log::of_action).access(PEOPLE).about("What its program says while it is executed."),
        get("/actions/{action}/question", passkey::ask_to_approve).access(REVIEWERS).about("What a passkey signs to approve it."),
        post("/actions/{action}/approve", action::approve).access(REVIEWERS).about("Approves exactly what was shown."),
        post("/actions/{action}/order", order::give).access(REVIEWERS).about("Approves exactly what was shown, and its like in this run until then."),
        post("/actions/{action}/assign", attention::assign).access(MOVERS).about("Names who should look at it."),
        post("/actions/{action}/defer", attention::defer).access(REVIEWERS).about("Sets it aside for oneself until then."),
        post("/actions/{action}/reject", action::reject).access(REVIEWERS).about("Refuses it, with a reason."),
        post("/actions/{action}/amend", amend::amend).access(REVIEWERS).about("Approves something else in its place."),
        post("/actions/{action}/seen", seen::mark).access(REVIEWERS).about("Marks a file of it as seen by oneself, or takes that back. Nothing is decided by it."),
        post("/actions/{action}/resolve", action::resolve).access(REVIEWERS).about("Decides what becomes of an interrupted action."),
        post("/actions/{action}/perform", action::perform).access(REVIEWERS).about("Has what was rehearsed done."),
        post("/batch/approve", action::approve_all).access(REVIEWERS).about("Approves actions that are identical, each by itself."),
        get("/evidence/{project}/{digest}", file::evidence).access(PEOPLE).about("Bytes by their digest; pictures are shown, everything else is saved."),

        // Runs.
        get("/runs", run::list).access(PEOPLE).about("Runs, newest first."),
        get("/runs/{run}", run::show).access(PEOPLE).about("One run."),
        get("/runs/{run}/log", log::of_run).access(PEOPLE).about("What its agent says while it works."),
        post("/runs/{run}/approve", run::approve).access(REVIEWERS).about("Approves the plan that was shown."),
        post("/runs/{run}/reject", run::reject).access(REVIEWERS).about("Sends the plan back."),
        post("/runs/{run}/start", run::start).access(Access::Roles(&[Operator])).about("Starts it."),
        post("/runs/{run}/pause", run::pause).access(MOVERS).about("Holds it where it is."),
        post("/runs/{run}/resume", run::resume).access(MOVERS).about("Lets it go on."),
        post("/runs/{run}/budget", budget::set).access(MOVERS).about("Sets what it may use up, and lets it go on with that; once it is approved, only a reviewer does."),
        post("/runs/{run}/cancel", run::cancel).access(MOVERS).about("Ends it for good."),
        post("/runs/{run}/snapshot", run::snapshot).access(MOVERS).about("Has it saved as it is now."),
        post("/runs/{run}/complete", run::complete).access(REVIEWERS).about("Accepts the results that were shown and lets the chosen ones out."),
        post("/runs/{run}/reject-results", run::reject_results).access(REVIEWERS).about("Sends it back to work."),
        post("/runs/{run}/checkpoints/{number}/approve", run::pass).access(REVIEWERS).about("Lets it go on from the checkpoint that was shown."),
        post("/runs/{run}/checkpoints/{number}/modify", run::modify).access(REVIEWERS).about("Lets it go on otherwise."),
        post("/runs/{run}/checkpoints/{number}/reject", run::reject_checkpoint).access(REVIEWERS).about("What was done until there will not do."),
        get("/runs/{run}/rollback/{number}", run::preview).access(PEOPLE).about("What going back would change."),
        post("/runs/{run}/rollback/{number}", run::roll_back).access(MOVERS).about("Goes back."),
        post("/runs/{run}/orders/{number}/revoke", order::revoke).access(MOVERS).about("Takes a standing order back."),
        post("/runs/{run}/wishes/{number}/grant", run::grant).access(REVIEWERS).about("Opens a host for the run, for a while."),
        post("/runs/{run}/wishes/{number}/reject", run::reject_wish).access(REVIEWERS).about("Does not open it."),
        post("/runs/{run}/wishes/{number}/revoke", run::revoke).access(MOVERS).about("Closes it again."),

        // What is behind it all.
        get("/decisions", deciding::show).access(PEOPLE).about("How people decide, without names."),
        get("/me", deciding::own).access(PEOPLE).about("How one decides oneself; nobody else sees it."),
        get("/orders", order::list).access(PEOPLE).about("The standing orders of all runs."),
        get("/agents", people::agents).access(PEOPLE).about("Agents and whom they descend from."),
        get("/agents/{identity}", people::agent).access(PEOPLE).about("One agent: its line, its runs, and how people decided about what it proposed."),
        get("/workers", people::workers).access(PEOPLE).about("Workers and how they are."),
        get("/workers/{identity}", people::worker).access(PEOPLE).about("One worker: what it says it is, and what it does now."),
        get("/policy", policy::show).access(PEOPLE).about("The rules in force."),
        post("/policy", policy::judge).access(PEOPLE).about("What the rules would say. Nothing is recorded."),
        get("/ledger", ledger::list).access(Access::Roles(&[Auditor, Admin])).about("Entries, newest first."),
        get("/ledger/{seq}", ledger::show).access(Access::Roles(&[Auditor, Admin])).about("One entry, with the proof that it is there."),
        get("/settings", settings::show).access(PEOPLE).about("One's visits and password."),
        post("/settings/password", settings::set_password).access(PEOPLE).about("Sets one's password."),
        get("/settings/passkeys/question", passkey::ask_to_add).access(PEOPLE).about("What a new passkey answers."),
        get("/settings/doors/question", doors::ask).access(PEOPLE).about("What a passkey signs to change a door of somebody who has passkeys."),
        post("/settings/passkeys", doors::add_passkey).access(PEOPLE).about("Adds a passkey."),
        post("/settings/passkeys/remove", doors::remove_passkey).access(PEOPLE).about("Gives one of one's own up."),
        post("/settings/people/{identity}/passkeys/remove", doors::remove_passkey_of).access(Access::Roles(&[Admin])).about("Takes one away from somebody who lost it."),
        post("/passkeys/demand", settings::demand_passkeys).access(Access::Roles(&[Admin])).about("Where two people are asked, everybody signs with a passkey."),
        post("/passkeys/release", settings::release_passkeys).access(Access::Roles(&[Admin])).about("Only those do who have one."),
        post("/settings/visits/end", settings::end_visit).access(PEOPLE).about("Ends another visit of one's own."),
        post("/settings/people/{identity}/token", doors::new_token).access(Access::Roles(&[Admin])).about("Gives somebody a new token; every door of theirs is closed."),
        post("/settings/people/{identity}/link", doors::make_link).access(Access::Roles(&[Admin])).about("Makes a link for somebody."),
        post("/settings/routes/{name}/test", routes::test).access(Access::Roles(&[Admin])).about("Sends everybody of a route a message that tells nothing."),
        post("/settings/away", settings::go_away).access(super::DECIDERS).about("Names a stand-in who is told instead."),
        post("/settings/back", settings::come_back).access(super::DECIDERS).about("Ends that one is away."),
        post("/halt", settings::halt).access(super::DECIDERS).about("Stops everything."),
        post("/release", settings::release).access(Access::Roles(&[Admin])).about("Lets everything go on."),
        get("/find", find::find).access(PEOPLE).about("Actions, runs and agents by an id, a number or words."),
        get("/help", people::help).access(PEOPLE).about("The keys, and how it works."),
    ]
}

/// The pages as routes, each behind the guard that knows browsers.
pub(super) fn router(app: &App) -> Router<App> {
    let routes = table().into_iter();
    routes.fold(Router::new(), |router, route| {
        let guarded = route.handler.layer(from_fn_with_state((app.clone(), route.access), guard::guard));
        router.route(&route.path, guarded)
    })
}
