//! Loading: texts become rules, or a list of everything that is wrong with them. Nothing is loaded in part.

use std::collections::BTreeMap;

use cedar_policy::{ActionConstraint, Policy as CedarPolicy, PolicySet, ValidationMode};

use super::bench::{Bench, Heard};
use super::example;
use super::judge::{self, LEVELS};
use super::problem::{PolicyProblem, PolicyProblems};
use super::question::{Question, VALIDATOR, kind_uid};
use super::rationale::Rationale;
use super::rule::{Draft, ExampleLine};
use super::seat::Seat;
use super::shipped::is_shipped;
use super::silence::Silence;
use super::source::Source;
use super::verdict::Tier;
use super::{Rule, RuleSummary};
use crate::complaint::Complaint;
use crate::proposal::{ActionKind, Tools};

/// Rules in the order of their ids, so that neither the order of files nor of rules within them matters.
pub(super) struct Loaded {
    pub(super) rules: Vec<Rule>,
    pub(super) examples_checked: usize,
}

pub(super) fn load(files: &[(String, String)], tools: &Tools) -> Result<Loaded, PolicyProblems> {
    let mut problems = repeated_files(files);
    let sources: Vec<Source<'_>> = files.iter().map(|(file, text)| Source::new(file, text)).collect();
    let mut drafts = Vec::new();
    for (source, span) in
        sources.iter().flat_map(|source| source.statements().into_iter().map(move |span| (source, span)))
    {
        match Draft::read(source, span) {
            Ok(draft) => drafts.push(draft),
            Err(found) => problems.extend(found),
        }
    }
    problems.extend(repeated_ids(&drafts));
    let (rules, found) = checked(&drafts, tools);
    problems.extend(found);
    PolicyProblems::none_or_err(problems)?;
    let examples_checked = drafts.iter().map(|draft| draft.matches.len() + draft.misses.len()).sum();
    Ok(Loaded { rules, examples_checked })
}

fn repeated_files(files: &[(String, String)]) -> Vec<PolicyProblem> {
    let repeated =
        files.iter().enumerate().filter(|(at, (file, _))| files[..*at].iter().any(|(other, _)| other == file));
    let complaint = || Complaint::new("the file is given twice", "name every policy file once");
    repeated.map(|(_, (file, text))| Source::new(file, text).problem(0, complaint())).collect()
}

