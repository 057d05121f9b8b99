//! Who may call what: every route with every role, with no token, an unknown one and a revoked one, called for real and
//! compared with a page that people review. `UPDATE_EXPECT=1` writes the page anew.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{ReplaceToken, RevokeIdentity, ShowCaller};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use axum::http::Method;
use placet_control::{api_document, route_table};
use placet_domain::digest::Digest;
use placet_domain::identity::Role;
use serde_json::{Value, json};

use crate::moves::{scan, worktree_of};
use crate::person::Person;
use crate::scenario::Scenario;

const PAGE: &str = "tests/it/route_matrix.txt";
const TOKENLESS: &[&str] = &["none", "unknown", "revoked"];

/// One row of the page: the route and, column by column, `yes`, `401` or `403`.
type Row = (String, Vec<&'static str>);

fn columns() -> Vec<&'static str> {
    Role::ALL.iter().map(|role| role.as_str()).chain(TOKENLESS.iter().copied()).collect()
}

fn page(rows: &[Row]) -> String {
    let width = rows.iter().map(|(route, _)| route.len()).max().unwrap_or_default();
    let mut page = format!("{:width$}", "");
    columns().iter().for_each(|column| write!(page, " {column:>8}").unwrap());
    for (route, cells) in rows {
        write!(page, "\n{route:width$}").unwrap();
        cells.iter().for_each(|cell| write!(page, " {cell:>8}").unwrap());
    }
    page + "\n"
}

#[track_caller]
fn assert_reviewed(found: &str, how: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    let differences: Vec<_> = found.lines().filter(|line| !reviewed.lines().any(|known| known == *line)).collect();
    assert!(
        found == reviewed,
        "{how} is not what {PAGE} says:\n{}\nif this is intended: UPDATE_EXPECT=1",
        differences.join("\n")
    );
}

#[test]
fn r28_the_route_table_is_as_reviewed() {
    let cell = |access: &str, column: &str| match (access, column) {
        ("public", _) => "yes",
        // A token, whosever it is, is no signature.
        ("signed", _) => "401",
        (_, "none" | "unknown" | "revoked") => "401",
        ("anyone", _) => "yes",
        (roles, role) if roles.split(' ').any(|named| named == role) => "yes",
        _ => "403",
    };
    let table = route_table();
    let row = |(method, path, access): &(String, String, String)| {
        (format!("{method} {path}"), columns().iter().map(|column| cell(access, column)).collect())
    };
    assert_reviewed(&page(&table.iter().map(row).collect::<Vec<_>>()), "the route table");
}

#[test]
fn r29_nobody_changes_anything_without_a_token() {
    for (method, path, access) in route_table() {
        assert!(access != "public" || method == "GET", "{method} {path}");
    }
}

/// Something real for every placeholder of a path.
async fn names(app: &Scenario, agent: &Person) -> BTreeMap<&'static str, String> {
    let action = agent.proposes(app.team.run, &scan()).await;
    BTreeMap::from([
        ("project", app.team.project.to_string()),
        ("run", app.team.run.to_string()),
        ("action", action.id.to_string()),
        ("identity", agent.id.to_string()),
        ("digest", Digest::of(b"x").to_string()),
        ("name", "ci".to_owned()),
        ("worktree", worktree_of(&app.team, "backend", "PAY-1").to_string()),
        ("number", "0".to_owned()),
    ])
}

/// A token for each role, by its name.
async fn token_of_each_role(app: &Scenario) -> BTreeMap<&'static str, String> {
    let mut tokens = BTreeMap::new();
    for role in Role::ALL {
        let new = json!({ "name": format!("a-{role}"), "roles": [role], "projects": [app.team.project] });
        tokens.insert(role.as_str(), app.hire(new).await.token);
    }
    tokens
}

/// Where the placeholders of a path lead.
fn filled(path: &str, names: &BTreeMap<&str, String>) -> String {
    names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value))
}

