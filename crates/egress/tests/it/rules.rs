//! Rules as files and as decisions, without any connection: each refusal by its number.

use placet_domain::time::Timestamp;
use placet_egress::rules::{Asks, Brought, HttpAsk, Request, Speaks, decide};
use placet_egress::{Rule, Rules};

use super::world::rules;

fn tunnel(to: &str) -> Request {
    Request { to: to.parse().unwrap(), asks: Asks::Tunnel }
}

fn plain(method: &str, to: &str, path: &str, credential: Option<&str>) -> Request {
    let ask = HttpAsk {
        method: method.parse().unwrap(),
        path: path.parse().ok(),
        brought: credential.map(Brought::foreign).into_iter().collect(),
    };
    Request { to: to.parse().unwrap(), asks: Asks::Http(ask) }
}

/// 0 if it is allowed, else the number of the reason.
fn number(rules: &Rules, request: &Request) -> u16 {
    decide(rules, request, Timestamp::from_unix_ms(1_000)).map_or_else(|reason| reason.number(), |_| 0)
}

const RULES: &str = r#"
[[allow]]
host = "api.test"
speaks = "http"
ports = [80, 8080]
methods = ["GET", "HEAD"]
paths = ["/v1", "=/health"]

[[allow]]
host = "*.cdn.test"
speaks = "https"

[[allow]]
host = "10.1.0.0/16"
speaks = "tcp"
ports = [5432]

[[allow]]
host = "old.test"
speaks = "https"
expires_at = 1000

[[allow]]
host = "own.test"
speaks = "http"
credential = "own"
"#;

#[test]
fn c5_what_no_rule_allows_is_refused_with_the_reason_that_came_closest() {
    let rules = rules(RULES);
    for (request, expected) in [
        (plain("GET", "api.test:80", "/v1/items", None), 0),
        (plain("GET", "api.test:8080", "/v1", None), 0),
        (plain("HEAD", "api.test:80", "/health", None), 0),
        (plain("GET", "evil.test:80", "/v1", None), 10),
        (plain("GET", "sub.api.test:80", "/v1", None), 10),
        (plain("GET", "api.test:81", "/v1", None), 11),
        (plain("POST", "api.test:80", "/v1", None), 13),
        (plain("GET", "api.test:80", "/v10", None), 14),
        (plain("GET", "api.test:80", "/health/x", None), 14),
        (plain("GET", "api.test:80", "/v1/../admin", None), 14),
        (plain("GET", "api.test:80", "/v1/%2e%2e/admin", None), 14),
        (plain("GET", "api.test:80", "/v1", Some("Authorization")), 15),
        (plain("GET", "own.test:80", "/", Some("Authorization")), 0),
        (plain("GET", "a.cdn.test:443", "/", None), 12),
        (tunnel("a.cdn.test:443"), 0),
        (tunnel("a.b.cdn.test:443"), 0),
        (tunnel("cdn.test:443"), 10),
        (tunnel("evilcdn.test:443"), 10),
        (tunnel("a.cdn.test:80"), 11),
        (tunnel("old.test:443"), 16),
        (tunnel("10.1.2.3:5432"), 0),
        (tunnel("10.2.2.3:5432"), 10),
        (tunnel("10.1.2.3:5433"), 11),
        (tunnel("[::ffff:10.1.2.3]:5432"), 10),
    ] {
        assert_eq!(number(&rules, &request), expected, "{request:?}");
    }
    assert_eq!(number(&Rules::default(), &tunnel("a.cdn.test:443")), 10, "no rules allow nothing");
}

