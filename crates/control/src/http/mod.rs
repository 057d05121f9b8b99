//! HTTP: the handler of every endpoint of the API.
//!
//! The endpoints themselves stand in `placet_wire::endpoint`: path, types and who may call. The router, the role check and the reviewed
//! role × route matrix are made from both.

mod access;
mod actions;
mod address;
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
mod jobs;
mod ledger;
mod logs;
mod mount;
mod orders;
mod organisation;
mod pair;
mod problem;
mod projects;
mod queue;
mod retention;
mod route;
mod router;
mod runs;
mod signed;
mod status;
mod stream;
mod wishes;
mod worktrees;

pub use access::{identify, refuse};
pub use address::{Address, foreign_host};
pub use body::{TOO_LONG, in_plain_words, read as read_body};
pub use caller::single as single_header;
pub use evidence::fetch as fetch_evidence;
pub use extract::{Path, Query};
pub use mount::{Mount, UnreadRequest};
pub use placet_wire::api_document;
pub use problem::Failure;
pub use route::Access;
pub(crate) use router::router;

use pair::pair;
use placet_wire::endpoint::{self, EndpointName};
use route::Route;

/// Every route of the API, under each of its paths.
pub(crate) fn routes() -> Vec<Route> {
    endpoint::paths().map(|(path, row)| Route { path: path.into(), ..route_of(row.name) }).collect()
}

/// Pairs each endpoint with its handler. An endpoint without one does not compile.
macro_rules! handlers {
    ($($name:ident => $handler:path,)*) => {
        fn route_of(name: EndpointName) -> Route {
            match name {
                $(EndpointName::$name => pair::<endpoint::$name, _, _>($handler),)*
            }
        }
    };
}