/// Calls a route with a body that no handler takes: whoever is let in is refused behind the door, and nothing changes.
async fn knock(person: &Person, method: &str, path: &str, token: Option<&str>) -> &'static str {
    let request = person.anonymous(method.parse::<Method>().unwrap(), path);
    let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
    let request = if method == "GET" { request } else { request.json(&json!({ "no such field": 1 })) };
    let response = request.send().await.unwrap();
    match response.status().as_u16() {
        401 => "401",
        403 if response.json::<Value>().await.unwrap()["code"] == "role" => "403",
        status if status < 500 => "yes",
        status => panic!("{method} {path}: {status}"),
    }
}

#[tokio::test]
async fn b1_every_route_asks_every_caller_for_their_role() {
    let (app, agent, _, _) = Scenario::start().await;
    let names = names(&app, &agent).await;
    let of_role = token_of_each_role(&app).await;
    let mut tokens: Vec<Option<String>> = Role::ALL.iter().map(|role| of_role.get(role.as_str()).cloned()).collect();
    let revoked = app.another("reviewer", 9).await;
    app.admin.post(&RevokeIdentity { identity: revoked.id }.path(), &json!({})).await.is(200);
    tokens.extend([None, Some("plc_unknown".to_owned()), Some(revoked.token)]);
    let mut rows = Vec::new();
    for (method, path, _) in route_table() {
        let mut cells = Vec::new();
        for token in &tokens {
            cells.push(knock(&agent, &method, &filled(&path, &names), token.as_deref()).await);
        }
        rows.push((format!("{method} {path}"), cells));
    }
    assert_reviewed(&page(&rows), "what the server does");
}

#[tokio::test]
async fn r28_tokens_that_are_almost_right_are_wrong() {
    let (app, agent, _, _) = Scenario::start().await;
    let token = &agent.token;
    let mangled = [
        token.to_uppercase(),
        token[1..].to_owned(),
        format!("{token}x"),
        format!(" {token}"),
        token[..token.len() - 1].to_owned(),
        Digest::of(token.as_bytes()).to_string(),
        Digest::of(token.as_bytes()).to_hex(),
        "x".repeat(10_000),
    ];
    for token in &mangled {
        agent.holding(token).get(&ShowCaller {}.path()).await.problem(401, "unauthorized");
    }
    for value in
        [format!("Basic {token}"), token.clone(), format!("Bearer\t{token}"), "Bearer ".to_owned(), String::new()]
    {
        let request = agent.anonymous(Method::GET, "/api/v1/whoami").header("authorization", value);
        let answer = crate::person::Answer::to(request).await;
        answer.problem(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    agent.get(&format!("/api/v1/whoami?token={token}")).await.is(200);
    let twice = agent.request(Method::GET, "/api/v1/whoami").header("authorization", "Bearer other");
    crate::person::Answer::to(twice).await.problem(401, "unauthorized");
    assert_eq!(app.admin.get(&ShowCaller {}.path()).await.is(200).json::<Value>()["name"], "root");
}

#[tokio::test]
async fn r28_a_replaced_token_stops_working_and_its_successor_works() {
    let (app, agent, _, _) = Scenario::start().await;
    agent.get(&ShowCaller {}.path()).await.is(200);
    let once: Value = app.admin.post(&ReplaceToken { identity: agent.id }.path(), &json!({})).await.is(200).json();
    agent.get(&ShowCaller {}.path()).await.problem(401, "unauthorized");
    let renewed = agent.holding(once["token"].as_str().unwrap());
    assert_eq!(renewed.get(&ShowCaller {}.path()).await.is(200).json::<Value>()["id"], json!(agent.id));
    app.admin.post(&RevokeIdentity { identity: agent.id }.path(), &json!({})).await.is(200);
    renewed.get(&ShowCaller {}.path()).await.problem(401, "unauthorized");
    app.admin.post(&ReplaceToken { identity: agent.id }.path(), &json!({})).await.problem(409, "not_now");
}

/// All `$ref`s of a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn b12_the_openapi_document_lists_exactly_these_routes() {
    let (app, agent, _, _) = Scenario::start().await;
    let served: Value =
        crate::person::Answer::to(agent.anonymous(Method::GET, "/api/v1/openapi.json")).await.is(200).json();
    assert_eq!(served, serde_json::to_value(api_document()).unwrap());
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut listed = BTreeSet::new();
    for (path, item) in served["paths"].as_object().unwrap() {
        listed.extend(item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())));
    }
    let real: BTreeSet<_> = route_table().into_iter().map(|(method, path, _)| (method, path)).collect();
    assert_eq!(listed, real);
    assert!(app.size() > 0);
}