#[test]
fn a_rule_that_could_not_be_kept_is_refused_when_it_is_read() {
    let bad = [
        ("speaks = \"tcp\"\nports = [1]\npaths = [\"/a\"]", "cannot be seen"),
        ("speaks = \"tcp\"\nports = [1]\ncredential = \"none\"", "cannot be seen"),
        ("speaks = \"tcp\"\nports = [1]\nmethods = [\"GET\"]", "cannot be seen"),
        ("speaks = \"tcp\"", "no usual port"),
        ("speaks = \"http\"\nports = [0]", "port 0"),
        ("speaks = \"http\"\nport = 80", "unknown field"),
        ("speaks = \"ftp\"", "unknown variant"),
        ("speaks = \"http\"\nmethods = [\"get\"]", "capital letters"),
        ("speaks = \"http\"\npaths = [\"v1\"]", "begins with"),
        ("speaks = \"http\"\npaths = [\"/a/../b\"]", "the path contains"),
        ("speaks = \"http\"\nnetworks = [\"10.0.0.1/8\"]", "host bits"),
        ("speaks = \"http\"\ncredential = { inject = \"Bad Name\" }", "lowercase letters"),
    ];
    for (lines, why) in bad {
        let text = format!("[[allow]]\nhost = \"a.test\"\n{lines}\n");
        let error = toml::from_str::<Rules>(&text).expect_err(lines).to_string();
        assert!(error.contains(why), "{lines}: {error}");
    }
    let url = "[[allow]]\nhost = \"https://a.test/\"\nspeaks = \"https\"\n";
    assert!(toml::from_str::<Rules>(url).unwrap_err().to_string().contains("write the host alone"));
}

#[test]
fn tls_is_opened_where_a_rule_needs_it_and_nowhere_else() {
    for (lines, looks_inside) in [
        ("speaks = \"https\"", false),
        ("speaks = \"https\"\ncredential = \"own\"", false),
        ("speaks = \"https\"\ncredential = \"none\"", true),
        ("speaks = \"https\"\ncredential = { inject = \"team\" }", true),
        ("speaks = \"https\"\nmethods = [\"GET\"]\ncredential = \"own\"", true),
        ("speaks = \"https\"\npaths = [\"/a\"]", true),
        ("speaks = \"http\"\npaths = [\"/a\"]", false),
        ("speaks = \"tcp\"\nports = [443]", false),
    ] {
        let rules = rules(&format!("[[allow]]\nhost = \"a.test\"\n{lines}\n"));
        assert_eq!(rules.allow[0].looks_inside(), looks_inside, "{lines}");
    }
}

#[test]
fn inside_of_tls_rules_for_https_count_and_no_others() {
    let rules = rules(&format!("{RULES}\n[[allow]]\nhost = \"api.test\"\nspeaks = \"https\"\nmethods = [\"GET\"]\n"));
    let inside = |method: &str, to: &str| {
        let plain = plain(method, to, "/v1", None);
        let ask = plain.asks.http().unwrap().clone();
        Request { to: plain.to, asks: Asks::Https(ask) }
    };
    assert_eq!(number(&rules, &inside("GET", "api.test:443")), 0);
    assert_eq!(number(&rules, &inside("POST", "api.test:443")), 13);
    assert_eq!(number(&rules, &inside("GET", "api.test:80")), 12, "a rule for plain requests is not one for TLS");
    assert_eq!(number(&rules, &inside("GET", "10.1.2.3:5432")), 12);
    assert_eq!(number(&rules, &plain("GET", "api.test:443", "/v1", None)), 12, "nor the other way round");
}

#[test]
fn rules_are_written_as_they_were_read() {
    let rules = rules(RULES);
    let json = serde_json::to_string(&rules).unwrap();
    assert_eq!(serde_json::from_str::<Rules>(&json).unwrap(), rules);
    assert_eq!(rules.allow[0].to_string(), "http api.test port 80,8080 methods GET,HEAD paths /v1,=/health");
    assert_eq!(rules.allow[3].to_string(), "https old.test port 443 until 1000");
}

