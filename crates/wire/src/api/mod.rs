//! The API's types, by resource. Unknown fields are refused: a typo must never silently mean something else.

mod action;
mod attention;
mod call;
mod deciding;
mod execution;
mod hosting;
mod identity;
mod inbox;
mod job;
mod ledger;
mod log;
mod order;
mod organisation;
mod preview;
mod project;
mod query;
mod retention;
mod run;
mod worktree;

pub use action::{
    ActionDetail, ActionList, ActionView, AmendmentRequest, AmendmentView, ApprovalView, Decision, EffectList,
    InterruptionView, QueueView, ReasonView, Rejection, ResolutionRequest, SignedProposal, VerdictView, Withdrawal,
};
pub use attention::{AsideView, AssignRequest, AssignmentView, AttentionView, DeferRequest};
pub use call::{CallList, CallView, WordsRequest};
pub use deciding::{
    AgeRow, DaySummary, DecisionCounts, DecisionSummary, HabitView, SpreadView, TierSummary, WaitingSummary,
    WeekSummary,
};
pub use execution::{ExecutionView, NewExecution, PipelineStep, PipelineView, PlannedStep};
pub use hosting::{
    HostingList, HostingQuery, HostingView, LaunchRequest, OutputReport, RestoreReport, SnapshotReport,
    USUAL_AGENT_PROFILE,
};
pub use identity::{
    AbsenceList, AbsenceView, AwayRequest, AwayView, DeclarationReport, IdentityList, IdentityView, LinkOnce,
    NewIdentity, NewLink, NewToken, TokenOnce,
};
pub use inbox::{
    CardView, FileShownAs, FileView, HappenedView, HistoryView, InboxView, StandingView, StandsFor, TwinView,
    WaitingView, WorkerList, WorkerView,
};
pub use job::{
    Completion, CompletionView, HeartbeatView, Job, JobReport, KeptBlob, LeaseRequest, NetworkQuery, NetworkView,
    PieceSecrets, Redemption, RedemptionView, SecretList, SecretView,
};
pub use ledger::{AuditRow, AuditTrail, ConsistencyProof, EntryList, EntryView, HeadView, InclusionProof};
pub use log::{LogHeard, LogKind, LogPiece, LogReport, LogStream, LogView, Said};
pub use order::{CoveredView, OrderList, OrderOffer, OrderRequest, OrderView, WidthView};
pub use organisation::{HaltRequest, OrganisationView, SafeModeView};
pub use preview::{DriftLine, PreviewLine, PreviewPart, PreviewReport, RollbackPreview};
pub use project::{
    NewProject, NewScope, PolicyView, ProjectList, ProjectView, RuleView, ScopeList, ScopeView, ToolView,
};
pub use query::{
    AuditQuery, CallQuery, ConsistencyQuery, EntryQuery, HealthQuery, InboxQuery, LogQuery, ManifestQuery, NoticeQuery,
    PageQuery, PreviewQuery, ProofQuery, QueueQuery, RunQuery, StreamQuery, SummaryQuery, WorktreeQuery,
};
pub use retention::{
    ExpiryView, PreservationList, PreservationRequest, PreservationView, REMOVED, RemovableView, RetentionView,
};
pub use run::{
    BudgetRequest, BudgetView, CheckpointView, ExportRequest, FailureRequest, FaultRequest, GrantRequest, Modification,
    NewRun, OutputView, PieceView, PlanSubmission, Reason, RollbackRequest, RunList, RunView, SnapshotView, StepReport,
    Summary, WishList, WishView,
};
pub use worktree::{
    Closing, DutyTable, ExemptionRequest, ExemptionView, Merging, NewWorktree, Notice, NoticeList, WorkReport,
    WorktreeList, WorktreeView,
};
