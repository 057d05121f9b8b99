//! What a command may ask of the world, as the options say it: hosts, credentials that are put in outside, and a file for
//! everything that does not fit into an option.

use std::path::{Path, PathBuf};

use placet_dial::KeySource;
use placet_domain::scope::{BadTarget, Network, Target, TargetRule};
use placet_egress::credential::{CredentialSettings, Put};
use placet_egress::rules::{Credential, CredentialName, RuleDraft, Speaks};
use placet_egress::{Rule, Settings};

use crate::error::CliError;

#[derive(Debug, clap::Args)]
pub(super) struct Requests {
    /// A host the command may reach, at ports 80 and 443 or at the one that is named: a name, *.NAME, an address or a network
    #[arg(long = "allow-host", value_name = "HOST[:PORT]")]
    allowed_hosts: Vec<String>,
    /// A host the command may reach with a credential (https, `Authorization: Bearer`) that it never sees: the cage gets a
    /// placeholder in the variable of that name
    #[arg(long = "credential", value_name = "HOST[:PORT]=env:NAME|file:PATH")]
    credentials: Vec<String>,
    /// Rules and credentials for requests, as a file
    #[arg(long = "requests", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Requests {
    /// Everything together; none where nothing may be asked. Credentials come first: of several rules the first one that
    /// allows a request counts.
    pub(super) fn settings(&self) -> Result<Option<Settings>, CliError> {
        if self.allowed_hosts.is_empty() && self.credentials.is_empty() && self.file.is_none() {
            return Ok(None);
        }
        let mut settings = self.file.as_deref().map(read).transpose()?.unwrap_or_default();
        let mut first = Vec::new();
        for text in &self.credentials {
            let (rule, credential) = with_credential(text)?;
            first.push(rule);
            settings.credentials.push(credential);
        }
        settings.allow.splice(0..0, first);
        for text in &self.allowed_hosts {
            settings.allow.extend(rules_for(text)?);
        }
        Ok(Some(settings))
    }
}