#[test]
fn d9_openings_become_rules_that_reach_no_further() {
    let rules =
        for_openings(&["https://api.test/v1", "http://plain.test:8080/a", "docs.test", "*.cdn.test", "10.1.0.0/16"]);
    for (request, expected) in [
        (tunnel("api.test:443"), 0),
        (tunnel("api.test:8443"), 11),
        (plain("GET", "api.test:443", "/v1", None), 12),
        (plain("GET", "plain.test:8080", "/a/b", None), 0),
        (plain("GET", "plain.test:8080", "/b", None), 14),
        (plain("GET", "docs.test:80", "/", None), 0),
        (tunnel("docs.test:443"), 0),
        (tunnel("x.cdn.test:443"), 0),
        (tunnel("10.1.0.9:443"), 0),
        (tunnel("10.2.0.9:443"), 10),
    ] {
        assert_eq!(number(&rules, &request), expected, "{request:?}");
    }
}

#[test]
fn rules_made_in_code_allow_nothing_before_they_have_a_port() {
    let host: placet_domain::scope::TargetRule = "a.test".parse().unwrap();
    let open = Rules { allow: vec![Rule::new(host.clone(), Speaks::Tcp)] };
    assert_eq!(number(&open, &tunnel("a.test:22")), 11);
    let none = Rules { allow: vec![Rule::new(host.clone(), Speaks::Tcp).at_port(0)] };
    assert_eq!(number(&none, &tunnel("a.test:22")), 11);
    let one = Rules { allow: vec![Rule::new(host, Speaks::Tcp).at_port(22)] };
    assert_eq!(number(&one, &tunnel("a.test:22")), 0);
}

fn for_openings(openings: &[&str]) -> Rules {
    let openings: Vec<placet_domain::proposal::Opening> = openings.iter().map(|text| text.parse().unwrap()).collect();
    Rules::for_openings(&openings)
}

#[test]
fn r25_whatever_an_action_opens_is_seen_unless_it_says_that_it_is_not() {
    let lines =
        |openings: &[&str]| -> Vec<String> { for_openings(openings).allow.iter().map(ToString::to_string).collect() };
    assert_eq!(lines(&["https://a.test/"]), ["https a.test port 443 credential none"]);
    assert_eq!(
        lines(&["GET,HEAD https://a.test:8443/v1"]),
        ["https a.test port 8443 methods GET,HEAD paths /v1 credential none"]
    );
    assert_eq!(lines(&["GET http://a.test/v1"]), ["http a.test port 80 methods GET paths /v1"]);
    assert_eq!(lines(&["*.a.test"]), ["https *.a.test port 443 credential none", "http *.a.test port 80"]);
    assert_eq!(lines(&["unseen https://a.test/"]), ["https a.test port 443"]);
    assert_eq!(
        lines(&["https://a.test/", "unseen https://a.test/"]),
        ["https a.test port 443", "https a.test port 443 credential none"],
        "a tunnel comes first: nothing else of that host would ever be seen"
    );
    for (opening, looks) in
        [("https://a.test/", true), ("a.test", true), ("http://a.test/v1", false), ("unseen https://a.test/", false)]
    {
        assert_eq!(for_openings(&[opening]).looks_inside(), looks, "{opening}");
    }
}

#[test]
fn r25_inside_of_tls_an_action_keeps_to_methods_paths_and_to_nobodys_credential() {
    let rules = for_openings(&["GET https://a.test/v1"]);
    let inside = |method: &str, path: &str, brought: Vec<Brought>| {
        let ask = HttpAsk { method: method.parse().unwrap(), path: path.parse().ok(), brought };
        number(&rules, &Request { to: "a.test:443".parse().unwrap(), asks: Asks::Https(ask) })
    };
    assert_eq!(inside("GET", "/v1/items", Vec::new()), 0);
    assert_eq!(inside("POST", "/v1/items", Vec::new()), 13);
    assert_eq!(inside("GET", "/v2", Vec::new()), 14);
    assert_eq!(inside("GET", "/v1/items", vec![Brought::foreign("Authorization")]), 15);
}

#[test]
fn a_reason_repeats_no_more_of_a_name_than_a_person_reads() {
    let brought = plain("GET", "a.test:80", "/", Some(&"token".repeat(5_000)));
    let reason = decide(&for_openings(&["http://a.test/"]), &brought, Timestamp::from_unix_ms(0)).unwrap_err();
    assert!(reason.number() == 15 && reason.to_string().len() < 200, "{reason}");
}
