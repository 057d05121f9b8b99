//! HTTP: every route on one page, each with who may call it and what it takes and gives.
//!
//! The table below is the only source of routes: the router, the role check, the OpenAPI document and the reviewed
//! role × route matrix are all made from it. A route without an access rule cannot be written down.

mod access;
mod actions;
mod attention;
mod body;
mod caller;
mod calls;
mod checkpoints;
mod deciding;
mod evidence;
mod extract;
mod hooks;
mod hostings;
mod identities;
mod inbox;
mod interruption;
mod jobs;
mod ledger;
mod logs;
mod openapi;
mod orders;
mod organisation;
mod pages;
mod parts;
mod problem;
mod projects;
mod queue;
mod queued;
mod retention;
mod route;
mod router;
mod runs;
mod signed;
mod status;
mod stream;
mod view;
mod wishes;
mod worktrees;

pub use openapi::api_document;
pub(crate) use pages::{Looks, Marks, Names, News, Passwords, Questions, spread_news};
pub(crate) use router::router;

/// Converts the organisation, including its budget, for responses.
pub(crate) fn organisation_view(organisation: Organisation) -> api::OrganisationView {
    view::organisation(organisation)
}

use placet_domain::identity::Role::{Admin, Agent, Auditor, Operator, Reviewer, Worker};
use placet_domain::organisation::Organisation;
use placet_wire::api;
use route::{Access, Route, delete, get, post, put};

/// Everybody who looks at runs and actions: all roles but the worker's, which sees only what it leases.
const WATCHERS: Access = Access::Roles(&[Agent, Reviewer, Operator, Admin, Auditor]);
/// People who may have a duty for a worktree; which of them has it, the project says.
const DECIDERS: Access = Access::Roles(&[Reviewer, Operator, Admin]);
const PEOPLE: Access = Access::Roles(&[Reviewer, Operator, Admin, Auditor]);

/// What has two names. A run is an execution: every route below the first is there below the second too, with the same
/// handler and the same access.
const ALIAS: (&str, &str) = ("/api/v1/runs/{run}", "/api/v1/autonomous/executions/{run}");

/// Every route under every name it has.
pub(crate) fn routes() -> Vec<Route> {
    let mut routes = table();
    let aliases: Vec<Route> = routes.iter().filter_map(|route| route.alias(ALIAS)).collect();
    routes.extend(aliases);
    routes
}

