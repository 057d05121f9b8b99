//! Addresses that lead nowhere: wrong methods, unknown routes, broken queries, ids that are none.

use axum::http::Method;
use placet_control::route_table;
use placet_domain::digest::Digest;

use super::{filled, names, ways};
use crate::moves::scan;
use crate::person::Answer;
use crate::scenario::Scenario;

#[tokio::test]
async fn t8_routes_take_only_their_methods() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let table = route_table();
    for (_, pattern, _) in &table {
        let taken: Vec<_> =
            table.iter().filter(|(_, path, _)| path == pattern).map(|(method, ..)| method.as_str()).collect();
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
            if taken.contains(&method) {
                continue;
            }
            let path = filled(pattern, &names(&app.team, &action));
            let answer = Answer::to(app.admin.request(method.parse::<Method>().unwrap(), &path)).await;
            answer.problem(405, "wrong_method");
            assert!(taken.iter().all(|taken| answer.header("allow").contains(taken)), "{}", answer.header("allow"));
        }
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn r15_what_is_not_in_the_table_does_not_exist() {
    let (app, _, _, _) = Scenario::start().await;
    let before = app.size();
    let paths = [
        "/api",
        "/api/v1",
        "/api/v2/runs",
        "/api/v1/runs/",
        "/api/v1//runs",
        "//api/v1/runs",
        "/API/V1/RUNS",
        "/api/v1/runs;x=1",
        "/.git/config",
        "/.env",
        "/api/v1/audit-sinks",
        "/api/v1/plugins",
        "/api/v1/hooks",
        "/sys/audit",
        "/debug/pprof",
        "/api/v1/tools",
        "/api/v1/settings",
        "/metrics/",
        "/health/x",
    ];
    for path in paths {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            Answer::to(app.admin.request(method, path)).await.problem(404, "unknown_route");
        }
    }
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        Answer::to(app.admin.request(method, "/api/v1/policy")).await.problem(405, "wrong_method");
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_queries_that_cannot_be_read_are_problems() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let before = app.size();
    let bad_everywhere =
        ["limit=-1", "limit=x", "limit=4294967296", "limit=1&limit=2", "limit=", "limit=1.5", "no_such=1"];
    let run = app.team.run;
    let lists = [
        "/api/v1/runs".to_owned(),
        "/api/v1/queue".to_owned(),
        "/api/v1/ledger/entries".to_owned(),
        format!("/api/v1/runs/{run}/actions"),
        format!("/api/v1/runs/{run}/audit"),
    ];
    for list in &lists {
        for query in bad_everywhere {
            app.admin.get(&format!("{list}?{query}")).await.problem(400, "bad_query");
        }
    }
    for list in [&lists[0], &lists[2], &lists[3], &lists[4]] {
        for query in ["after=-1", "after=x", "after=18446744073709551616"] {
            app.admin.get(&format!("{list}?{query}")).await.problem(400, "bad_query");
        }
    }
    for query in ["", "?seq=x", "?seq=-1", "?seq=1&seq=2", "?seq=1&x=1"] {
        app.auditor.get(&format!("/api/v1/ledger/proof{query}")).await.problem(400, "bad_query");
    }
    for query in ["", "?from=1", "?to=1", "?from=x&to=1"] {
        reviewer.get(&format!("/api/v1/ledger/consistency{query}")).await.problem(400, "bad_query");
    }
    for query in ["from=0&to=1", "from=2&to=1", "from=1&to=99999999", "from=0&to=0"] {
        reviewer.get(&format!("/api/v1/ledger/consistency?{query}")).await.problem(422, "invalid");
    }
    for id in ["x", "prj_", "run_00000000000000000000000000000000", "prj_'%20OR%201=1--", "%ff"] {
        let answer = reviewer.get(&format!("/api/v1/runs?project={id}")).await;
        assert_eq!(answer.any_problem().status, 400, "{id}");
        reviewer.get(&format!("/api/v1/queue?project={id}")).await.any_problem();
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_numbers_at_the_edge_are_taken_as_they_are() {
    let (app, _, _, _) = Scenario::start().await;
    let end = u64::MAX;
    for path in [
        format!("/api/v1/ledger/entries?after={end}"),
        format!("/api/v1/runs/{}/audit?after={end}", app.team.run),
        format!("/api/v1/runs/{}/actions?after={end}", app.team.run),
        "/api/v1/runs?after=0".to_owned(),
        "/api/v1/runs?limit=0".to_owned(),
        "/api/v1/queue?limit=4294967295".to_owned(),
        format!("/api/v1/ledger/entries?limit=4294967295&after={}", i64::MAX),
    ] {
        app.admin.get(&path).await.is(200);
    }
    for seq in [app.size(), i64::MAX as u64, end] {
        app.auditor.get(&format!("/api/v1/ledger/proof?seq={seq}")).await.problem(404, "unknown");
    }
}

#[tokio::test]
async fn t8_ids_of_another_kind_and_ids_that_are_none_are_refused_on_every_route() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let (right, before) = (names(&app.team, &action), app.size());
    let mut tried = 0;
    for way in ways(&app, &app.team, &app.admin) {
        let placeholders: Vec<_> = right.keys().filter(|name| way.pattern.contains(&format!("{{{name}}}"))).collect();
        for name in placeholders {
            let others = right.iter().filter(|(other, _)| *other != name).map(|(_, id)| id.clone());
            let nonsense = [
                "x".to_owned(),
                "..%2f..%2fetc%2fpasswd".to_owned(),
                "%00".to_owned(),
                "%ff".to_owned(),
                "a".repeat(5_000),
                "run_00000000-0000-0000-0000-000000000000".to_owned(),
                "RUN_00000000000000000000000000000000".to_owned(),
                "'%20OR%20'1'='1".to_owned(),
                "sha256:..".to_owned(),
                format!("{}%0a", right[name]),
                format!("%20{}", right[name]),
            ];
            for wrong in others.chain(nonsense) {
                let mut names = right.clone();
                names.insert(*name, wrong.clone());
                let request = way.caller.request(way.method.parse::<Method>().unwrap(), &filled(&way.pattern, &names));
                let request = request.header("if-match", format!("\"{}\"", Digest::of(b"")));
                let answer = Answer::to(if way.method == "GET" { request } else { request.json(&way.body) }).await;
                let problem = answer.any_problem();
                let refused = matches!(
                    (problem.status, problem.code.as_str()),
                    (400, "bad_id" | "bad_path") | (403, "immutable")
                );
                assert!(refused, "{} {} with {wrong:.80}: {problem:?}", way.method, way.pattern);
                tried += 1;
            }
        }
    }
    assert!(tried > 400, "{tried}");
    assert_eq!(app.size(), before);
}
