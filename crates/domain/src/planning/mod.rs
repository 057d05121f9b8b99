//! PLANNING: from what a person wants to a plan that a person can approve. Steps 1 to 6 of the pipeline, each a pure function
//! whose product is recorded and shown:
//!
//! ```text
//!  intent ─► encode ─► decompose ─► choose ─► configure ─► estimate
//!            task      sub-tasks    agent,    cage         amounts,
//!                                   table                  likely and worst
//! ```
//!
//! No language model is needed: sub-tasks come from declared steps or from a template. The same input always gives the same
//! plan. Nothing here is a decision: the scope is locked, the budget reserved and the plan approved elsewhere.

mod choose;
mod configure;
mod criterion;
mod decompose;
mod encode;
mod estimate;
mod input;
mod intent;
mod plan;
mod preparation;
mod product;
mod refusal;
mod shipped;
mod subtask;
mod template;
mod verb;

pub use choose::{AgentFit, Ranked, Selection, Starter, choose};
pub use configure::{CageChoice, configure};
pub use criterion::{Criterion, Row};
pub use decompose::decompose;
pub use encode::{Step, Task, encode};
pub use estimate::{Estimate, estimate};
pub use input::{BadPlace, BaseFolder, DataClass, Input, InputPath};
pub use intent::{Constraints, DeclaredStep, Intent};
pub use plan::{Plan, plan, plan_started_by};
pub use preparation::Preparation;
pub use product::{Product, Products};
pub use refusal::{Objection, PlanRefusal};
pub use shipped::shipped_templates;
pub use subtask::Subtask;
pub use template::{Template, TemplateStep, Templates};