fn read(path: &Path) -> Result<Settings, CliError> {
    let bad = |why: String| CliError::usage(format!("`{}`: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    Settings::read(&text).map_err(|error| bad(error.to_string()))
}

/// `HOST[:PORT]`, for TLS and for plain HTTP. A name is not allowed to lead to a network that is not public; an address
/// or a network is, because it was named.
fn rules_for(text: &str) -> Result<Vec<Rule>, CliError> {
    let (target, port) = place(text).map_err(|why| {
        CliError::usage(format!("--allow-host `{text}`: {why}"))
            .hint("like example.org, *.example.org, 10.0.0.7:8080 or [::1]:8080")
    })?;
    let rule =
        |speaks| port.map_or(Rule::new(target.clone(), speaks), |port| Rule::new(target.clone(), speaks).at_port(port));
    Ok(vec![rule(Speaks::Https), rule(Speaks::Http)])
}

/// `HOST[:PORT]=SOURCE`: a rule for TLS, and the credential that it puts in.
fn with_credential(text: &str) -> Result<(Rule, CredentialSettings), CliError> {
    // What follows the equals sign may be a secret that was written here by mistake: it is not repeated.
    let host = text.split('=').next().unwrap_or_default();
    let bad = |why: String| {
        CliError::usage(format!("--credential `{host}=…`: {why}"))
            .hint("like api.example.org=env:API_TOKEN or 10.0.0.7:8443=file:/etc/placet/api.key; other ways with --requests FILE")
    };
    let source = text.split_once('=').map(|(_, source)| source).and_then(source);
    let (key, variables) = source.ok_or_else(|| bad("say where it is found, with env: or file:".to_owned()))?;
    let (target, port) = place(host).map_err(bad)?;
    let name = credential_name(host).map_err(|_| bad("the host has too long a name".to_owned()))?;
    let base = Rule::new(target, Speaks::Https);
    let base = port.map_or(base.clone(), |port| base.at_port(port));
    let draft = RuleDraft { credential: Some(Credential::Inject(name.clone())), ..base.draft().clone() };
    let rule = Rule::try_from(draft).map_err(|error| bad(error.to_string()))?;
    let variables =
        variables.map(str::parse).transpose().map_err(|_| bad("that is no name of a variable".to_owned()))?;
    Ok((rule, CredentialSettings { name, key, put: Put::Bearer, variables: variables.into_iter().collect() }))
}

/// Where a credential is found, and the variable that it is in.
fn source(text: &str) -> Option<(KeySource, Option<&str>)> {
    let (kind, rest) = text.split_once(':').filter(|(_, rest)| !rest.is_empty())?;
    match kind {
        "env" => Some((KeySource::Env(rest.to_owned()), Some(rest))),
        "file" => Some((KeySource::File(rest.into()), None)),
        _ => None,
    }
}

/// Called like its host, in the letters that such names have.
fn credential_name(host: &str) -> Result<CredentialName, placet_domain::name::BadName> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    host.chars().map(plain).collect::<String>().trim_matches('-').parse()
}

/// A host and its port, where one is named; else what is wrong.
fn place(text: &str) -> Result<(TargetRule, Option<u16>), String> {
    let (host, port) = split(text);
    let port: Option<u16> = port.map(str::parse).transpose().map_err(|_| "the port is no number".to_owned())?;
    if port == Some(0) {
        return Err("port 0 is nobody's".to_owned());
    }
    let target: TargetRule = host.parse().map_err(|error: BadTarget| error.to_string())?;
    if matches!(target, TargetRule::Within(Target::Url(_))) {
        return Err("write the host alone, without scheme and path".to_owned());
    }
    Ok((target, port))
}

/// The host and the port after it. An IPv6 address with a port is in brackets.
fn split(text: &str) -> (&str, Option<&str>) {
    if text.parse::<Network>().is_ok() || text.contains("://") {
        return (text, None);
    }
    if let Some((inner, port)) = text.strip_prefix('[').and_then(|text| text.split_once("]:")) {
        return (inner, Some(port));
    }
    text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<String> {
        rules_for(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_host_is_allowed_at_the_ports_of_the_web_or_at_its_own() {
        assert_eq!(rules("example.org"), ["https example.org port 443", "http example.org port 80"]);
        assert_eq!(rules("*.example.org:8080"), ["https *.example.org port 8080", "http *.example.org port 8080"]);
        assert_eq!(rules("10.0.0.0/24")[0], "https 10.0.0.0/24 port 443");
        assert_eq!(rules("10.0.0.0/24:81")[0], "https 10.0.0.0/24 port 81");
        assert_eq!(
            (rules("::1")[0].as_str(), rules("[::1]:81")[0].as_str()),
            ("https ::1 port 443", "https ::1 port 81")
        );
    }

    #[test]
    fn what_is_no_host_is_refused_with_an_example() {
        for bad in
            ["", "exa mple.org", "https://example.org", "example.org:x", "example.org:0", "user@example.org", "127.1"]
        {
            assert!(rules_for(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_credential_has_its_host_its_place_and_the_variable_it_was_in() {
        let (rule, credential) = with_credential("api.example.org:8443=env:API_TOKEN").unwrap();
        assert_eq!(rule.to_string(), "https api.example.org port 8443 credential inject:api-example-org-8443");
        assert_eq!(credential.key, KeySource::Env("API_TOKEN".to_owned()));
        assert_eq!(credential.variables.iter().next().unwrap().as_str(), "API_TOKEN");
        let (rule, credential) = with_credential("[::1]:8443=file:/etc/placet/a=b:c").unwrap();
        assert!(rule.to_string().starts_with("https ::1 port 8443 "), "{rule}");
        assert_eq!((credential.key, credential.variables.len()), (KeySource::File("/etc/placet/a=b:c".into()), 0));
    }

    #[test]
    fn r24_a_secret_that_was_written_by_mistake_is_not_repeated() {
        for bad in ["a.test=canary", "a.test=canary:x", "a.test=env:", "a.test", "=env:X", "a.test=env:no name"] {
            let told = format!("{:?}", with_credential(bad).unwrap_err());
            assert!(!told.contains("canary") && told.contains("--credential"), "{bad}: {told}");
        }
    }
}
