//! The table of the API: one row for each endpoint.

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::Role::{Admin, Agent, Auditor, Operator, Reviewer, Worker};
use placet_domain::proposal::Proposal;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use super::declare::endpoints;
use crate::access::Access::{self, Anyone, Public, Signed};
use crate::api::*;
use crate::stream::EventStream;

/// Everybody who reads runs and actions: all roles but the worker's, which sees only what it leases.
const WATCHERS: Access = Access::Roles(&[Agent, Reviewer, Operator, Admin, Auditor]);
/// People who may have a duty for a worktree. The project's duties say who has it.
pub const DECIDERS: Access = Access::Roles(&[Reviewer, Operator, Admin]);
/// Everybody who signs in with a browser.
pub const PEOPLE: Access = Access::Roles(&[Reviewer, Operator, Admin, Auditor]);

/// The two names of a run: every endpoint below the first path is served below the second path too.
pub const RUN_ALIAS: (&str, &str) = ("/api/v1/runs/{run}", "/api/v1/autonomous/executions/{run}");

endpoints! {
    // Probes. They need no token and reveal nothing.
    GET "/health" CheckHealth {} asks HealthQuery sends Value by Public: "Says that the process is alive, and signs a question of the caller to prove which control plane it is.";
    GET "/ready" CheckReadiness {} sends Value by Public: "Says whether the control plane can take work, or why not.";
    GET "/api/v1/openapi.json" ShowApiDocument {} sends OpenApi by Public: "Returns this document.";
    GET "/metrics" ShowMetrics {} sends Bytes by [Operator Admin Auditor]: "Returns Prometheus metrics.";
    GET "/api/v1/whoami" ShowCaller {} gives 200 IdentityView by Anyone: "Shows the identity of the token.";

    // Set-up: projects, scopes, identities and the policy.
    GET "/api/v1/projects" ListProjects {} gives 200 ProjectList by Anyone: "Lists the projects that the caller sees.";
    POST "/api/v1/projects" CreateProject {} takes NewProject gives 201 ProjectView by [Admin]: "Creates a project.";
    GET "/api/v1/projects/{project}/scopes" ListScopes { project: ProjectId } gives 200 ScopeList by WATCHERS: "Lists the locked scopes of a project, the newest version of each.";
    POST "/api/v1/projects/{project}/scopes" LockScope { project: ProjectId } takes NewScope gives 201 ScopeView by [Operator Admin]: "Locks a scope. Its version is its content; runs made under an older version keep it.";
    GET "/api/v1/identities" ListIdentities {} gives 200 IdentityList by [Operator Admin Auditor]: "Lists everybody who holds or held a credential.";
    POST "/api/v1/identities" CreateIdentity {} takes NewIdentity gives 201 TokenOnce by [Admin]: "Creates an identity. Its token is shown once.";
    POST "/api/v1/identities/{identity}/token" ReplaceToken { identity: IdentityId } takes NewToken gives 200 TokenOnce by [Admin]: "Gives an identity a new token; the old one stops working.";
    POST "/api/v1/identities/{identity}/revoke" RevokeIdentity { identity: IdentityId } takes NewToken gives 200 IdentityView by [Admin]: "Revokes an identity for good. What it approved or proposed and nobody started is void.";
    POST "/api/v1/identities/{identity}/link" CreateSignInLink { identity: IdentityId } takes NewLink gives 201 LinkOnce by PEOPLE: "Creates a link that signs a person in once, with a browser: for yourself, or as an administrator for somebody else.";
    GET "/api/v1/away" ListAbsences {} gives 200 AbsenceList by PEOPLE: "Lists the people who are away now, until when, and who stands in, among those who share a project with the caller.";
    POST "/api/v1/identities/{identity}/away" StartAbsence { identity: IdentityId } takes AwayRequest gives 200 IdentityView by DECIDERS: "Names a stand-in who is notified instead until a time: for yourself, or as an administrator for somebody else. Stand-ins decide with their own rights.";
    POST "/api/v1/identities/{identity}/back" EndAbsence { identity: IdentityId } takes Decision gives 200 IdentityView by DECIDERS: "Ends an absence.";
    GET "/api/v1/policy" ShowPolicy {} gives 200 PolicyView by Anyone: "Shows the rules and tools in force.";

    // The organisation: the budget of all projects together, and the switch that stops everything.
    GET "/api/v1/organisation" ShowOrganisation {} gives 200 OrganisationView by PEOPLE: "Shows the budget of the organisation, and whether it is halted or in safe mode.";
    POST "/api/v1/organisation/budget" SetOrganisationBudget {} takes BudgetRequest gives 200 OrganisationView by [Admin]: "Sets the budget of all projects together.";
    POST "/api/v1/projects/{project}/budget" SetProjectBudget { project: ProjectId } takes BudgetRequest gives 200 ProjectView by [Admin]: "Sets the budget of all runs of a project together.";
    POST "/api/v1/projects/{project}/words" SetProjectWords { project: ProjectId } takes WordsRequest gives 200 ProjectView by [Admin]: "Sets whether the content of model calls is kept: encrypted, without secrets, for reviewers and auditors.";
    POST "/api/v1/halt" HaltEverything {} takes HaltRequest gives 200 OrganisationView by DECIDERS: "Stops everything at once: nothing starts and nothing continues.";
    POST "/api/v1/release" ReleaseHalt {} takes HaltRequest gives 200 OrganisationView by [Admin]: "Ends the halt.";
    POST "/api/v1/safe-mode" StartSafeMode {} takes HaltRequest gives 200 OrganisationView by DECIDERS: "Makes everything read-only from here on.";
    POST "/api/v1/safe-mode/end" EndSafeMode {} takes HaltRequest gives 200 OrganisationView by [Admin]: "Allows changes again.";
    POST "/api/v1/passkeys/demand" DemandPasskeys {} takes HaltRequest gives 200 OrganisationView by [Admin]: "Requires a passkey for approvals where two people are asked.";
    POST "/api/v1/passkeys/release" ReleasePasskeys {} takes HaltRequest gives 200 OrganisationView by [Admin]: "Requires a passkey only from people who have one.";

    // Runs: a person creates one, another approves the plan, the agent works, a person accepts the results.
    GET "/api/v1/runs" ListRuns {} asks RunQuery gives 200 RunList by WATCHERS: "Lists runs, newest first.";
    POST "/api/v1/runs" CreateRun {} takes NewRun gives 201 RunView by [Operator]: "Creates a run with a locked scope.";
    GET "/api/v1/autonomous/executions" ListExecutions {} asks RunQuery gives 200 RunList by WATCHERS: "Lists runs, newest first.";
    POST "/api/v1/autonomous/executions" PlanExecution {} takes NewExecution gives 201 ExecutionView by [Operator]: "Plans from an intent and creates a run of it, which waits for a reviewer.";
    GET "/api/v1/runs/{run}/pipeline" ShowPipeline { run: RunId } gives 200 PipelineView by WATCHERS: "Shows the fifteen steps from the intent of a run to its end, and its progress.";
    GET "/api/v1/runs/{run}" ShowRun { run: RunId } gives 200 RunView by WATCHERS: "Shows one run.";
    POST "/api/v1/runs/{run}/submit" SubmitPlan { run: RunId } takes PlanSubmission gives 200 RunView by [Operator]: "Submits a plan for approval.";
    POST "/api/v1/runs/{run}/approve" ApprovePlan { run: RunId } takes Decision on_seen Digest gives 200 RunView by [Reviewer]: "Approves the plan named by If-Match.";
    POST "/api/v1/runs/{run}/reject" RejectPlan { run: RunId } takes Rejection gives 200 RunView by [Reviewer]: "Sends the plan back.";
    POST "/api/v1/runs/{run}/start" StartRun { run: RunId } takes Decision gives 200 RunView by [Operator]: "Starts the run; its agent may attach.";
    POST "/api/v1/runs/{run}/attach" AttachAgent { run: RunId } takes Decision gives 200 RunView by [Agent]: "Attaches the agent; work begins.";
    POST "/api/v1/runs/{run}/pause" PauseRun { run: RunId } takes Reason gives 200 RunView by [Operator Reviewer]: "Pauses the run.";
    POST "/api/v1/runs/{run}/resume" ResumeRun { run: RunId } takes Decision gives 200 RunView by [Operator Reviewer]: "Resumes the run.";
    POST "/api/v1/runs/{run}/cancel" CancelRun { run: RunId } takes Reason gives 200 RunView by [Operator Reviewer]: "Cancels the run for good.";
    POST "/api/v1/runs/{run}/finish" FinishRun { run: RunId } takes Summary gives 200 RunView by [Agent]: "Reports that the agent is done; the results wait for a person.";
    POST "/api/v1/runs/{run}/complete" AcceptResults { run: RunId } takes Decision on_seen Digest gives 200 RunView by [Reviewer]: "Accepts the results named by If-Match.";
    POST "/api/v1/runs/{run}/export" ExportResults { run: RunId } takes ExportRequest on_seen Digest gives 200 RunView by [Reviewer]: "Accepts the results named by If-Match and exports the given outputs.";
    POST "/api/v1/runs/{run}/fail" FailRun { run: RunId } takes FailureRequest gives 200 RunView by [Agent Operator Worker]: "Ends the run as failed, with a reason.";
    POST "/api/v1/runs/{run}/budget" SetRunBudget { run: RunId } takes BudgetRequest gives 200 RunView by [Operator Reviewer]: "Sets the budget of the run; once the run is approved, only a reviewer may.";
    POST "/api/v1/runs/{run}/steps" FinishStep { run: RunId } takes StepReport gives 200 RunView by [Agent]: "Reports that the next step of the plan is done.";

    // Checkpoints: the run waits until a person decides.
    POST "/api/v1/runs/{run}/checkpoints" ReachCheckpoint { run: RunId } takes Summary gives 200 RunView by [Agent Operator Worker]: "Asks a person to look before the run continues.";
    GET "/api/v1/runs/{run}/checkpoint" ShowCheckpoint { run: RunId } gives 200 CheckpointView by WATCHERS: "Shows everything that a decision at the current checkpoint needs.";
    GET "/api/v1/runs/{run}/orders" ListRunOrders { run: RunId } gives 200 OrderList by PEOPLE: "Lists the standing orders of a run, with their status and how often each was used.";
    POST "/api/v1/runs/{run}/orders/{number}/revoke" RevokeOrder { run: RunId, number: u32 } takes Rejection gives 200 OrderList by [Operator Reviewer]: "Revokes a standing order; what it approved and has not started is withdrawn.";
    GET "/api/v1/orders" ListOrders {} gives 200 OrderList by PEOPLE: "Lists the active standing orders of all runs that the caller sees.";
    GET "/api/v1/actions/{action}/order" PreviewOrder { action: ActionId } gives 200 OrderOffer by PEOPLE: "Shows which standing orders are possible on the action, and what each would have covered so far.";
    POST "/api/v1/actions/{action}/order" GiveOrder { action: ActionId } takes OrderRequest on_seen Digest gives 201 OrderView by [Reviewer]: "Approves the action named by If-Match, and others of its class in this run, up to a number and a time.";
    GET "/api/v1/runs/{run}/wishes" ListWishes { run: RunId } gives 200 WishList by WATCHERS: "Lists the hosts that cages of the run were refused, with the answers of people.";
    POST "/api/v1/runs/{run}/wishes/{number}/grant" GrantWish { run: RunId, number: u32 } takes GrantRequest on_seen Digest gives 200 WishList by [Reviewer]: "Opens the host named by If-Match for the run, for a limited time.";
    POST "/api/v1/runs/{run}/wishes/{number}/reject" RejectWish { run: RunId, number: u32 } takes Rejection gives 200 WishList by [Reviewer]: "Refuses to open a host; the run does not ask again.";
    POST "/api/v1/runs/{run}/wishes/{number}/revoke" RevokeWish { run: RunId, number: u32 } takes Rejection gives 200 WishList by [Operator Reviewer]: "Closes an opened host at once.";
    POST "/api/v1/runs/{run}/checkpoints/{number}/approve" ApproveCheckpoint { run: RunId, number: u32 } takes Decision on_seen Digest gives 200 RunView by [Reviewer]: "Lets the run continue from the checkpoint named by If-Match.";
    POST "/api/v1/runs/{run}/checkpoints/{number}/modify" ModifyCheckpoint { run: RunId, number: u32 } takes Modification on_seen Digest gives 200 RunView by [Reviewer]: "Lets the run continue with changes: a note or other steps.";
    POST "/api/v1/runs/{run}/checkpoints/{number}/reject" RejectCheckpoint { run: RunId, number: u32 } takes Rejection on_seen Digest gives 200 RunView by [Reviewer]: "Rejects the work up to the checkpoint named by If-Match; the agent reads the reason.";
    POST "/api/v1/runs/{run}/checkpoints/{number}/rollback" RollBackToCheckpoint { run: RunId, number: u32 } takes Rejection gives 200 RunView by [Operator Reviewer]: "Rolls the run back to the snapshot of this checkpoint.";
    POST "/api/v1/runs/{run}/rollback" RollBackRun { run: RunId } takes RollbackRequest gives 200 RunView by [Operator Reviewer]: "Rolls the run back to any snapshot.";
    GET "/api/v1/runs/{run}/rollback/{number}" PreviewRollback { run: RunId, number: u32 } asks PreviewQuery gives 200 RollbackPreview by PEOPLE: "Shows what a rollback to this snapshot would change, as the host of the run sees it; waits up to `wait_ms` for the host.";
    POST "/api/v1/runs/{run}/snapshot" RequestSnapshot { run: RunId } takes Reason gives 200 RunView by [Operator Reviewer]: "Asks the host for a snapshot of the run; its agent is frozen meanwhile.";
    POST "/api/v1/runs/{run}/reject-results" RejectResults { run: RunId } takes Rejection on_seen Digest gives 200 RunView by [Reviewer]: "Rejects the results named by If-Match; the run goes back to work.";
    GET "/api/v1/runs/{run}/calls" ListCalls { run: RunId } asks CallQuery gives 200 CallList by PEOPLE: "Lists the model calls of a run, oldest first.";
    GET "/api/v1/runs/{run}/calls/{number}/words" ShowCallWords { run: RunId, number: u64 } sends Bytes by [Reviewer Auditor]: "Returns the content of one model call, without secrets, where the project keeps it.";
    GET "/api/v1/runs/{run}/audit" ShowAudit { run: RunId } asks AuditQuery gives 200 AuditTrail by PEOPLE: "Lists everything that happened in a run, from the ledger.";
    GET "/api/v1/runs/{run}/log" ReadRunLog { run: RunId } asks LogQuery gives 200 LogView by PEOPLE: "Returns the output of the agent while it works, as far as it is kept in memory; waits up to `wait_ms` for more. It is no evidence, and gone after a restart.";
    GET "/api/v1/runs/{run}/stream" FollowRun { run: RunId } streams EventStream by WATCHERS: "Streams the events of a run as server-sent events; resumable with Last-Event-ID.";

    // Worktrees: where one agent works at one ticket. The project's duties say who may do what.
    GET "/api/v1/projects/{project}/duties" ShowDuties { project: ProjectId } gives 200 DutyTable by PEOPLE: "Shows who is accountable, responsible, consulted and informed.";
    POST "/api/v1/projects/{project}/duties" AssignDuties { project: ProjectId } takes DutyTable gives 200 DutyTable by [Admin]: "Replaces the duties of a project.";
    GET "/api/v1/worktrees" ListWorktrees {} asks WorktreeQuery gives 200 WorktreeList by PEOPLE: "Lists worktrees, oldest first.";
    POST "/api/v1/projects/{project}/worktrees" OpenWorktree { project: ProjectId } takes NewWorktree gives 201 WorktreeView by DECIDERS: "Gives an agent a ticket, before anything is created on disk.";
    GET "/api/v1/worktrees/{worktree}" ShowWorktree { worktree: WorktreeId } gives 200 WorktreeView by PEOPLE: "Shows one worktree.";
    POST "/api/v1/worktrees/{worktree}/settle" SettleWorktree { worktree: WorktreeId } takes Decision gives 200 WorktreeView by DECIDERS: "Reports that the worktree exists on disk; its agent may work.";
    POST "/api/v1/worktrees/{worktree}/adopt" AdoptWorktree { worktree: WorktreeId } takes Reason gives 200 WorktreeView by DECIDERS: "Reports that the disk was reconciled with the record after a crash.";
    POST "/api/v1/worktrees/{worktree}/work" RecordWork { worktree: WorktreeId } takes WorkReport gives 200 WorktreeView by DECIDERS: "Records a step of work: began, executed, harvested, checked, pushed, collected or advised.";
    POST "/api/v1/worktrees/{worktree}/exemptions" RequestExemption { worktree: WorktreeId } takes ExemptionRequest gives 200 WorktreeView by DECIDERS: "Asks for permission to change protected paths.";
    POST "/api/v1/worktrees/{worktree}/exemptions/{number}/grant" GrantExemption { worktree: WorktreeId, number: usize } takes Decision on_seen Digest gives 200 WorktreeView by [Reviewer]: "Grants the exemption named by If-Match.";
    POST "/api/v1/worktrees/{worktree}/exemptions/{number}/refuse" RefuseExemption { worktree: WorktreeId, number: usize } takes Rejection gives 200 WorktreeView by [Reviewer]: "Refuses an exemption, with a reason.";
    POST "/api/v1/worktrees/{worktree}/close" CloseWorktree { worktree: WorktreeId } takes Closing gives 200 WorktreeView by DECIDERS: "Closes the worktree: every item of the definition of done holds, or a person answers for it.";
    POST "/api/v1/worktrees/{worktree}/merge" MergeWorktree { worktree: WorktreeId } takes Merging gives 200 WorktreeView by DECIDERS: "Records that the work was merged.";
    POST "/api/v1/worktrees/{worktree}/abort" AbortWorktree { worktree: WorktreeId } takes Rejection gives 200 WorktreeView by DECIDERS: "Gives the worktree up, with a reason.";
    GET "/api/v1/notices" ListNotices {} asks NoticeQuery gives 200 NoticeList by PEOPLE: "Lists the notices for the caller, by their duties.";

    // Actions: the agent proposes, people decide.
    POST "/api/v1/runs/{run}/actions" ProposeAction { run: RunId } accepts Proposal gives 201 ActionView by [Agent]: "Proposes an action: tool, arguments, target, files, outputs, justification.";
    GET "/api/v1/runs/{run}/effects" ListEffects { run: RunId } asks PageQuery gives 200 EffectList by WATCHERS: "Lists what the run rehearsed: each action with everything that would be done, oldest first.";
    GET "/api/v1/runs/{run}/actions" ListActions { run: RunId } asks PageQuery gives 200 ActionList by WATCHERS: "Lists the actions of a run, oldest first.";
    POST "/api/v1/hooks/{name}" ProposeByHook { name: String } accepts SignedProposal gives 201 ActionView by Signed: "Proposes an action by a signed webhook (standard-webhooks), as the agent of that webhook: run, proposal.";
    GET "/api/v1/queue" ShowQueue {} asks QueueQuery gives 200 QueueView by PEOPLE: "Lists what waits for a person: interrupted actions first, then pending ones, riskiest first.";
    GET "/api/v1/inbox" ShowInbox {} asks InboxQuery gives 200 InboxView by PEOPLE: "Lists what waits for a person, as rows: actions with those that are identical, then runs that wait.";
    GET "/api/v1/stream" FollowRuns {} asks StreamQuery streams EventStream by PEOPLE: "Streams the events of all runs that the caller sees, from now on; resumable with Last-Event-ID.";
    GET "/api/v1/workers" ListWorkers {} gives 200 WorkerList by PEOPLE: "Lists workers and their state.";
    GET "/api/v1/actions/{action}/card" ShowCard { action: ActionId } gives 200 CardView by PEOPLE: "Shows one action with everything that a person sees before they decide.";
    GET "/api/v1/decisions/summary" SummarizeDecisions {} asks SummaryQuery gives 200 DecisionSummary by PEOPLE: "Summarizes the decisions of the last thirty days and what waits now, without names.";
    GET "/api/v1/decisions/mine" ShowOwnDecisions {} gives 200 HabitView by PEOPLE: "Summarizes the decisions of the caller. Nobody else can read them.";
    GET "/api/v1/actions/{action}" ShowAction { action: ActionId } gives 200 ActionDetail by WATCHERS: "Shows one action with everything that it will do.";
    POST "/api/v1/actions/{action}/assign" AssignAction { action: ActionId } takes AssignRequest gives 200 AttentionView by [Reviewer Operator]: "Names a person who should look at the action, or nobody. It changes no rights.";
    POST "/api/v1/actions/{action}/defer" DeferAction { action: ActionId } takes DeferRequest gives 200 AttentionView by [Reviewer]: "Snoozes the action for the caller until a time before its deadline, or ends the snooze.";
    POST "/api/v1/actions/{action}/approve" ApproveAction { action: ActionId } takes Decision on_seen Digest gives 200 ActionView by [Reviewer]: "Approves the action named by If-Match.";
    POST "/api/v1/actions/{action}/amend" AmendAction { action: ActionId } takes AmendmentRequest on_seen Digest gives 201 ActionView by [Reviewer]: "Approves a changed action instead of the one named by If-Match; returns the new action.";
    POST "/api/v1/actions/{action}/reject" RejectAction { action: ActionId } takes Rejection on_seen Digest gives 200 ActionView by [Reviewer]: "Rejects the action, with a reason that the agent reads.";
    POST "/api/v1/actions/{action}/withdraw" WithdrawAction { action: ActionId } takes Withdrawal gives 200 ActionView by [Agent Operator]: "Withdraws a proposal.";
    POST "/api/v1/actions/{action}/perform" PerformAction { action: ActionId } takes Decision on_seen Digest gives 200 ActionView by [Reviewer]: "Performs a rehearsed action, named by If-Match, at the results of its run. Where the policy changed since, the action is judged again and stays rehearsed: look again.";
    POST "/api/v1/actions/{action}/resolve" ResolveAction { action: ActionId } takes ResolutionRequest gives 200 ActionView by [Reviewer]: "Decides how to continue with an interrupted action.";
    GET "/api/v1/actions/{action}/log" ReadActionLog { action: ActionId } asks LogQuery gives 200 LogView by PEOPLE: "Returns the output of the program while it is executed, as far as it is kept in memory; waits up to `wait_ms` for more. Afterwards it is in the evidence.";
    GET "/api/v1/actions/{action}/evidence" ShowManifest { action: ActionId } asks ManifestQuery sends Manifest by WATCHERS: "Returns the manifest of the evidence of an action.";
    GET "/api/v1/actions/{action}/evidence/secrets" ListSecrets { action: ActionId } gives 200 SecretList by WATCHERS: "Lists the places that look like secrets in the evidence of an action, without the secrets.";

    // Jobs: a worker leases one, redeems its permit once, keeps the lease, reports.
    POST "/api/v1/leases" LeaseJob {} takes LeaseRequest may_give Job or 204 "No action became ready in that time." by [Worker]: "Leases the approved action whose time runs out first; waits up to `wait_ms` for one.";
    POST "/api/v1/jobs/{action}/redeem" RedeemPermit { action: ActionId } takes Redemption gives 200 RedemptionView by [Worker]: "Redeems the permit. From here on the action counts as started.";
    POST "/api/v1/jobs/{action}/network" UpdateNetwork { action: ActionId } takes NetworkQuery gives 200 NetworkView by [Worker]: "Reports refused hosts and returns the hosts that were opened besides the sealed ones; waits up to `wait_ms` for news.";
    POST "/api/v1/jobs/{action}/heartbeat" SendHeartbeat { action: ActionId } takes JobReport gives 200 HeartbeatView by [Worker]: "Renews the lease; a refusal means stop.";
    POST "/api/v1/jobs/{action}/log" ReportActionLog { action: ActionId } takes LogReport gives 200 LogHeard by [Worker]: "Sends new output of the program to viewers. Nothing is recorded; all of it is in the evidence afterwards.";
    POST "/api/v1/jobs/{action}/complete" CompleteJob { action: ActionId } takes Completion gives 200 CompletionView by [Worker]: "Reports a result; late ones are quarantined.";

    POST "/api/v1/declaration" DeclareWorker {} takes DeclarationReport gives 200 IdentityView by [Worker]: "Declares a worker: binary, capacity, what its machine enforces, which cages it builds. A change is recorded.";

    // Hosting: a worker keeps the files of a run and the process of its agent, and reconciles them with the desired state.
    POST "/api/v1/hostings" ListHostings {} takes HostingQuery gives 200 HostingList by [Worker]: "Lists the desired state of the runs of this host and the runs that need a host; waits up to `wait_ms` for news.";
    POST "/api/v1/runs/{run}/host" HostRun { run: RunId } takes Decision gives 200 RunView by [Worker]: "Takes the run as its host.";
    POST "/api/v1/runs/{run}/agent-token" IssueAgentToken { run: RunId } takes NewToken gives 200 TokenOnce by [Worker]: "Issues a token for the agent that the host is about to start; the previous one stops working.";
    POST "/api/v1/runs/{run}/snapshots" RecordSnapshot { run: RunId } takes SnapshotReport gives 200 RunView by [Worker]: "Reports a snapshot that was taken and tried.";
    POST "/api/v1/runs/{run}/previews" ReportPreview { run: RunId } takes PreviewReport gives 200 RunView by [Worker]: "Reports what a requested rollback would change. Nothing of it is recorded.";
    POST "/api/v1/runs/{run}/log" ReportAgentLog { run: RunId } takes LogReport gives 200 LogHeard by [Worker]: "Sends new output of the agent to viewers. The newest of it is kept in memory; nothing is recorded.";
    POST "/api/v1/runs/{run}/snapshot-failed" ReportSnapshotFailure { run: RunId } takes FaultRequest gives 200 RunView by [Worker]: "Reports that a requested snapshot cannot be taken; the run continues without it.";
    POST "/api/v1/runs/{run}/restored" ReportRestore { run: RunId } takes RestoreReport gives 200 RunView by [Worker]: "Reports that a snapshot was restored.";
    POST "/api/v1/runs/{run}/outputs" ReportOutputs { run: RunId } takes OutputReport gives 200 RunView by [Worker]: "Reports the outputs of the run, uploaded before.";
    POST "/api/v1/runs/{run}/destroyed" ReportDestruction { run: RunId } takes Decision gives 200 RunView by [Worker]: "Reports that the host removed everything of the run; the token of its agent stops working.";

    // Evidence: stored by content; removed only after its time, if the settings say so, and with an entry for each.
    PUT "/api/v1/projects/{project}/evidence/{digest}" StoreEvidence { project: ProjectId, digest: Digest } uploads Bytes gives 201 KeptBlob by [Worker Agent Operator Reviewer]: "Stores bytes under their digest.";
    GET "/api/v1/projects/{project}/evidence/{digest}" FetchEvidence { project: ProjectId, digest: Digest } sends Bytes or 304 "The caller has them: `If-None-Match` names this digest." by Anyone: "Returns the bytes with this digest, checked as they are read.";
    DELETE "/api/v1/projects/{project}/evidence/{digest}" DeleteEvidence { project: ProjectId, digest: Digest } by Anyone: "Is always refused: nobody deletes evidence by its name.";

    GET "/api/v1/projects/{project}/retention" ShowRetention { project: ProjectId } gives 200 RetentionView by [Admin Auditor]: "Shows how long contents are kept, and what can be removed now.";
    POST "/api/v1/projects/{project}/retention/expire" ExpireEvidence { project: ProjectId } takes Decision gives 200 ExpiryView by [Admin]: "Removes expired contents: first the entries, then the bytes.";
    POST "/api/v1/projects/{project}/retention/preserve" PreserveEvidence { project: ProjectId } takes PreservationRequest gives 200 PreservationList by [Admin Auditor]: "Exempts the contents of a run or of the project from removal until this is ended.";
    POST "/api/v1/projects/{project}/retention/end-preservation" EndPreservation { project: ProjectId } takes PreservationRequest gives 200 PreservationList by [Admin]: "Ends a preservation; the contents follow the settings again.";

    // The ledger: what happened, and the means to check it.
    GET "/api/v1/ledger/head" ShowHead {} gives 200 HeadView by Anyone: "Returns the newest signed tree head.";
    GET "/api/v1/ledger/entries" ListEntries {} asks EntryQuery gives 200 EntryList by [Auditor Admin]: "Lists entries after a number.";
    GET "/api/v1/ledger/proof" ProveEntry {} asks ProofQuery gives 200 InclusionProof by [Auditor Admin]: "Proves that the entry `seq` is under the newest head.";
    GET "/api/v1/ledger/consistency" ProveConsistency {} asks ConsistencyQuery gives 200 ConsistencyProof by Anyone: "Proves that the head of size `to` extends the one of size `from`.";
}