#[rustfmt::skip]
fn table() -> Vec<Route> {
    vec![
        // Whether it is there. Nobody needs a token to ask, nothing is revealed.
        get("/health", status::health).access(Access::Public).asks::<status::HealthQuery>().about("Is the process alive? Signs a question of yours, so that you know whose it is."),
        get("/ready", status::ready).access(Access::Public).about("Can it take work? Says why not."),
        get("/api/v1/openapi.json", openapi::document).access(Access::Public).about("This document."),
        get("/metrics", status::metrics).access(Access::Roles(&[Operator, Admin, Auditor])).about("Prometheus metrics."),
        get("/api/v1/whoami", identities::whoami).access(Access::Anyone).gives::<api::IdentityView>(200).about("Who holds this token."),

        // Set-up: projects, scopes, identities, the rules in force.
        get("/api/v1/projects", projects::list).access(Access::Anyone).gives::<api::ProjectList>(200).about("The projects you see."),
        post("/api/v1/projects", projects::create).access(Access::Roles(&[Admin])).takes::<api::NewProject>().gives::<api::ProjectView>(201).about("Makes a project."),
        get("/api/v1/projects/{project}/scopes", projects::scopes).access(WATCHERS).gives::<api::ScopeList>(200).about("The scopes locked in a project, newest version of each."),
        post("/api/v1/projects/{project}/scopes", projects::lock_scope).access(Access::Roles(&[Operator, Admin])).takes::<api::NewScope>().gives::<api::ScopeView>(201).about("Locks a scope. Its version is its content; runs made under an older one keep it."),
        get("/api/v1/identities", identities::list).access(Access::Roles(&[Operator, Admin, Auditor])).gives::<api::IdentityList>(200).about("Everybody who holds or held a credential."),
        post("/api/v1/identities", identities::create).access(Access::Roles(&[Admin])).takes::<api::NewIdentity>().gives::<api::TokenOnce>(201).about("Makes an identity. Its token is shown this once."),
        post("/api/v1/identities/{identity}/token", identities::replace_token).access(Access::Roles(&[Admin])).takes::<api::NewToken>().gives::<api::TokenOnce>(200).about("Gives an identity a new token; the old one stops working."),
        post("/api/v1/identities/{identity}/revoke", identities::revoke).access(Access::Roles(&[Admin])).takes::<api::NewToken>().gives::<api::IdentityView>(200).about("Ends an identity for good. What it approved or proposed and nobody started is void."),
        post("/api/v1/identities/{identity}/link", identities::make_link).access(PEOPLE).takes::<api::NewLink>().gives::<api::LinkOnce>(201).about("Makes a link that lets a person in once, by a browser: for yourself, or as an administrator for somebody."),
        get("/api/v1/away", identities::away).access(PEOPLE).gives::<api::AbsenceList>(200).about("Who is away now, until when, and who is told instead: of those you share a project with."),
        post("/api/v1/identities/{identity}/away", identities::go_away).access(DECIDERS).takes::<api::AwayRequest>().gives::<api::IdentityView>(200).about("Names a stand-in who is told instead, until a time: for yourself, or as an administrator for somebody. They decide by their own rights."),
        post("/api/v1/identities/{identity}/back", identities::come_back).access(DECIDERS).takes::<api::Decision>().gives::<api::IdentityView>(200).about("Ends that somebody is away."),
        get("/api/v1/policy", projects::policy).access(Access::Anyone).gives::<api::PolicyView>(200).about("The rules and tools in force."),

        // The organisation: what all projects together may use up, and the switch that stops everything.
        get("/api/v1/organisation", organisation::show).access(PEOPLE).gives::<api::OrganisationView>(200).about("Its budget, and whether everything is stopped or in safe mode."),
        post("/api/v1/organisation/budget", organisation::budget).access(Access::Roles(&[Admin])).takes::<api::BudgetRequest>().gives::<api::OrganisationView>(200).about("Sets what all projects together may use up."),
        post("/api/v1/projects/{project}/budget", organisation::project_budget).access(Access::Roles(&[Admin])).takes::<api::BudgetRequest>().gives::<api::ProjectView>(200).about("Sets what all runs of a project together may use up."),
        post("/api/v1/projects/{project}/words", calls::set_words).access(Access::Roles(&[Admin])).takes::<api::WordsRequest>().gives::<api::ProjectView>(200).about("Whether what is said in calls of models is kept: encrypted, without secrets, for reviewers and auditors."),
        post("/api/v1/halt", organisation::halt).access(DECIDERS).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("Stops everything at once: nothing begins and nothing goes on."),
        post("/api/v1/release", organisation::release).access(Access::Roles(&[Admin])).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("Lets everything go on."),
        post("/api/v1/safe-mode", organisation::enter_safe_mode).access(DECIDERS).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("From here on only what looks goes on, everywhere."),
        post("/api/v1/safe-mode/end", organisation::leave_safe_mode).access(Access::Roles(&[Admin])).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("Lets changes be made again."),
        post("/api/v1/passkeys/demand", organisation::demand_passkeys).access(Access::Roles(&[Admin])).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("Where two people are asked, nobody approves without a passkey."),
        post("/api/v1/passkeys/release", organisation::release_passkeys).access(Access::Roles(&[Admin])).takes::<api::HaltRequest>().gives::<api::OrganisationView>(200).about("Only those sign with a passkey who have one."),

        // Runs: a person makes one, another approves the plan, the agent works, a person accepts the results.
        get("/api/v1/runs", runs::list).access(WATCHERS).gives::<api::RunList>(200).asks::<runs::ListQuery>().about("Runs, newest first."),
        post("/api/v1/runs", runs::create).access(Access::Roles(&[Operator])).takes::<api::NewRun>().gives::<api::RunView>(201).about("Makes a run with a locked scope."),
        get("/api/v1/autonomous/executions", runs::list).access(WATCHERS).gives::<api::RunList>(200).asks::<runs::ListQuery>().about("Runs, newest first."),
        post("/api/v1/autonomous/executions", runs::execute).access(Access::Roles(&[Operator])).takes::<api::NewExecution>().gives::<api::ExecutionView>(201).about("Plans from an intent and makes a run of it, which waits for a reviewer."),
        get("/api/v1/runs/{run}/pipeline", runs::pipeline).access(WATCHERS).gives::<api::PipelineView>(200).about("The fifteen steps from its intent to its end, and how far it is."),
        get("/api/v1/runs/{run}", runs::show).access(WATCHERS).gives::<api::RunView>(200).about("One run."),
        post("/api/v1/runs/{run}/submit", runs::submit).access(Access::Roles(&[Operator])).takes::<api::PlanSubmission>().gives::<api::RunView>(200).about("Submits a plan for approval."),
        post("/api/v1/runs/{run}/approve", runs::approve).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::RunView>(200).on_what_was_seen().about("Approves the plan named by If-Match."),
        post("/api/v1/runs/{run}/reject", runs::reject).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::RunView>(200).about("Sends the plan back."),
        post("/api/v1/runs/{run}/start", runs::start).access(Access::Roles(&[Operator])).takes::<api::Decision>().gives::<api::RunView>(200).about("Starts it; the agent may attach."),
        post("/api/v1/runs/{run}/attach", runs::attach).access(Access::Roles(&[Agent])).takes::<api::Decision>().gives::<api::RunView>(200).about("The agent reports in; work begins."),
        post("/api/v1/runs/{run}/pause", runs::pause).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Reason>().gives::<api::RunView>(200).about("Holds it where it is."),
        post("/api/v1/runs/{run}/resume", runs::resume).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Decision>().gives::<api::RunView>(200).about("Lets it go on."),
        post("/api/v1/runs/{run}/cancel", runs::cancel).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Reason>().gives::<api::RunView>(200).about("Ends it for good."),
        post("/api/v1/runs/{run}/finish", runs::finish).access(Access::Roles(&[Agent])).takes::<api::Summary>().gives::<api::RunView>(200).about("The agent is done; the results wait for a person."),
        post("/api/v1/runs/{run}/complete", runs::complete).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::RunView>(200).on_what_was_seen().about("Accepts the results named by If-Match."),
        post("/api/v1/runs/{run}/export", runs::export).access(Access::Roles(&[Reviewer])).takes::<api::ExportRequest>().gives::<api::RunView>(200).on_what_was_seen().about("Accepts the results named by If-Match and lets these outputs out."),
        post("/api/v1/runs/{run}/fail", runs::fail).access(Access::Roles(&[Agent, Operator, Worker])).takes::<api::FailureRequest>().gives::<api::RunView>(200).about("It cannot go on, and why."),
        post("/api/v1/runs/{run}/budget", runs::budget).access(Access::Roles(&[Operator, Reviewer])).takes::<api::BudgetRequest>().gives::<api::RunView>(200).about("Sets what it may use up; once it is approved, only a reviewer does."),
        post("/api/v1/runs/{run}/steps", runs::finish_step).access(Access::Roles(&[Agent])).takes::<api::StepReport>().gives::<api::RunView>(200).about("The agent has done the next step of the plan."),

        // Checkpoints: the run stands still until a person decides.
        post("/api/v1/runs/{run}/checkpoints", runs::reach_checkpoint).access(Access::Roles(&[Agent, Operator, Worker])).takes::<api::Summary>().gives::<api::RunView>(200).about("Asks a person to look before it goes on."),
        get("/api/v1/runs/{run}/checkpoint", checkpoints::show).access(WATCHERS).gives::<api::CheckpointView>(200).about("Everything there is to decide on where the run stands."),
        get("/api/v1/runs/{run}/orders", orders::of_run).access(PEOPLE).gives::<api::OrderList>(200).about("The standing orders of a run: how often each was used, and how it stands."),
        post("/api/v1/runs/{run}/orders/{number}/revoke", orders::revoke).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Rejection>().gives::<api::OrderList>(200).about("Takes an order back; what it approved and has not begun is withdrawn."),
        get("/api/v1/orders", orders::standing).access(PEOPLE).gives::<api::OrderList>(200).about("The orders that stand, of all runs you see."),
        get("/api/v1/actions/{action}/order", orders::offer).access(PEOPLE).gives::<api::OrderOffer>(200).about("What a standing order on it could be, and what it would have covered so far."),
        post("/api/v1/actions/{action}/order", orders::give).access(Access::Roles(&[Reviewer])).takes::<api::OrderRequest>().gives::<api::OrderView>(201).on_what_was_seen().about("Approves exactly what If-Match names, and others of its class in this run, so many times and until then."),
        get("/api/v1/runs/{run}/wishes", wishes::list).access(WATCHERS).gives::<api::WishList>(200).about("What cages of the run were refused, and what people said to it."),
        post("/api/v1/runs/{run}/wishes/{number}/grant", wishes::grant).access(Access::Roles(&[Reviewer])).takes::<api::GrantRequest>().gives::<api::WishList>(200).on_what_was_seen().about("Opens the host that If-Match names for the run, for a while."),
        post("/api/v1/runs/{run}/wishes/{number}/reject", wishes::reject).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::WishList>(200).about("Does not open it; it is not asked again."),
        post("/api/v1/runs/{run}/wishes/{number}/revoke", wishes::revoke).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Rejection>().gives::<api::WishList>(200).about("Closes what was opened, at once."),
        post("/api/v1/runs/{run}/checkpoints/{number}/approve", checkpoints::approve).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::RunView>(200).on_what_was_seen().about("Lets it go on from the checkpoint that If-Match names."),
        post("/api/v1/runs/{run}/checkpoints/{number}/modify", checkpoints::modify).access(Access::Roles(&[Reviewer])).takes::<api::Modification>().gives::<api::RunView>(200).on_what_was_seen().about("Lets it go on otherwise: with a note, or with other steps."),
        post("/api/v1/runs/{run}/checkpoints/{number}/reject", checkpoints::reject).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::RunView>(200).on_what_was_seen().about("What was done until the checkpoint that If-Match names will not do; the agent reads why."),
        post("/api/v1/runs/{run}/checkpoints/{number}/rollback", checkpoints::roll_back).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Rejection>().gives::<api::RunView>(200).about("Back to what was saved at this checkpoint."),
        post("/api/v1/runs/{run}/rollback", runs::roll_back).access(Access::Roles(&[Operator, Reviewer])).takes::<api::RollbackRequest>().gives::<api::RunView>(200).about("Back to any snapshot."),
        get("/api/v1/runs/{run}/rollback/{number}", hostings::preview).access(PEOPLE).gives::<api::RollbackPreview>(200).asks::<hostings::PreviewQuery>().about("What going back to this snapshot would change, as its host sees it; waits up to `wait_ms` for the host."),
        post("/api/v1/runs/{run}/snapshot", runs::ask_snapshot).access(Access::Roles(&[Operator, Reviewer])).takes::<api::Reason>().gives::<api::RunView>(200).about("Has its host save it as it is now; its agent is frozen meanwhile."),
        post("/api/v1/runs/{run}/reject-results", runs::reject_results).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::RunView>(200).on_what_was_seen().about("Sends it back to work with the results that If-Match names."),
        get("/api/v1/runs/{run}/calls", calls::list).access(PEOPLE).gives::<api::CallList>(200).asks::<calls::CallsQuery>().about("The calls of language models that a run made, oldest first."),
        get("/api/v1/runs/{run}/calls/{number}/words", calls::words).access(Access::Roles(&[Reviewer, Auditor])).about("What was said in one call, without secrets, where the project keeps it."),
        get("/api/v1/runs/{run}/audit", runs::audit).access(PEOPLE).gives::<api::AuditTrail>(200).asks::<runs::AuditQuery>().about("All that happened in a run, from the ledger."),
        get("/api/v1/runs/{run}/log", logs::of_run).access(PEOPLE).gives::<api::LogView>(200).asks::<logs::LogQuery>().about("What its agent says while it works, as far as it is kept in memory; waits up to `wait_ms` for more. No evidence, and gone after a restart."),
        get("/api/v1/runs/{run}/stream", stream::run).access(WATCHERS).resumable().about("Server-sent events of a run; resumable with Last-Event-ID."),

        // Worktrees: where one agent works at one ticket. The project's duties say who may do what.
        get("/api/v1/projects/{project}/duties", worktrees::duties).access(PEOPLE).gives::<api::DutyTable>(200).about("Who is accountable, responsible, consulted and informed."),
        post("/api/v1/projects/{project}/duties", worktrees::assign_duties).access(Access::Roles(&[Admin])).takes::<api::DutyTable>().gives::<api::DutyTable>(200).about("Assigns the duties anew."),
        get("/api/v1/worktrees", worktrees::list).access(PEOPLE).gives::<api::WorktreeList>(200).asks::<worktrees::ListQuery>().about("Worktrees, oldest first."),
        post("/api/v1/projects/{project}/worktrees", worktrees::open).access(DECIDERS).takes::<api::NewWorktree>().gives::<api::WorktreeView>(201).about("Gives an agent a ticket, before anything is made on disk."),
        get("/api/v1/worktrees/{worktree}", worktrees::show).access(PEOPLE).gives::<api::WorktreeView>(200).about("One worktree."),
        post("/api/v1/worktrees/{worktree}/settle", worktrees::settle).access(DECIDERS).takes::<api::Decision>().gives::<api::WorktreeView>(200).about("It is there on disk; its agent may work."),
        post("/api/v1/worktrees/{worktree}/adopt", worktrees::adopt).access(DECIDERS).takes::<api::Reason>().gives::<api::WorktreeView>(200).about("After a crash: what is on disk was brought in line with what is recorded."),
        post("/api/v1/worktrees/{worktree}/work", worktrees::note).access(DECIDERS).takes::<api::WorkReport>().gives::<api::WorktreeView>(200).about("Records what is done in it: began, executed, harvested, checked, pushed, collected, advised."),
        post("/api/v1/worktrees/{worktree}/exemptions", worktrees::ask_exemption).access(DECIDERS).takes::<api::ExemptionRequest>().gives::<api::WorktreeView>(200).about("Asks for leave to change protected paths."),
        post("/api/v1/worktrees/{worktree}/exemptions/{number}/grant", worktrees::grant_exemption).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::WorktreeView>(200).on_what_was_seen().about("Grants exactly the exemption that If-Match names."),
        post("/api/v1/worktrees/{worktree}/exemptions/{number}/refuse", worktrees::refuse_exemption).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::WorktreeView>(200).about("Refuses it, with a reason."),
        post("/api/v1/worktrees/{worktree}/close", worktrees::close).access(DECIDERS).takes::<api::Closing>().gives::<api::WorktreeView>(200).about("Closes it: every item of the definition of done holds, or somebody answers for it."),
        post("/api/v1/worktrees/{worktree}/merge", worktrees::merge).access(DECIDERS).takes::<api::Merging>().gives::<api::WorktreeView>(200).about("Records that its work was taken over."),
        post("/api/v1/worktrees/{worktree}/abort", worktrees::abort).access(DECIDERS).takes::<api::Rejection>().gives::<api::WorktreeView>(200).about("Gives it up, with a reason."),
        get("/api/v1/notices", worktrees::notices).access(PEOPLE).gives::<api::NoticeList>(200).asks::<worktrees::NoticeQuery>().about("What you are to be told of, by your duties."),

        // Actions: the agent proposes, people decide.
        post("/api/v1/runs/{run}/actions", actions::propose).access(Access::Roles(&[Agent])).takes_any().gives::<api::ActionView>(201).about("Proposes an action: tool, arguments, target, files, outputs, justification."),
        get("/api/v1/runs/{run}/effects", actions::effects).access(WATCHERS).gives::<api::EffectList>(200).asks::<actions::PageQuery>().about("What the run only rehearsed: each action with everything that would be done, oldest first."),
        get("/api/v1/runs/{run}/actions", actions::of_run).access(WATCHERS).gives::<api::ActionList>(200).asks::<actions::PageQuery>().about("The actions of a run, oldest first."),
        post("/api/v1/hooks/{name}", hooks::propose).access(Access::Signed).takes_any().gives::<api::ActionView>(201).about("Proposes an action by a signed webhook (standard-webhooks), as the agent it is set up for: run, proposal."),
        get("/api/v1/queue", queue::list).access(PEOPLE).gives::<api::QueueView>(200).asks::<queue::QueueQuery>().about("What waits for a person: what was interrupted, then what is undecided, riskiest first."),
        get("/api/v1/inbox", inbox::show).access(PEOPLE).gives::<api::InboxView>(200).asks::<inbox::InboxQuery>().about("What waits for a person, as rows: actions with those that are identical, then runs that stand still."),
        get("/api/v1/stream", stream::all).access(PEOPLE).asks::<stream::AllQuery>().resumable().about("Server-sent events of all runs you see, from now on; resumable with Last-Event-ID."),
        get("/api/v1/workers", inbox::workers).access(PEOPLE).gives::<api::WorkerList>(200).about("Workers and how they are."),
        get("/api/v1/actions/{action}/card", inbox::card).access(PEOPLE).gives::<api::CardView>(200).about("One action with everything a person is shown before they decide."),
        get("/api/v1/decisions/summary", deciding::summary).access(PEOPLE).gives::<api::DecisionSummary>(200).asks::<deciding::SummaryQuery>().about("How questions to people ended in the last thirty days and what waits now, without names."),
        get("/api/v1/decisions/mine", deciding::mine).access(PEOPLE).gives::<api::HabitView>(200).about("How you decide. Of nobody else this can be asked."),
        get("/api/v1/actions/{action}", actions::show).access(WATCHERS).gives::<api::ActionDetail>(200).about("One action with everything that will be done."),
        post("/api/v1/actions/{action}/assign", attention::assign).access(Access::Roles(&[Reviewer, Operator])).takes::<api::AssignRequest>().gives::<api::AttentionView>(200).about("Names who should look at it, or nobody any more. No right changes hands."),
        post("/api/v1/actions/{action}/defer", attention::defer).access(Access::Roles(&[Reviewer])).takes::<api::DeferRequest>().gives::<api::AttentionView>(200).about("Sets it aside for yourself until a time before its deadline, or brings it back."),
        post("/api/v1/actions/{action}/approve", actions::approve).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::ActionView>(200).on_what_was_seen().about("Approves exactly what If-Match names."),
        post("/api/v1/actions/{action}/amend", actions::amend).access(Access::Roles(&[Reviewer])).takes::<api::AmendmentRequest>().gives::<api::ActionView>(201).on_what_was_seen().about("Approves something else in the place of what If-Match names; gives the new action."),
        post("/api/v1/actions/{action}/reject", actions::reject).access(Access::Roles(&[Reviewer])).takes::<api::Rejection>().gives::<api::ActionView>(200).on_what_was_seen().about("Refuses it, with a reason the agent reads."),
        post("/api/v1/actions/{action}/withdraw", actions::withdraw).access(Access::Roles(&[Agent, Operator])).takes::<api::Withdrawal>().gives::<api::ActionView>(200).about("Takes a proposal back."),
        post("/api/v1/actions/{action}/perform", actions::perform).access(Access::Roles(&[Reviewer])).takes::<api::Decision>().gives::<api::ActionView>(200).on_what_was_seen().about("Has what was only rehearsed done, at the results of its run, exactly as If-Match names it. Where the policy changed since, it is judged again and stays rehearsed: look again."),
        post("/api/v1/actions/{action}/resolve", actions::resolve).access(Access::Roles(&[Reviewer])).takes::<api::ResolutionRequest>().gives::<api::ActionView>(200).about("Decides what becomes of an interrupted action."),
        get("/api/v1/actions/{action}/log", logs::of_action).access(PEOPLE).gives::<api::LogView>(200).asks::<logs::LogQuery>().about("What its program says while it is executed, as far as it is kept in memory; waits up to `wait_ms` for more. Once it is over, look at its evidence."),
        get("/api/v1/actions/{action}/evidence", evidence::manifest).access(WATCHERS).asks::<evidence::ManifestQuery>().about("The manifest of what its execution left."),
        get("/api/v1/actions/{action}/evidence/secrets", evidence::secrets).access(WATCHERS).gives::<api::SecretList>(200).about("What looked like secrets in what its execution left: where, and never what."),

        // Jobs: a worker leases, redeems its permit once, keeps alive, reports.
        post("/api/v1/leases", jobs::lease).access(Access::Roles(&[Worker])).takes_any().gives::<api::Job>(200).or(204, "Nothing came in that time.").about("Leases the approved action whose time runs out first; waits up to `wait_ms` for one; 204 when there is none."),
        post("/api/v1/jobs/{action}/redeem", jobs::redeem).access(Access::Roles(&[Worker])).takes::<api::Redemption>().gives::<api::RedemptionView>(200).about("Spends the permit. From here on the action counts as started."),
        post("/api/v1/jobs/{action}/network", jobs::network).access(Access::Roles(&[Worker])).takes::<api::NetworkQuery>().gives::<api::NetworkView>(200).about("What is open for this attempt beside what was sealed; takes its wishes, and waits up to `wait_ms` for something new."),
        post("/api/v1/jobs/{action}/heartbeat", jobs::heartbeat).access(Access::Roles(&[Worker])).takes::<api::JobReport>().gives::<api::HeartbeatView>(200).about("Keeps the lease; a refusal means: stop."),
        post("/api/v1/jobs/{action}/log", logs::action_said).access(Access::Roles(&[Worker])).takes::<api::LogReport>().gives::<api::LogHeard>(200).about("What its program wrote since the last time, for those who watch; nothing is recorded, and all of it is evidence once it is over."),
        post("/api/v1/jobs/{action}/complete", jobs::complete).access(Access::Roles(&[Worker])).takes::<api::Completion>().gives::<api::CompletionView>(200).about("Reports a result; late ones are quarantined."),

        post("/api/v1/declaration", identities::declare).access(Access::Roles(&[Worker])).takes::<api::DeclarationReport>().gives::<api::IdentityView>(200).about("A worker says what it is: binary, how much at once, what its machine enforces, which cages it builds. Written down if it is something new."),

        // Hosting: a worker keeps a run's files and its agent's process, and brings about what is wanted.
        post("/api/v1/hostings", hostings::list).access(Access::Roles(&[Worker])).takes::<api::HostingQuery>().gives::<api::HostingList>(200).about("What is wanted of this host, and runs that want one; waits up to `wait_ms` for something new."),
        post("/api/v1/runs/{run}/host", hostings::host).access(Access::Roles(&[Worker])).takes::<api::Decision>().gives::<api::RunView>(200).about("Takes a run in."),
        post("/api/v1/runs/{run}/agent-token", hostings::equip).access(Access::Roles(&[Worker])).takes::<api::NewToken>().gives::<api::TokenOnce>(200).about("A fresh token for the agent that its host is about to start; the one before stops working."),
        post("/api/v1/runs/{run}/snapshots", hostings::keep_snapshot).access(Access::Roles(&[Worker])).takes::<api::SnapshotReport>().gives::<api::RunView>(200).about("The snapshot that was wanted is taken and was tried."),
        post("/api/v1/runs/{run}/previews", hostings::previewed).access(Access::Roles(&[Worker])).takes::<api::PreviewReport>().gives::<api::RunView>(200).about("What a rollback that somebody asked about would change. Nothing of it is kept."),
        post("/api/v1/runs/{run}/log", logs::agent_said).access(Access::Roles(&[Worker])).takes::<api::LogReport>().gives::<api::LogHeard>(200).about("What its agent wrote since the last time. The newest of it is kept in memory for those who watch; nothing is recorded."),
        post("/api/v1/runs/{run}/snapshot-failed", hostings::fail_snapshot).access(Access::Roles(&[Worker])).takes::<api::FaultRequest>().gives::<api::RunView>(200).about("The snapshot that somebody asked for cannot be taken; the run goes on without it."),
        post("/api/v1/runs/{run}/restored", hostings::restore).access(Access::Roles(&[Worker])).takes::<api::RestoreReport>().gives::<api::RunView>(200).about("The snapshot that was wanted is back."),
        post("/api/v1/runs/{run}/outputs", hostings::collect).access(Access::Roles(&[Worker])).takes::<api::OutputReport>().gives::<api::RunView>(200).about("What the run made, uploaded before."),
        post("/api/v1/runs/{run}/destroyed", hostings::destroy).access(Access::Roles(&[Worker])).takes::<api::Decision>().gives::<api::RunView>(200).about("Nothing is left of it; its agent's token stops working."),

        // Evidence: stored by content; removed only after its time, if the settings say so, and with an entry for each.
        put("/api/v1/projects/{project}/evidence/{digest}", evidence::keep).access(Access::Roles(&[Worker, Agent, Operator, Reviewer])).takes_any().gives::<api::KeptBlob>(201).about("Stores bytes under their digest."),
        get("/api/v1/projects/{project}/evidence/{digest}", evidence::fetch).access(Access::Anyone).or(304, "You have them: `If-None-Match` names this digest.").about("The bytes with this digest, checked as they are read."),
        delete("/api/v1/projects/{project}/evidence/{digest}", evidence::refuse_delete).access(Access::Anyone).about("Always refused: nobody deletes evidence by its name."),

        get("/api/v1/projects/{project}/retention", retention::show).access(Access::Roles(&[Admin, Auditor])).gives::<api::RetentionView>(200).about("How long contents are kept, and what would be removed now."),
        post("/api/v1/projects/{project}/retention/expire", retention::expire).access(Access::Roles(&[Admin])).takes::<api::Decision>().gives::<api::ExpiryView>(200).about("Removes what may be removed: first the entries, then the bytes."),
        post("/api/v1/projects/{project}/retention/preserve", retention::preserve).access(Access::Roles(&[Admin, Auditor])).takes::<api::PreservationRequest>().gives::<api::PreservationList>(200).about("Nothing that a run names, or nothing of the project, is removed until this is ended."),
        post("/api/v1/projects/{project}/retention/end-preservation", retention::end_preservation).access(Access::Roles(&[Admin])).takes::<api::PreservationRequest>().gives::<api::PreservationList>(200).about("Contents follow the settings again."),

        // The ledger: what happened, and the means to check it.
        get("/api/v1/ledger/head", ledger::head).access(Access::Anyone).gives::<api::HeadView>(200).about("The newest signed tree head."),
        get("/api/v1/ledger/entries", ledger::entries).access(Access::Roles(&[Auditor, Admin])).gives::<api::EntryList>(200).asks::<ledger::EntriesQuery>().about("Entries, `after` a number."),
        get("/api/v1/ledger/proof", ledger::prove).access(Access::Roles(&[Auditor, Admin])).gives::<api::InclusionProof>(200).asks::<ledger::ProofQuery>().about("Proof that entry `seq` is under the newest head."),
        get("/api/v1/ledger/consistency", ledger::consistency).access(Access::Anyone).gives::<api::ConsistencyProof>(200).asks::<ledger::ConsistencyQuery>().about("Proof that the head of size `to` extends the one of size `from`."),
    ]
}

/// The same for the pages and forms that people use with a browser.
pub fn page_table() -> Vec<(String, String, String)> {
    pages::table().iter().map(row).collect()
}

fn row(route: &Route) -> (String, String, String) {
    (route.method.to_string(), route.path.to_string(), route.access.to_string())
}

/// Method, path and who may call it, for the reviewed matrix.
pub fn route_table() -> Vec<(String, String, String)> {
    routes().iter().map(row).collect()
}
