//! Webhooks in the settings: who is told of what, and who may propose as whom. They stand here and nowhere else; no route
//! of the API reads or changes them.

use std::path::{Path, PathBuf};

use placet_control::{HookName, Hooks, IncomingHook, OutgoingHook};
use placet_domain::id::IdentityId;
use serde::{Deserialize, Serialize};

use super::Config;
use super::outside::{Receiver, hook_secret, mistake};
use crate::error::CliError;

/// `[[webhook_out]]`: somebody who is told of entries.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookOut {
    name: String,
    url: String,
    secret_file: PathBuf,
    events: Vec<String>,
    /// Who issues its certificate, and nobody else is believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    /// Networks that are not public and that it may be in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
}

/// `[[webhook_in]]`: somebody whose signed requests propose as one agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookIn {
    name: String,
    secret_file: PathBuf,
    identity: IdentityId,
}

/// All webhooks of a home, with their secrets.
pub(super) fn hooks(dir: &Path, config: &Config) -> Result<Hooks, CliError> {
    let outgoing: Result<_, _> = config.webhook_out.iter().map(|hook| outgoing(dir, hook)).collect();
    let incoming: Result<_, _> = config.webhook_in.iter().map(|hook| incoming(dir, hook)).collect();
    Hooks::new(outgoing?, incoming?).map_err(|error| mistake("webhooks", error))
}

fn outgoing(dir: &Path, hook: &WebhookOut) -> Result<OutgoingHook, CliError> {
    let place = format!("webhook_out `{}`", hook.name);
    let name: HookName = hook.name.parse().map_err(|error| mistake("webhook_out", error))?;
    let events: Result<_, _> = hook.events.iter().map(|pattern| pattern.parse()).collect();
    let events = events.map_err(|error| mistake(&place, error))?;
    let WebhookOut { url, secret_file, ca_file, networks, .. } = hook;
    let receiver = Receiver { url, secret_file, ca_file: ca_file.as_ref(), networks };
    let (url, secret, dialer) = receiver.read(dir, &|error| mistake(&place, error))?;
    OutgoingHook::new(name, url, secret, events, dialer).map_err(|error| mistake(&place, error))
}

fn incoming(dir: &Path, hook: &WebhookIn) -> Result<IncomingHook, CliError> {
    let name = hook.name.parse().map_err(|error| mistake("webhook_in", error))?;
    Ok(IncomingHook::new(name, hook_secret(dir, &hook.secret_file)?, hook.identity))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::Home;
    use super::*;
    use crate::error::Code;

    const CHAT: &str = "name = \"chat\"\nurl = \"http://127.0.0.1:9000/hook\"\nsecret_file = \"keys/chat.whsec\"\nevents = [\"run.*\"]\n";

    /// In pieces: whoever looks for secrets in this file finds none.
    fn secret() -> String {
        ["whsec_", "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw", "\n"].concat()
    }

    /// A home whose settings end like this.
    fn home_with(more: &str) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::create(&dir.path().join(".placet"), "127.0.0.1:7070".parse().unwrap()).unwrap();
        let (settings, file) = (home.dir().join("placet.toml"), home.dir().join("keys/chat.whsec"));
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + more).unwrap();
        fs::write(&file, secret()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        (dir, home)
    }

    fn refusal(more: &str) -> CliError {
        home_with(more).1.settings().unwrap_err()
    }

    #[test]
    fn b12_webhooks_are_read_from_the_settings() {
        let identity = "idn_00000000000070008000000000000000";
        let more = format!(
            "[[webhook_out]]\n{CHAT}[[webhook_in]]\nname = \"ci\"\nsecret_file = \"keys/chat.whsec\"\nidentity = \"{identity}\"\n"
        );
        let (_dir, home) = home_with(&more);
        let shown = format!("{:?}", home.settings().unwrap().hooks);
        assert!(shown.contains("chat") && shown.contains("ci") && shown.contains(identity), "{shown}");
        assert!(!shown.contains("MfKQ"), "{shown}");
    }

    #[test]
    fn b12_what_is_wrong_with_a_webhook_is_said_with_what_to_do() {
        let hook = |from: &str, to: &str| format!("[[webhook_out]]\n{}", CHAT.replace(from, to));
        for (more, said) in [
            (hook("http:", "ftp:"), "not an address"),
            (hook("run.*\"]\n", "run.*\"]\nnetworks = [\"10.0.0.1/8\"]\n"), "host bits"),
            (hook("127.0.0.1", "example.com"), "is not on this machine"),
            (hook("run.*", "*.run"), "no kind of entry"),
            (hook("\"run.*\"", ""), "at least one kind"),
            (hook("\"chat\"", "\"Chat\""), "lowercase"),
            (hook("events", "event"), "event"),
            (format!("[[webhook_out]]\n{CHAT}[[webhook_out]]\n{CHAT}"), "two outgoing webhooks are called `chat`"),
        ] {
            let error = refusal(&more);
            assert_eq!(error.code, Code::Usage, "{error:?}");
            assert!(error.message.contains(said), "`{said}`: {}", error.message);
        }
    }

    #[test]
    fn b12_a_secret_that_is_missing_wrong_or_open_is_refused_with_what_to_do() {
        let more = format!("[[webhook_out]]\n{CHAT}");
        let missing = refusal(&more.replace("chat.whsec", "gone.whsec"));
        assert_eq!(missing.code, Code::NotFound);
        assert!(missing.hint.unwrap().contains("openssl rand"));
        let (_dir, home) = home_with(&more);
        let path = home.dir().join("keys/chat.whsec");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(home.settings().unwrap_err().hint.unwrap().starts_with("chmod 600"));
        fs::write(&path, "whsec_tooshort").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let wrong = home.settings().unwrap_err();
        assert!(wrong.message.contains("24 to 64") && !wrong.message.contains("tooshort"), "{}", wrong.message);
    }
}
