//! The rules and tools in force.

use placet_wire::api;

use crate::app::App;

/// The rules and tools in force, for responses and pages.
pub fn view(app: &App) -> api::PolicyView {
    let rule = |rule: &placet_domain::policy::RuleSummary| api::RuleView {
        id: rule.id.clone(),
        file: rule.file.clone(),
        line: rule.line,
        effect: rule.effect.to_string(),
        demands: rule.demands.to_string(),
        weight: rule.risk.to_string(),
        because: rule.rationale.to_string(),
        reason: rule.rationale.clone(),
    };
    let tools = app.tools().iter().map(|(name, tool)| api::ToolView {
        name: name.to_string(),
        kind: tool.kind.to_string(),
        program: tool.program.clone(),
        version: tool.version(),
    });
    let (version, rules) = (app.policy().version(), app.policy().rules().map(rule).collect());
    api::PolicyView { version, rules, tools: tools.collect() }
}