#[test]
fn b12_every_operation_says_who_may_call_it_and_what_it_takes() {
    let document = serde_json::to_value(api_document()).unwrap();
    let mut ids = BTreeSet::new();
    for (method, path, access) in route_table() {
        let operation = &document["paths"][&path][method.to_lowercase()];
        let secured = operation["security"].as_array().is_some_and(|schemes| !schemes.is_empty());
        assert_eq!(secured, access != "public", "{method} {path}");
        assert!(operation["summary"].as_str().is_some_and(|words| words.len() >= 8), "{method} {path}");
        assert!(ids.insert(operation["operationId"].to_string()), "{method} {path}");
        assert!(operation["responses"]["default"].is_object(), "{method} {path}");
        let named: BTreeSet<_> = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
        assert_eq!(in_path.map(|parameter| parameter["name"].as_str().unwrap()).collect::<BTreeSet<_>>(), named);
        let takes_body = matches!(method.as_str(), "POST" | "PUT");
        assert_eq!(operation["requestBody"].is_object(), takes_body, "{method} {path}");
    }
}

/// The code of the problem that a route answers with, if it does.
async fn code_of(person: &Person, method: &str, path: &str, token: &str) -> Option<String> {
    let request = person.anonymous(method.parse::<Method>().unwrap(), path).bearer_auth(token);
    let request = if method == "GET" { request } else { request.json(&json!({ "no such field": 1 })) };
    let response = request.send().await.unwrap();
    // Anything else may be a stream, which does not end.
    if response.headers()["content-type"] != "application/problem+json" {
        return None;
    }
    response.json::<Value>().await.unwrap()["code"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn b12_the_document_names_every_query_and_every_if_match_that_a_route_reads() {
    let (app, agent, _, _) = Scenario::start().await;
    let names = names(&app, &agent).await;
    let tokens = token_of_each_role(&app).await;
    let document = serde_json::to_value(api_document()).unwrap();
    for (method, path, access) in route_table() {
        // Whoever is named first may call it; of those who need no token, no route reads anything of the kind.
        let Some(token) = tokens.get(access.split(' ').next().unwrap_or_default().replace("anyone", "admin").as_str())
        else {
            continue;
        };
        let parameters = &document["paths"][&path][method.to_lowercase()]["parameters"];
        let documents = |what: fn(&Value) -> bool| parameters.as_array().is_some_and(|list| list.iter().any(what));
        let asked = format!("{}?no_such_parameter=1", filled(&path, &names));
        let code = code_of(&agent, &method, &asked, token).await;
        let reads_query = code.as_deref() == Some("bad_query");
        assert_eq!(reads_query, documents(|parameter| parameter["in"] == "query"), "{method} {path}: {code:?}");
        let reads_match = code.as_deref() == Some("unseen");
        assert_eq!(reads_match, documents(|parameter| parameter["name"] == "If-Match"), "{method} {path}: {code:?}");
    }
}

#[test]
fn b12_all_references_of_the_document_resolve() {
    let document = serde_json::to_value(api_document()).unwrap();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{}", found.len());
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} leads outside"));
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
