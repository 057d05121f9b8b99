//! From what was used to narrower rules, as text for a person.

use placet_domain::time::Timestamp;
use placet_egress::learn::learn;
use placet_egress::rules::{Asks, HttpAsk, Request, Speaks, decide};
use placet_egress::{Decision, EgressRecord, Rules, Way, Why};
use proptest::prelude::*;

use super::world::rules;

fn record(to: &str, speaks: Speaks, asked: Option<(&str, &str)>, address: Option<&str>) -> EgressRecord {
    EgressRecord {
        run: None,
        at: Timestamp::from_unix_ms(0),
        way: Way::Http,
        to: Some(to.parse().unwrap()),
        speaks: Some(speaks),
        method: asked.map(|(method, _)| method.parse().unwrap()),
        path: asked.map(|(_, path)| path.to_owned()),
        decision: Decision::Allowed("a rule".into()),
        ended: None,
        address: address.map(|address| address.parse().unwrap()),
        listed: Vec::new(),
        encrypted_hello: false,
        status: None,
        bytes_up: 0,
        bytes_down: 0,
        duration_ms: 0,
    }
}

/// Formats rules as sorted lines.
fn text(rules: &Rules) -> String {
    let mut lines: Vec<String> = rules.allow.iter().map(|rule| format!("allow {rule}\n")).collect();
    lines.sort();
    lines.concat()
}

const PUBLIC: Option<&str> = Some("93.184.216.34:80");

fn plain(to: &str, method: &str, path: &str) -> EgressRecord {
    record(to, Speaks::Http, Some((method, path)), PUBLIC)
}

fn allows(rules: &Rules, to: &str, method: &str, path: &str) -> bool {
    let ask = HttpAsk { method: method.parse().unwrap(), path: path.parse().ok(), brought: Vec::new() };
    let request = Request { to: to.parse().unwrap(), asks: Asks::Http(ask) };
    decide(rules, &request, Timestamp::from_unix_ms(0)).is_ok()
}

#[test]
fn what_was_used_stays_allowed_and_what_was_not_does_not() {
    let wide =
        rules("[[allow]]\nhost = \"*.test\"\nspeaks = \"http\"\n[[allow]]\nhost = \"*.test\"\nspeaks = \"https\"\n");
    let mut refused = plain("evil.test:80", "GET", "/");
    refused.decision = Decision::Refused(Why { number: 10, text: String::new() });
    let records = [
        plain("api.test:80", "GET", "/v1/items"),
        plain("api.test:80", "GET", "/v1/health"),
        plain("api.test:80", "POST", "/v1/items"),
        record("cdn.test:443", Speaks::Https, None, PUBLIC),
        record("never.test:443", Speaks::Https, None, None),
        refused,
    ];
    let learned = learn(&records, &wide);
    assert_eq!(
        text(&learned),
        "allow http api.test port 80 methods GET paths =/v1/health\n\
         allow http api.test port 80 methods GET,POST paths =/v1/items\n\
         allow https cdn.test port 443\n"
    );
    assert!(allows(&learned, "api.test:80", "GET", "/v1/health"));
    assert!(!allows(&learned, "api.test:80", "POST", "/v1/health"), "methods stay with their paths");
    assert!(!allows(&learned, "other.test:80", "GET", "/v1/items"));
}

#[test]
fn a_tunnel_without_requests_teaches_nothing_about_them() {
    let bare = record("api.test:80", Speaks::Http, None, PUBLIC);
    assert_eq!(text(&learn(&[bare], &Rules::default())), "");
}

#[test]
fn addresses_that_are_not_public_are_listed_alone() {
    let records = [
        record("db.test:5432", Speaks::Tcp, None, Some("10.1.2.3:5432")),
        record("db.test:5432", Speaks::Tcp, None, Some("10.1.2.4:5432")),
        record("10.1.2.9:5432", Speaks::Tcp, None, Some("10.1.2.9:5432")),
    ];
    assert_eq!(
        text(&learn(&records, &Rules::default())),
        "allow tcp 10.1.2.9 port 5432\nallow tcp db.test port 5432 networks 10.1.2.3,10.1.2.4\n"
    );
}