handlers! {
    CheckHealth => status::health,
    CheckReadiness => status::ready,
    ShowApiDocument => status::api_document,
    ShowMetrics => status::metrics,
    ShowCaller => identities::whoami,
    ListProjects => projects::list,
    CreateProject => projects::create,
    ListScopes => projects::scopes,
    LockScope => projects::lock_scope,
    ListIdentities => identities::list,
    CreateIdentity => identities::create,
    ReplaceToken => identities::replace_token,
    RevokeIdentity => identities::revoke,
    CreateSignInLink => identities::make_link,
    ListAbsences => identities::away,
    StartAbsence => identities::go_away,
    EndAbsence => identities::come_back,
    ShowPolicy => projects::policy,
    ShowOrganisation => organisation::show,
    SetOrganisationBudget => organisation::budget,
    SetProjectBudget => organisation::project_budget,
    SetProjectWords => calls::set_words,
    HaltEverything => organisation::halt,
    ReleaseHalt => organisation::release,
    StartSafeMode => organisation::enter_safe_mode,
    EndSafeMode => organisation::leave_safe_mode,
    DemandPasskeys => organisation::demand_passkeys,
    ReleasePasskeys => organisation::release_passkeys,
    ListRuns => runs::list,
    CreateRun => runs::create,
    ListExecutions => runs::list,
    PlanExecution => runs::execute,
    ShowPipeline => runs::pipeline,
    ShowRun => runs::show,
    SubmitPlan => runs::submit,
    ApprovePlan => runs::approve,
    RejectPlan => runs::reject,
    StartRun => runs::start,
    AttachAgent => runs::attach,
    PauseRun => runs::pause,
    ResumeRun => runs::resume,
    CancelRun => runs::cancel,
    FinishRun => runs::finish,
    AcceptResults => runs::complete,
    ExportResults => runs::export,
    FailRun => runs::fail,
    SetRunBudget => runs::budget,
    FinishStep => runs::finish_step,
    ReachCheckpoint => runs::reach_checkpoint,
    ShowCheckpoint => checkpoints::show,
    ListRunOrders => orders::of_run,
    RevokeOrder => orders::revoke,
    ListOrders => orders::standing,
    PreviewOrder => orders::offer,
    GiveOrder => orders::give,
    ListWishes => wishes::list,
    GrantWish => wishes::grant,
    RejectWish => wishes::reject,
    RevokeWish => wishes::revoke,
    ApproveCheckpoint => checkpoints::approve,
    ModifyCheckpoint => checkpoints::modify,
    RejectCheckpoint => checkpoints::reject,
    RollBackToCheckpoint => checkpoints::roll_back,
    RollBackRun => runs::roll_back,
    PreviewRollback => hostings::preview,
    RequestSnapshot => runs::ask_snapshot,
    RejectResults => runs::reject_results,
    ListCalls => calls::list,
    ShowCallWords => calls::words,
    ShowAudit => runs::audit,
    ReadRunLog => logs::of_run,
    FollowRun => stream::run,
    ShowDuties => worktrees::duties,
    AssignDuties => worktrees::assign_duties,
    ListWorktrees => worktrees::list,
    OpenWorktree => worktrees::open,
    ShowWorktree => worktrees::show,
    SettleWorktree => worktrees::settle,
    AdoptWorktree => worktrees::adopt,
    RecordWork => worktrees::note,
    RequestExemption => worktrees::ask_exemption,
    GrantExemption => worktrees::grant_exemption,
    RefuseExemption => worktrees::refuse_exemption,
    CloseWorktree => worktrees::close,
    MergeWorktree => worktrees::merge,
    AbortWorktree => worktrees::abort,
    ListNotices => worktrees::notices,
    ProposeAction => actions::propose,
    ListEffects => actions::effects,
    ListActions => actions::of_run,
    ProposeByHook => hooks::propose,
    ShowQueue => queue::list,
    ShowInbox => inbox::show,
    FollowRuns => stream::all,
    ListWorkers => inbox::workers,
    ShowCard => inbox::card,
    SummarizeDecisions => deciding::summary,
    ShowOwnDecisions => deciding::mine,
    ShowAction => actions::show,
    AssignAction => attention::assign,
    DeferAction => attention::defer,
    ApproveAction => actions::approve,
    AmendAction => actions::amend,
    RejectAction => actions::reject,
    WithdrawAction => actions::withdraw,
    PerformAction => actions::perform,
    ResolveAction => actions::resolve,
    ReadActionLog => logs::of_action,
    ShowManifest => evidence::manifest,
    ListSecrets => evidence::secrets,
    LeaseJob => jobs::lease,
    RedeemPermit => jobs::redeem,
    UpdateNetwork => jobs::network,
    SendHeartbeat => jobs::heartbeat,
    ReportActionLog => logs::action_said,
    CompleteJob => jobs::complete,
    DeclareWorker => identities::declare,
    ListHostings => hostings::list,
    HostRun => hostings::host,
    IssueAgentToken => hostings::equip,
    RecordSnapshot => hostings::keep_snapshot,
    ReportPreview => hostings::previewed,
    ReportAgentLog => logs::agent_said,
    ReportSnapshotFailure => hostings::fail_snapshot,
    ReportRestore => hostings::restore,
    ReportOutputs => hostings::collect,
    ReportDestruction => hostings::destroy,
    StoreEvidence => evidence::keep,
    FetchEvidence => evidence::fetch,
    DeleteEvidence => evidence::refuse_delete,
    ShowRetention => retention::show,
    ExpireEvidence => retention::expire,
    PreserveEvidence => retention::preserve,
    EndPreservation => retention::end_preservation,
    ShowHead => ledger::head,
    ListEntries => ledger::entries,
    ProveEntry => ledger::prove,
    ProveConsistency => ledger::consistency,
}

fn row(route: &Route) -> (String, String, String) {
    (route.method.to_string(), route.path.to_string(), route.access.to_string())
}

/// Method, path and who may call it, for the reviewed matrix.
pub fn route_table() -> Vec<(String, String, String)> {
    routes().iter().map(row).collect()
}
