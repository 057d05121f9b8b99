//! The settings that a team writes: what is read, and what is refused with its line.

use placet_llm::config::Settings;

const GOOD: &str = r#"
[limits]
output_tokens = 16_000

[[upstream]]
name = "anthropic"
wire = ["messages"]
base_url = "https://api.anthropic.com"
models = ["claude-*"]
key = { env = "ANTHROPIC_API_KEY" }

[[upstream]]
name = "local"
wire = ["chat"]
base_url = "http://127.0.0.1:11434/v1"
models = ["qwen3-coder"]
limit_name = "max_tokens"
timeouts = { connect_ms = 500 }

[[price]]
model = "qwen3-coder"
input = 0
output = 0
"#;

fn told(text: &str) -> String {
    Settings::read(text).unwrap_err().to_string()
}

#[test]
fn good_settings_are_read() {
    let settings = Settings::read(GOOD).unwrap();
    assert_eq!(settings.limits.output_tokens.get(), 16_000);
    assert_eq!(settings.limits.request_bytes.get(), 32 << 20);
    assert_eq!(settings.upstreams[0].provider.as_deref(), Some("anthropic"), "found by its address");
    assert_eq!(settings.upstreams[1].timeouts.connect_ms.get(), 500);
    assert_eq!(settings.upstreams[1].timeouts.idle_ms.get(), 120_000);
    assert_eq!(settings.prices.len(), 1);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, line, says) in [
        ("output_tokens", "output_token", 3, "unknown field `output_token`"),
        ("16_000", "0", 3, "nonzero"),
        ("16_000", "-1", 3, "nonzero"),
        ("\"messages\"", "\"smtp\"", 7, "unknown variant `smtp`"),
        ("https://api.anthropic.com", "http://api.anthropic.com", 8, "needs `https`"),
        ("https://api.anthropic.com", "https://me:pw@api.anthropic.com", 8, "holds a user"),
        ("\"claude-*\"", "\"cl*ude\"", 9, "names no model"),
        ("{ env =", "{ secret =", 10, "say where the key is found"),
        ("limit_name", "limit", 17, "unknown field `limit`"),
        ("connect_ms = 500", "connect_ms = 0", 18, "nonzero"),
        ("input = 0", "input = 0.5", 22, "invalid type"),
        ("input = 0\n", "", 20, "missing field `input`"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        let told = told(&text);
        assert!(told.starts_with(&format!("gateway.toml:{line}: ")) && told.contains(says), "{from} -> {to}: {told}");
    }
}

#[test]
fn what_does_not_fit_together_is_told_at_once() {
    let text =
        GOOD.replace("\"local\"", "\"anthropic\"").replace("[\"messages\"]", "[]").replace("[\"qwen3-coder\"]", "[]");
    let told = told(&text);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].starts_with("gateway.toml:5: the upstream `anthropic` speaks no wire format"), "{told}");
    assert!(lines[1].starts_with("gateway.toml:12: the upstream `anthropic` serves no model"), "{told}");
    assert!(lines[2].contains("has a name that another one has"), "{told}");
}

#[test]
fn a_key_is_not_sent_in_the_open_and_a_provider_must_be_known() {
    let text = GOOD.replace("http://127.0.0.1:11434/v1\"", "http://10.0.0.7\"\nkey = { env = \"K\" }");
    assert!(told(&text).contains("would send its key in the open"));
    let text = GOOD.replace("limit_name", "provider = \"nobody-at-all\"\nlimit_name");
    assert!(told(&text).contains("names a provider that the table of prices does not have"));
    let text = GOOD.replace("{ env = \"ANTHROPIC_API_KEY\" }", "{ command = [] }");
    assert!(told(&text).contains("has an empty key command"));
    assert!(told("").contains("there is no `[[upstream]]`"));
}

#[test]
fn c12_what_a_team_lets_pass_is_checked_when_it_is_read() {
    let listing = |line: &str| GOOD.replace("limit_name", &format!("{line}\nlimit_name"));
    let settings = Settings::read(&listing("allow_members = [\"n_predict\", \"provider\"]")).unwrap();
    let names: Vec<&str> = settings.upstreams[1].allow_members.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, ["n_predict", "provider"]);
    assert!(settings.upstreams[0].allow_members.is_empty() && !settings.upstreams[0].fetches);
    for (line, says) in [
        ("allow_members = [\"*\"]", "`*` is no name of a member"),
        ("allow_members = [\"\"]", "`` is no name of a member"),
        ("allow_members = \"all\"", "invalid type"),
        ("fetches = \"yes\"", "invalid type"),
        ("allow_headers = [\"X-Title\"]", "write it in small letters"),
        ("allow_headers = [\"x title\"]", "is no name of a header"),
        ("allow_headers = [\"authorization\"]", "is the gateway's own to set"),
        ("allow_headers = [\"x-placet-run\"]", "is the gateway's own to set"),
    ] {
        let told = told(&listing(line));
        assert!(told.starts_with("gateway.toml:17: ") && told.contains(says), "{line}: {told}");
    }
}

#[test]
fn the_example_in_the_documentation_is_valid() {
    let page = include_str!("../../../../docs/gateway.md");
    let (_, after) = page.split_once("```toml\n").unwrap();
    let (example, _) = after.split_once("```").unwrap();
    Settings::read(example).unwrap();
}