#[test]
fn whose_credential_goes_along_stays_as_it_was_decided() {
    let present = rules("[[allow]]\nhost = \"*.test\"\nspeaks = \"http\"\ncredential = { inject = \"team\" }\n");
    let learned = learn(&[by(&present, 0, plain("api.test:80", "GET", "/"))], &present);
    assert_eq!(text(&learned), "allow http api.test port 80 methods GET paths =/ credential inject:team\n");
}

/// The record, allowed by this rule.
fn by(present: &Rules, rule: usize, record: EgressRecord) -> EgressRecord {
    EgressRecord { decision: Decision::Allowed(present.allow[rule].to_string()), ..record }
}

#[test]
fn r25_inside_of_tls_methods_and_paths_are_learned_and_no_credential_comes_to_another_path() {
    let present = rules(
        "[[allow]]\nhost = \"*.test\"\nspeaks = \"https\"\npaths = [\"/mine\"]\ncredential = { inject = \"team\" }\n\
         [[allow]]\nhost = \"*.test\"\nspeaks = \"https\"\ncredential = \"none\"\n\
         [[allow]]\nhost = \"cdn.org\"\nspeaks = \"https\"\n",
    );
    let inside = |path: &str| record("api.test:443", Speaks::Https, Some(("GET", path)), PUBLIC);
    let records = [
        by(&present, 0, inside("/mine/a")),
        by(&present, 1, inside("/other")),
        by(&present, 2, record("cdn.org:443", Speaks::Https, None, PUBLIC)),
    ];
    assert_eq!(
        text(&learn(&records, &present)),
        "allow https api.test port 443 methods GET paths =/mine/a credential inject:team\n\
         allow https api.test port 443 methods GET paths =/other credential none\n\
         allow https cdn.org port 443\n"
    );
    let gone = learn(&records[..1], &Rules::default());
    assert_eq!(
        text(&gone),
        "allow https api.test port 443 methods GET paths =/mine/a\n",
        "of a rule that is gone: nobody's"
    );
}

proptest! {
    #[test]
    fn learned_rules_allow_everything_seen_and_no_host_port_or_method_that_was_not(
        seen in prop::collection::vec(("[ab]\\.test", 80u16..83, "GET|POST|PUT", "(/[a-c]{1,2}){1,3}"), 1..40),
        other in ("[abc]\\.test", 80u16..84, "GET|POST|PUT|DELETE", "(/[a-d]{1,2}){1,3}"),
    ) {
        let to = |host: &str, port: u16| format!("{host}:{port}");
        let records: Vec<_> = seen.iter().map(|(host, port, method, path)| plain(&to(host, *port), method, path)).collect();
        let learned = learn(&records, &Rules::default());
        for (host, port, method, path) in &seen {
            prop_assert!(allows(&learned, &to(host, *port), method, path));
        }
        let (host, port, method, path) = other;
        let directory = |path: &str| path[..=path.rfind('/').unwrap()].to_owned();
        let near = seen.iter().any(|(seen_host, seen_port, seen_method, seen_path)| {
            (seen_host, *seen_port, seen_method) == (&host, port, &method) && path.starts_with(&directory(seen_path))
        });
        if !near {
            prop_assert!(!allows(&learned, &to(&host, port), &method, &path));
        }
    }
}

#[test]
fn c6_every_address_that_a_rule_had_to_list_is_learned_and_not_only_the_one_that_answered() {
    let mut asked = record("db.test:80", Speaks::Http, Some(("GET", "/")), Some("10.1.2.3:80"));
    asked.listed = vec!["10.1.2.3".parse().unwrap(), "10.1.2.4".parse().unwrap()];
    assert_eq!(
        text(&learn(&[asked], &Rules::default())),
        "allow http db.test port 80 methods GET paths =/ networks 10.1.2.3,10.1.2.4\n"
    );
}

#[test]
fn what_was_recorded_before_all_addresses_were_is_read_as_it_is() {
    let line = serde_json::to_value(record("a.test:80", Speaks::Http, None, PUBLIC)).unwrap();
    assert!(line.get("listed").is_none(), "{line}");
    assert!(serde_json::from_value::<EgressRecord>(line).unwrap().listed.is_empty());
}