fn repeated_ids(drafts: &[Draft<'_>]) -> Vec<PolicyProblem> {
    let mut first: BTreeMap<&str, &Draft<'_>> = BTreeMap::new();
    let mut problems = Vec::new();
    for draft in drafts {
        let Some(known) = first.get(draft.id.as_str()) else {
            first.insert(&draft.id, draft);
            continue;
        };
        let (line, _) = known.source.place(known.span.start);
        let message = format!("the rule id `{}` is already used at {}:{line}", draft.id, known.source.file());
        let at = draft.source.annotation(&draft.span, "id").unwrap_or(draft.span.start);
        problems.push(draft.problem(at, Complaint::new(message, "give every rule a name of its own")));
    }
    problems
}

/// Checks every rule against the schema and, where it agrees, on its examples.
fn checked(drafts: &[Draft<'_>], tools: &Tools) -> (Vec<Rule>, Vec<PolicyProblem>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for draft in drafts {
        let mut found = against_schema(draft);
        if found.is_empty() {
            found = on_examples(draft, tools);
        }
        if found.is_empty() {
            rules.push(rule(draft, tools));
        }
        problems.extend(found);
    }
    rules.sort_by(|a, b| a.summary.id.cmp(&b.summary.id));
    (rules, problems)
}

/// Warnings count: they point at rules that can never speak and at letters that look like others, both traps in review.
fn against_schema(draft: &Draft<'_>) -> Vec<PolicyProblem> {
    const HINT: &str = "the names and types that rules can use are listed in placet.cedarschema";
    let alone = PolicySet::from_policies([draft.policy.clone()]).expect("one rule has one id");
    let result = VALIDATOR.validate(&alone, ValidationMode::Strict);
    let errors: Vec<_> = result.validation_errors().map(|error| draft.cedar_problem(&error.into(), HINT)).collect();
    if !errors.is_empty() {
        // What is misspelt is also impossible; saying so would only distract.
        return errors;
    }
    result.validation_warnings().map(|warning| draft.cedar_problem(&warning.into(), HINT)).collect()
}

fn on_examples(draft: &Draft<'_>, tools: &Tools) -> Vec<PolicyProblem> {
    // Alone, so that no other rule can mask what this one says.
    let bench = Bench::of([&Seat::as_written(&draft.policy)]);
    let matches =
        draft.matches.iter().filter_map(|line| should_speak(&bench, line, tools).map(|c| draft.problem(line.at, c)));
    let misses =
        draft.misses.iter().filter_map(|line| should_miss(&bench, line, tools).map(|c| draft.problem(line.at, c)));
    matches.chain(misses).collect()
}

fn should_speak(bench: &Bench, line: &ExampleLine, tools: &Tools) -> Option<Complaint> {
    match try_on(bench, line, tools) {
        Err(complaint) => Some(complaint),
        Ok(heard) if heard.spoke() => None,
        Ok(_) => Some(Complaint::new(
            format!("the rule is silent on its example `{}`", line.text),
            "correct the condition, or move the example to `@misses`",
        )),
    }
}

fn should_miss(bench: &Bench, line: &ExampleLine, tools: &Tools) -> Option<Complaint> {
    match try_on(bench, line, tools) {
        Err(complaint) => Some(complaint),
        Ok(heard) if !heard.spoke() => None,
        Ok(_) => Some(Complaint::new(
            format!("the rule speaks on `{}`, which it should miss", line.text),
            "narrow the condition, or move the example to `@matches`",
        )),
    }
}

/// What a rule says to an example before anybody has approved.
fn try_on(bench: &Bench, line: &ExampleLine, tools: &Tools) -> Result<Heard, Complaint> {
    const HINT: &str =
        "write it as it would be proposed: `tool argument 'two words' @target >output`, or `kind:send_email …`";
    let action = example::action(&line.text, tools)
        .map_err(|why| Complaint::new(format!("the example `{}` cannot be an action: {why}", line.text), HINT))?;
    let heard = bench.ask(&Question::about(&action), 0);
    match heard.failed.first() {
        None => Ok(heard),
        Some((_, why)) => Err(Complaint::new(
            format!("the rule cannot be evaluated on its example `{}`: {why}", line.text),
            "a rule that fails refuses the action; make it hold for every action it can meet",
        )),
    }
}

fn rule(draft: &Draft<'_>, tools: &Tools) -> Rule {
    let (line, _) = draft.source.place(draft.span.start);
    let summary = RuleSummary {
        id: draft.id.clone(),
        file: draft.source.file().to_owned(),
        line,
        effect: draft.policy.effect().into(),
        risk: draft.risk,
        rationale: rationale(draft),
        demands: demanded(draft, tools),
    };
    let silence = Silence::of(&draft.policy);
    Rule { summary, kinds: kinds(&draft.policy), silence, seat: Seat::in_panel(&draft.policy, silence) }
}

/// A rule that ships counts as such only if nobody changed a letter of its statement.
fn rationale(draft: &Draft<'_>) -> Rationale {
    let text = draft.reason.clone();
    if is_shipped(draft.source.slice(&draft.span)) { Rationale::ShippedRule { text } } else { Rationale::Rule { text } }
}

/// The kinds of act a rule can say something about. The schema has no groups of actions, so `in` is membership.
fn kinds(policy: &CedarPolicy) -> Vec<ActionKind> {
    let concerned = |kind: &ActionKind| match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(action) => action == *kind_uid(*kind),
        ActionConstraint::In(actions) => actions.contains(kind_uid(*kind)),
    };
    ActionKind::ALL.iter().copied().filter(concerned).collect()
}

/// What the rule alone demands of the first example it speaks on.
fn demanded(draft: &Draft<'_>, tools: &Tools) -> Tier {
    let action = draft.matches.first().and_then(|line| example::action(&line.text, tools).ok());
    let question = action.as_ref().map(Question::about);
    let bench = Bench::of([&Seat::as_written(&draft.policy)]);
    let speaks = |approvals| question.as_ref().is_some_and(|question| bench.ask(question, approvals).spoke());
    let spoken = LEVELS.into_iter().filter(|(approvals, _)| speaks(*approvals)).map(|(_, tier)| tier);
    judge::demanded_by(draft.policy.effect().into(), spoken).unwrap_or(Tier::D)
}
