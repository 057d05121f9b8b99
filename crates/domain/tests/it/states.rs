//! `docs/states.md` is what the code does: every transition in it was found by trying every command in every state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use placet_domain::action::ActionStatus;
use placet_domain::run::RunStatus;
use placet_domain::worktree::WorktreeStatus;

use crate::expect;
use crate::people::Who;
use crate::scenario::World;
use crate::trials::{self, ACTION_TRIALS, Move, RUN_TRIALS, Trial};
use crate::worktrees;

/// Whose right it is to do something, as the page names them.
const ROLES: &[(Who, &str)] = &[
    (Who::Agent, "its agent"),
    (Who::Worker, "the worker"),
    (Who::Reviewer, "a reviewer"),
    (Who::Operator, "an operator"),
    (Who::Admin, "an admin"),
    (Who::Auditor, "an auditor"),
    (Who::Runtime, "the clockwork"),
];

/// One arrow of a state machine.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: State,
    command: &'static str,
    to: State,
}

/// A state's place in the order of its life, and its name.
type State = (usize, &'static str);

fn run_state(status: RunStatus) -> State {
    (status as usize, status.as_str())
}

fn action_state(status: ActionStatus) -> State {
    (status as usize, status.as_str())
}

type Arrows = BTreeMap<Arrow, BTreeSet<usize>>;

fn run_arrows() -> Arrows {
    let mut arrows = Arrows::new();
    for (_, world) in trials::run_worlds() {
        for (trial, role) in everything(RUN_TRIALS) {
            if let Ok(to) = trials::try_run(world.clone(), trial) {
                let arrow = Arrow { from: run_state(world.run_status()), command: trial.label, to: run_state(to) };
                arrows.entry(arrow).or_default().insert(role);
            }
        }
    }
    arrows
}

fn action_arrows() -> Arrows {
    let mut arrows = Arrows::new();
    for (_, world) in trials::action_worlds() {
        for (trial, role) in everything(ACTION_TRIALS) {
            if let Ok(to) = trials::try_action(world.clone(), trial) {
                let from = world.status();
                // A result that comes too late, or without a redeemed permit, is kept and marked; the action stays where it is.
                let quarantined = matches!(trial.kind, Move::Complete { .. } | Move::Decline) && to == from;
                let command = if quarantined { "complete (uncounted)" } else { trial.label };
                let arrow = Arrow { from: action_state(from), command, to: action_state(to) };
                arrows.entry(arrow).or_default().insert(role);
            }
        }
    }
    arrows
}

/// Every command by everybody.
fn everything<Kind: Copy>(all: &[Trial<Kind>]) -> impl Iterator<Item = (Trial<Kind>, usize)> {
    let by = |trial: &Trial<Kind>, role: usize| (Trial { usual: ROLES[role].0, ..*trial }, role);
    all.iter().flat_map(move |trial| (0..ROLES.len()).map(move |role| by(trial, role)))
}

/// The pairs of states between which something leads.
#[derive(Debug)]
pub(crate) struct Edges {
    pub(crate) runs: BTreeSet<(RunStatus, RunStatus)>,
    pub(crate) actions: BTreeSet<(ActionStatus, ActionStatus)>,
}

pub(crate) fn edges() -> Edges {
    let runs = run_arrows().into_keys().map(|Arrow { from, to, .. }| (RunStatus::ALL[from.0], RunStatus::ALL[to.0]));
    let actions = action_arrows().into_keys();
    let actions = actions.map(|Arrow { from, to, .. }| (ActionStatus::ALL[from.0], ActionStatus::ALL[to.0]));
    Edges { runs: runs.collect(), actions: actions.collect() }
}

fn table(page: &mut String, arrows: &Arrows) {
    page.push_str("| from | command | to | by |\n| --- | --- | --- | --- |\n");
    for (Arrow { from: (_, from), command, to: (_, to) }, roles) in arrows {
        let by: Vec<&str> = roles.iter().map(|role| ROLES[*role].1).collect();
        writeln!(page, "| {from} | {command} | {to} | {} |", by.join(", ")).expect("text grows");
    }
}

fn diagram(page: &mut String, first: &[&str], arrows: &Arrows, finals: &[&str]) {
    let mut labels: BTreeMap<(State, State), Vec<&str>> = BTreeMap::new();
    for Arrow { from, command, to } in arrows.keys().filter(|arrow| arrow.from != arrow.to) {
        labels.entry((*from, *to)).or_default().push(command);
    }
    page.push_str("```mermaid\nstateDiagram-v2\n");
    first.iter().for_each(|state| writeln!(page, "    [*] --> {state}").expect("text grows"));
    for (((_, from), (_, to)), commands) in labels {
        writeln!(page, "    {from} --> {to}: {}", commands.join(", ")).expect("text grows");
    }
    finals.iter().for_each(|state| writeln!(page, "    {state} --> [*]").expect("text grows"));
    page.push_str("```\n");
}

fn meanings<'a>(page: &mut String, states: impl Iterator<Item = (&'a str, &'a str, &'a str)>) {
    page.push_str("| state | meaning | what to do |\n| --- | --- | --- |\n");
    for (name, meaning, hint) in states {
        writeln!(page, "| {name} | {meaning} | {hint} |").expect("text grows");
    }
}

