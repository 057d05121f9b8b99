//! From the audit trail of a run to what a page draws: bars of time.

use std::collections::BTreeMap;

use placet_domain::audit_status::AuditStatus;
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_wire::api::AuditRow;

use crate::markup::{About, Bar, Lane, RunAction};

/// More rows than a page can tell apart; the newest are drawn.
const MOST_BARS: usize = 60;

/// What begins and ends a person's wait or the runtime's work on the run itself.
const SPANS: &[(About, &str, &[&str], Lane)] = &[
    (About::Plan, "run.submitted", &["run.plan_approved", "run.plan_rejected", "run.cancelled"], Lane::Person),
    (About::Spawn, "run.started", &["run.attached", "run.failed", "run.cancelled"], Lane::Runtime),
    (
        About::Checkpoint,
        "run.checkpoint_reached",
        &[
            "run.checkpoint_passed",
            "run.checkpoint_rejected",
            "run.checkpoint_lapsed",
            "run.rolled_back",
            "run.cancelled",
        ],
        Lane::Person,
    ),
    (About::Results, "run.finished", &["run.completed", "run.results_rejected", "run.cancelled"], Lane::Person),
];

/// One bar for each wait and each action: the wait for its approval and its execution are two.
pub(super) fn bars(trail: &[AuditRow], actions: &[RunAction], now: Timestamp) -> Vec<Bar> {
    let titles = actions.iter().map(|row| (row.action.id.to_string(), row.title.as_str())).collect();
    let mut bars: Vec<Bar> =
        SPANS.iter().flat_map(|span| of_run(trail, span, now)).chain(of_actions(trail, &titles, now)).collect();
    bars.sort_by_key(|bar| bar.from);
    bars.split_off(bars.len().saturating_sub(MOST_BARS))
}

fn of_run(trail: &[AuditRow], (about, begin, ends, lane): &(About, &str, &[&str], Lane), now: Timestamp) -> Vec<Bar> {
    let begun = trail.iter().enumerate().filter(|(_, row)| row.event == *begin);
    let bar = |(index, row): (usize, &AuditRow)| {
        let end = trail[index..].iter().find(|row| ends.contains(&row.event.as_str()));
        Bar { about: about.clone(), lane: *lane, from: at(row), to: end.map_or(now, at) }
    };
    begun.map(bar).collect()
}

/// When each action was asked about, decided, begun and ended.
#[derive(Default)]
struct Course {
    name: String,
    asked: Option<Timestamp>,
    decided: Option<Timestamp>,
    begun: Option<Timestamp>,
    ended: Option<Timestamp>,
}

/// Each by what it is, where that is known; older ones by their kind.
fn of_actions(trail: &[AuditRow], titles: &BTreeMap<String, &str>, now: Timestamp) -> Vec<Bar> {
    let mut courses: BTreeMap<&str, Course> = BTreeMap::new();
    for row in trail {
        let Some(action) = row.action.as_deref() else { continue };
        let course = courses.entry(action).or_default();
        match row.event.as_str() {
            "action.proposed" => {
                let title = titles.get(action).map(|title| (*title).to_owned());
                course.name = title.or_else(|| row.action_type.clone()).unwrap_or_default();
            }
            "action.judged" if matches!(row.status, Some(AuditStatus::Judged { tier: Tier::B | Tier::C })) => {
                course.asked = Some(at(row));
            }
            // An order says yes at once: nobody was waited for.
            "action.approved" if matches!(row.status, Some(AuditStatus::ApprovedByOrder { .. })) => {
                course.asked = None;
            }
            "action.approved" | "action.rejected" | "action.expired" | "action.superseded" | "action.withdrawn" => {
                course.decided = Some(at(row));
            }
            "permit.redeemed" => course.begun = Some(at(row)),
            "job.completed" => course.ended = Some(at(row)),
            _ => {}
        }
    }
    courses.into_values().flat_map(|course| of_course(course, now)).collect()
}

fn of_course(course: Course, now: Timestamp) -> Vec<Bar> {
    let Course { name, asked, decided, begun, ended } = course;
    let about = About::Action(name);
    let waited = asked.map(|from| Bar { about: about.clone(), lane: Lane::Person, from, to: decided.unwrap_or(now) });
    let executed = begun.map(|from| Bar { about, lane: Lane::Action, from, to: ended.unwrap_or(now) });
    waited.into_iter().chain(executed).collect()
}

fn at(row: &AuditRow) -> Timestamp {
    let parsed: Result<jiff::Timestamp, _> = row.timestamp.parse();
    parsed.map_or(Timestamp::END, |instant| Timestamp::from_unix_ms(instant.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u64, event: &str, action: Option<&str>) -> AuditRow {
        AuditRow {
            seq,
            timestamp: format!("2026-01-31T09:30:{seq:02}.000Z"),
            actor: "runtime".to_owned(),
            agent: None,
            event: event.to_owned(),
            action: action.map(str::to_owned),
            action_type: (event == "action.proposed").then(|| "execute_code".to_owned()),
            input_digest: None,
            output_digest: None,
            approval_status: None,
            status: (event == "action.judged").then_some(AuditStatus::Judged { tier: Tier::B }),
            approver: None,
            tokens: 7,
            cost_usd_micros: 9,
        }
    }

    #[test]
    fn c16_a_wait_for_a_person_and_the_execution_after_it_are_two_bars() {
        let trail = [
            row(1, "run.submitted", None),
            row(5, "run.plan_approved", None),
            row(10, "action.proposed", Some("act_1")),
            row(11, "action.judged", Some("act_1")),
            row(20, "action.approved", Some("act_1")),
            row(21, "permit.redeemed", Some("act_1")),
            row(30, "run.model_called", None),
        ];
        let now = at(&row(40, "", None));
        let drawn: Vec<(About, i64)> = bars(&trail, &[], now)
            .into_iter()
            .map(|bar| (bar.about, (bar.to.unix_ms() - bar.from.unix_ms()) / 1_000))
            .collect();
        let action = || About::Action("execute_code".to_owned());
        assert_eq!(drawn, [(About::Plan, 4), (action(), 9), (action(), 19)]);
    }
}
