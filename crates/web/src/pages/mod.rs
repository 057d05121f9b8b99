//! PAGES: the same control plane for people with a browser. Every page and every form on one page, each with who may use it.
//!
//! A page shows what the API says, rendered by [`crate::markup`]; a form asks for what the API's route asks for, through the same flow. Here
//! is only what browsers need besides: a visit instead of a token, forms instead of JSON, pages instead of problems. Nothing is decided
//! here, and whatever is sent counts only from the visit that it was shown to ([`guard`]).

mod action;
mod amend;
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
mod oidc;
mod onward;
mod order;
mod output;
mod passkey;
mod password;
mod people;
mod policy;
mod question;
mod route;
mod routes;
mod run;
mod seen;
mod settings;
mod state;
mod telling;
mod timeline;
mod viewer;

use axum::Router;
use axum::middleware::from_fn_with_state;
use placet_domain::identity::Role::{Admin, Auditor, Operator, Reviewer};

use placet_control::App;
use placet_control::http::{Access, Mount};
use route::{PageRoute, get, post};
use state::Web;

const PEOPLE: Access = Access::Roles(&[Reviewer, Operator, Admin, Auditor]);
const DECIDERS: Access = Access::Roles(&[Reviewer, Operator, Admin]);
const REVIEWERS: Access = Access::Roles(&[Reviewer]);
const MOVERS: Access = Access::Roles(&[Operator, Reviewer]);