fn run_part(page: &mut String) {
    page.push_str("\n## Runs\n\n");
    meanings(page, RunStatus::ALL.iter().map(|status| (status.as_str(), status.meaning(), status.hint())));
    page.push_str(
        "\nA resumed run goes back to where the pause found it, so that a pause is no way around a checkpoint.\n\n",
    );
    let (arrows, finals) = (run_arrows(), RunStatus::ALL.iter().filter(|status| status.is_final()));
    let finals: Vec<&str> = finals.map(|status| status.as_str()).collect();
    diagram(page, &["DRAFT", "PENDING_APPROVAL"], &arrows, &finals);
    page.push('\n');
    table(page, &arrows);
}

fn action_part(page: &mut String) {
    page.push_str("\n## Actions\n\n");
    meanings(page, ActionStatus::ALL.iter().map(|status| (status.as_str(), status.meaning(), status.hint())));
    page.push_str(
        "\nTier A begins APPROVED, B and C begin PENDING_APPROVAL (C stays there until the second yes), D begins DENIED. \
         The letter behind `amend` and `rejudge` is the tier of the new verdict. What stands in the place of an amended \
         action begins like a proposal, with the amender's yes where it counts. To retry counts as the first yes of a new set. \
         A result that comes too late is kept, marked, and not counted.\n\n",
    );
    let (arrows, finals) = (action_arrows(), ActionStatus::ALL.iter().filter(|status| status.is_final()));
    let finals: Vec<&str> = finals.map(|status| status.as_str()).collect();
    diagram(page, &["PENDING_APPROVAL", "APPROVED", "DENIED"], &arrows, &finals);
    page.push('\n');
    table(page, &arrows);
}

fn worktree_part(page: &mut String) {
    page.push_str("\n## Worktrees\n\n");
    meanings(page, WorktreeStatus::ALL.iter().map(|status| (status.as_str(), status.meaning(), status.hint())));
    page.push_str("\nWho may do it, the duties of the project say.\n\n");
    let state = |status: WorktreeStatus| (status as usize, status.as_str());
    let arrow = |(from, command, to)| (Arrow { from: state(from), command, to: state(to) }, BTreeSet::new());
    let arrows: Arrows = worktrees::edges().into_iter().map(arrow).collect();
    diagram(page, &["OPENING"], &arrows, &[]);
}

fn page() -> String {
    let mut page = "# States\n\n<!-- Written by crates/domain/tests/it/states.rs from what the code does: UPDATE_EXPECT=1 cargo test \
         -p placet-domain states. Do not edit. -->\n\nWhat is not listed here is refused. \"A reviewer\" means one who is \
         independent: neither the author nor in the line of the agent.\n"
        .to_owned();
    run_part(&mut page);
    action_part(&mut page);
    worktree_part(&mut page);
    page
}

#[test]
fn c8_the_page_about_states_says_what_the_code_does() {
    expect::file("../../docs/states.md", &page());
}

#[test]
fn c8_every_state_can_be_reached_and_only_final_ones_are_dead_ends() {
    let (runs, actions) = (run_arrows(), action_arrows());
    let leaves = |arrows: &Arrows, name: &str| arrows.keys().any(|arrow| arrow.from.1 == name && arrow.to.1 != name);
    for status in RunStatus::ALL {
        assert_eq!(leaves(&runs, status.as_str()), !status.is_final(), "{status}");
        World::new().governed().with_run(*status);
    }
    for status in ActionStatus::ALL {
        // A rehearsal is an end that a reviewer can make a beginning.
        let may_go_on = !status.is_final() || *status == ActionStatus::Rehearsed;
        assert_eq!(leaves(&actions, status.as_str()), may_go_on, "{status}");
    }
}