/// Every page and every form.
#[rustfmt::skip]
fn table() -> Vec<PageRoute> {
    vec![
        // Coming in and going. Whoever has no visit is sent to the first of these.
        get("/enter", enter::show).access(Access::Public), // Sign in.
        post("/enter", enter::by_password).access(Access::Public), // By name and password.
        get("/enter/passkey", passkey::ask_to_enter).access(Access::Public), // What a passkey signs to come in.
        post("/enter/passkey", enter::by_passkey).access(Access::Public), // By a passkey.
        get("/enter/provider", oidc::set_out).access(Access::Public), // Leads to the provider that vouches for people.
        get("/enter/provider/back", oidc::come_back).access(Access::Public), // By what the provider says.
        get("/enter/{code}", enter::invitation).access(Access::Public), // A link that lets in once; looking at it does nothing.
        post("/enter/{code}", enter::by_link).access(Access::Public), // By that link.
        post("/leave", enter::leave).access(PEOPLE), // Gives the visit up.
        get("/language/{code}", enter::language).access(Access::Public), // In which language pages are shown.
        get("/assets/{name}", file::asset).access(Access::Public), // Style, script and icon.

        // What waits, and what can be decided about it.
        get("/", inbox::show).access(PEOPLE), // What waits for a person.
        get("/live", live::follow).access(PEOPLE), // Tells that something changed.
        get("/actions/{action}", action::show).access(PEOPLE), // One action.
        get("/actions/{action}/log", log::of_action).access(PEOPLE), // What its program says while it is executed.
        get("/actions/{action}/question", passkey::ask_to_approve).access(REVIEWERS), // What a passkey signs to approve it.
        post("/actions/{action}/approve", action::approve).access(REVIEWERS), // Approves exactly what was shown.
        post("/actions/{action}/order", order::give).access(REVIEWERS), // Approves exactly what was shown, and its like in this run until then.
        post("/actions/{action}/assign", attention::assign).access(MOVERS), // Names who should look at it.
        post("/actions/{action}/defer", attention::defer).access(REVIEWERS), // Sets it aside for oneself until then.
        post("/actions/{action}/reject", action::reject).access(REVIEWERS), // Refuses it, with a reason.
        post("/actions/{action}/amend", amend::amend).access(REVIEWERS), // Approves something else in its place.
        post("/actions/{action}/seen", seen::mark).access(REVIEWERS), // Marks a file of it as seen by oneself, or takes that back. Nothing is decided by it.
        post("/actions/{action}/resolve", action::resolve).access(REVIEWERS), // Decides what becomes of an interrupted action.
        post("/actions/{action}/perform", action::perform).access(REVIEWERS), // Has what was rehearsed done.
        post("/batch/approve", action::approve_all).access(REVIEWERS), // Approves actions that are identical, each by itself.
        get("/evidence/{project}/{digest}", file::evidence).access(PEOPLE), // Bytes by their digest; pictures are shown, everything else is saved.

        // Runs.
        get("/runs", run::list).access(PEOPLE), // Runs, newest first.
        get("/runs/{run}", run::show).access(PEOPLE), // One run.
        get("/runs/{run}/log", log::of_run).access(PEOPLE), // What its agent says while it works.
        post("/runs/{run}/approve", run::approve).access(REVIEWERS), // Approves the plan that was shown.
        post("/runs/{run}/reject", run::reject).access(REVIEWERS), // Sends the plan back.
        post("/runs/{run}/start", run::start).access(Access::Roles(&[Operator])), // Starts it.
        post("/runs/{run}/pause", run::pause).access(MOVERS), // Holds it where it is.
        post("/runs/{run}/resume", run::resume).access(MOVERS), // Lets it go on.
        post("/runs/{run}/budget", budget::set).access(MOVERS), // Sets what it may use up, and lets it go on with that; once it is approved, only a reviewer does.
        post("/runs/{run}/cancel", run::cancel).access(MOVERS), // Ends it for good.
        post("/runs/{run}/snapshot", run::snapshot).access(MOVERS), // Has it saved as it is now.
        post("/runs/{run}/complete", run::complete).access(REVIEWERS), // Accepts the results that were shown and lets the chosen ones out.
        post("/runs/{run}/reject-results", run::reject_results).access(REVIEWERS), // Sends it back to work.
        post("/runs/{run}/checkpoints/{number}/approve", run::pass).access(REVIEWERS), // Lets it go on from the checkpoint that was shown.
        post("/runs/{run}/checkpoints/{number}/modify", run::modify).access(REVIEWERS), // Lets it go on otherwise.
        post("/runs/{run}/checkpoints/{number}/reject", run::reject_checkpoint).access(REVIEWERS), // What was done until there will not do.
        get("/runs/{run}/rollback/{number}", run::preview).access(PEOPLE), // What going back would change.
        post("/runs/{run}/rollback/{number}", run::roll_back).access(MOVERS), // Goes back.
        post("/runs/{run}/orders/{number}/revoke", order::revoke).access(MOVERS), // Takes a standing order back.
        post("/runs/{run}/wishes/{number}/grant", run::grant).access(REVIEWERS), // Opens a host for the run, for a while.
        post("/runs/{run}/wishes/{number}/reject", run::reject_wish).access(REVIEWERS), // Does not open it.
        post("/runs/{run}/wishes/{number}/revoke", run::revoke).access(MOVERS), // Closes it again.

        // What is behind it all.
        get("/decisions", deciding::show).access(PEOPLE), // How people decide, without names.
        get("/me", deciding::own).access(PEOPLE), // How one decides oneself; nobody else sees it.
        get("/orders", order::list).access(PEOPLE), // The standing orders of all runs.
        get("/agents", people::agents).access(PEOPLE), // Agents and whom they descend from.
        get("/agents/{identity}", people::agent).access(PEOPLE), // One agent: its line, its runs, and how people decided about what it proposed.
        get("/workers", people::workers).access(PEOPLE), // Workers and how they are.
        get("/workers/{identity}", people::worker).access(PEOPLE), // One worker: what it says it is, and what it does now.
        get("/policy", policy::show).access(PEOPLE), // The rules in force.
        post("/policy", policy::judge).access(PEOPLE), // What the rules would say. Nothing is recorded.
        get("/ledger", ledger::list).access(Access::Roles(&[Auditor, Admin])), // Entries, newest first.
        get("/ledger/{seq}", ledger::show).access(Access::Roles(&[Auditor, Admin])), // One entry, with the proof that it is there.
        get("/settings", settings::show).access(PEOPLE), // One's visits and password.
        post("/settings/password", settings::set_password).access(PEOPLE), // Sets one's password.
        get("/settings/passkeys/question", passkey::ask_to_add).access(PEOPLE), // What a new passkey answers.
        get("/settings/doors/question", doors::ask).access(PEOPLE), // What a passkey signs to change a door of somebody who has passkeys.
        post("/settings/passkeys", doors::add_passkey).access(PEOPLE), // Adds a passkey.
        post("/settings/passkeys/remove", doors::remove_passkey).access(PEOPLE), // Gives one of one's own up.
        post("/settings/people/{identity}/passkeys/remove", doors::remove_passkey_of).access(Access::Roles(&[Admin])), // Takes one away from somebody who lost it.
        post("/passkeys/demand", settings::demand_passkeys).access(Access::Roles(&[Admin])), // Where two people are asked, everybody signs with a passkey.
        post("/passkeys/release", settings::release_passkeys).access(Access::Roles(&[Admin])), // Only those do who have one.
        post("/settings/visits/end", settings::end_visit).access(PEOPLE), // Ends another visit of one's own.
        post("/settings/people/{identity}/token", doors::new_token).access(Access::Roles(&[Admin])), // Gives somebody a new token; every door of theirs is closed.
        post("/settings/people/{identity}/link", doors::make_link).access(Access::Roles(&[Admin])), // Makes a link for somebody.
        post("/settings/routes/{name}/test", routes::test).access(Access::Roles(&[Admin])), // Sends everybody of a route a message that tells nothing.
        post("/settings/away", settings::go_away).access(DECIDERS), // Names a stand-in who is told instead.
        post("/settings/back", settings::come_back).access(DECIDERS), // Ends that one is away.
        post("/halt", settings::halt).access(DECIDERS), // Stops everything.
        post("/release", settings::release).access(Access::Roles(&[Admin])), // Lets everything go on.
        get("/find", find::find).access(PEOPLE), // Actions, runs and agents by an id, a number or words.
        get("/help", people::help).access(PEOPLE), // The keys, and how it works.
    ]
}

/// Puts the pages beside the API of a control plane.
pub fn mount(app: &App) -> Mount {
    let web = Web::new(app.clone());
    let routes = table().into_iter().fold(Router::new(), |router, route| {
        let guarded = route.handler.layer(from_fn_with_state((web.clone(), route.access), guard::guard));
        router.route(route.path, guarded)
    });
    let told = web.clone();
    Mount::new(routes.with_state(web.clone()))
        .wrapped_by(move |router| router.layer(from_fn_with_state(told, guard::tell)))
        .with_task(live::spread(web))
}

/// Method, path and access rule of every page and form, for the reviewed matrix.
pub fn page_table() -> Vec<(String, String, String)> {
    let row = |route: &PageRoute| (route.method.to_string(), route.path.to_owned(), route.access.to_string());
    table().iter().map(row).collect()
}
