//! `[[notify]]` in the settings: how people are told that something waits for them. Addresses of chats and passwords stand in private files,
//! addresses of people in the settings; none of it is in the ledger, and no route of the API reads or changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use placet_control::{
    Channel, Chat, HookName, Lang, Login, Mail, MailAddress, Pace, QuietHours, Route, RouteParts, Routes, Schedule,
    Security, Server, SignedHook,
};
use placet_domain::notice::NoticeKind;
use placet_domain::policy::Tier;
use placet_domain::scope::Authority;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Config;
use super::outside::{Receiver, Wrong, dialer, mistake, private};
use crate::error::CliError;

/// Where servers of mail take letters of their users.
const SUBMISSION: u16 = 587;

/// One way by which people are told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotifySettings {
    name: String,
    what: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tiers: Vec<Tier>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    projects: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lang: Option<String>,
    /// Together, every so many minutes, instead of at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every_minutes: Option<u32>,
    /// Only what still waits after so many minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after_minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quiet: Option<QuietSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat: Option<ChatSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    webhook: Option<WebhookSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mail: Option<MailSettings>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuietSettings {
    from: String,
    until: String,
    zone: String,
}

/// A chat that takes Slack's incoming webhooks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChatSettings {
    url_file: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
}

/// A receiver of signed messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookSettings {
    url: String,
    secret_file: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MailSettings {
    server: String,
    #[serde(default)]
    tls: TlsWay,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    password_file: Option<PathBuf>,
    from: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    to: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    people: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    networks: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TlsWay {
    #[default]
    StartTls,
    Implicit,
    None,
}

/// All routes of a home, with their secrets.
pub(super) fn routes(dir: &Path, config: &Config) -> Result<Routes, CliError> {
    let all: Result<_, _> = config.notify.iter().map(|settings| route(dir, settings)).collect();
    Routes::new(all?).map_err(|error| mistake("notify", error))
}

fn route(dir: &Path, settings: &NotifySettings) -> Result<Route, CliError> {
    let place = format!("notify `{}`", settings.name.chars().take(64).collect::<String>());
    let wrong = |error: &dyn std::fmt::Display| mistake(&place, error);
    let name: HookName = settings
        .name
        .parse()
        .map_err(|_| wrong(&"a route is called by 1 to 64 lowercase letters, digits, `-` and `_`"))?;
    let what: Result<BTreeSet<NoticeKind>, String> = settings.what.iter().map(|what| what.parse()).collect();
    let code = settings.lang.as_deref().unwrap_or("en");
    let lang =
        Lang::parse(code).ok_or_else(|| wrong(&format!("`{code}` is no language of messages; write `en` or `fr`")))?;
    let channel = match (&settings.chat, &settings.webhook, &settings.mail) {
        (Some(chat), None, None) => Channel::Chat(room(dir, chat, &wrong)?),
        (None, Some(hook), None) => Channel::Hook(receiver(dir, hook, &wrong)?),
        (None, None, Some(mail)) => Channel::Mail(mailbox(dir, mail, &wrong)?),
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            return Err(wrong(&"say where it leads: one of `chat`, `webhook` and `mail`"));
        }
    };
    let parts = RouteParts {
        name,
        what: what.map_err(|error| wrong(&error))?,
        tiers: settings.tiers.iter().copied().collect(),
        projects: settings.projects.iter().cloned().collect(),
        schedule: schedule(settings, &wrong)?,
        lang,
        channel,
    };
    Route::new(parts).map_err(|error| wrong(&error))
}

fn schedule(settings: &NotifySettings, wrong: Wrong<'_>) -> Result<Schedule, CliError> {
    let pace = match (settings.every_minutes, settings.after_minutes) {
        (None, None) => Pace::SOON,
        (Some(every_minutes), None) => Pace::Digest { every_minutes },
        (None, Some(after_minutes)) => Pace::Escalation { after_minutes },
        (Some(_), Some(_)) => {
            return Err(wrong(&"`every_minutes` is for digests and `after_minutes` for escalations; make two routes"));
        }
    };
    let hours = |quiet: &QuietSettings| QuietHours::new(&quiet.from, &quiet.until, &quiet.zone);
    let quiet = settings.quiet.as_ref().map(hours).transpose().map_err(|error| wrong(&error))?;
    Ok(Schedule { pace, quiet })
}

fn room(dir: &Path, chat: &ChatSettings, wrong: Wrong<'_>) -> Result<Chat, CliError> {
    let url = private(dir, &chat.url_file, "the address of a chat")?;
    let url = url.trim().parse().map_err(|error| wrong(&format!("`{}`: {error}", chat.url_file.display())))?;
    Ok(Chat::new(url, dialer(dir, chat.ca_file.as_ref(), &chat.networks, wrong)?))
}

fn receiver(dir: &Path, hook: &WebhookSettings, wrong: Wrong<'_>) -> Result<SignedHook, CliError> {
    let WebhookSettings { url, secret_file, ca_file, networks } = hook;
    let (url, secret, dialer) = Receiver { url, secret_file, ca_file: ca_file.as_ref(), networks }.read(dir, wrong)?;
    Ok(SignedHook::new(url, secret, dialer))
}

fn mailbox(dir: &Path, mail: &MailSettings, wrong: Wrong<'_>) -> Result<Mail, CliError> {
    let to = Authority::with_default_port(&mail.server, SUBMISSION).map_err(|error| wrong(&error))?;
    let login = match (&mail.user, &mail.password_file) {
        (Some(user), Some(file)) => {
            let password = private(dir, file, "the password of mail")?;
            Some(Login::new(user.clone(), Zeroizing::new(password.trim_end_matches(['\r', '\n']).to_owned())))
        }
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            return Err(wrong(&"`user` and `password_file` belong together; write both or neither"));
        }
    };
    let security = match mail.tls {
        TlsWay::StartTls => Security::StartTls,
        TlsWay::Implicit => Security::Implicit,
        TlsWay::None => Security::None,
    };
    let dialer = dialer(dir, mail.ca_file.as_ref(), &mail.networks, wrong)?;
    let server = Server::new(to, security, login, dialer).map_err(|error| wrong(&error))?;
    let address = |text: &String| text.parse::<MailAddress>().map_err(|error| wrong(&error));
    let lists: Result<Vec<_>, _> = mail.to.iter().map(address).collect();
    let people: Result<BTreeMap<_, _>, CliError> =
        mail.people.iter().map(|(name, text)| Ok((name.clone(), address(text)?))).collect();
    Ok(Mail::new(server, address(&mail.from)?, lists?, people?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::super::Home;
    use crate::error::Code;

    const TEAM: &str = "[[notify]]\nname = \"team\"\nwhat = [\"action\", \"plan\"]\ntiers = [\"C\"]\nlang = \"fr\"\n\
        quiet = { from = \"22:00\", until = \"07:00\", zone = \"Europe/Paris\" }\n\
        chat = { url_file = \"keys/team.url\" }\n";
    const MAIL: &str = "[[notify]]\nname = \"mail\"\nwhat = [\"action\"]\nafter_minutes = 30\n\
        mail = { server = \"mail.example.org\", from = \"placet@example.org\", user = \"placet\", password_file = \"keys/mail.password\", \
        people = { ada = \"ada@example.org\" } }\n";

    const HOOK: &str = "[[notify]]\nname = \"desk\"\nwhat = [\"action\"]\n\
        webhook = { url = \"https://desk.example/inbox\", secret_file = \"keys/desk.whsec\" }\n";

    /// In pieces: whoever looks for secrets in this file finds none.
    fn hook_secret() -> String {
        ["whsec_", "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw", "\n"].concat()
    }

    fn home_with(more: &str) -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::create(&dir.path().join(".placet"), "127.0.0.1:7070".parse().unwrap()).unwrap();
        let settings = home.dir().join("placet.toml");
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + more).unwrap();
        let (url, password) = ("https://hooks.example/services/canary\n".to_owned(), "canary\n".to_owned());
        for (name, text) in [("team.url", url), ("mail.password", password), ("desk.whsec", hook_secret())] {
            let file = home.dir().join("keys").join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        (dir, home)
    }

    #[test]
    fn b4_routes_are_read_from_the_settings_and_their_secrets_are_not_shown() {
        let (_dir, home) = home_with(&format!("{TEAM}{MAIL}{HOOK}"));
        let routes = home.settings().unwrap().notify;
        let names: Vec<_> = routes.all().iter().map(|route| route.name().to_string()).collect();
        assert_eq!(names, ["team", "mail", "desk"]);
        let shown = format!("{routes:?}");
        assert!(shown.contains("ada@example.org") && !shown.contains("canary") && !shown.contains("MfKQ"), "{shown}");
        assert_eq!(routes.all()[2].parts().channel.shown(), "webhook https://desk.example/…");
        assert_eq!(routes.all()[0].parts().channel.shown(), "chat https://hooks.example/…");
    }

    #[test]
    fn b4_what_is_wrong_with_a_route_is_said_with_what_to_do() {
        let team = |from: &str, to: &str| TEAM.replace(from, to);
        let mail = |from: &str, to: &str| MAIL.replace(from, to);
        let hook = |from: &str, to: &str| HOOK.replace(from, to);
        for (more, said) in [
            (team("\"action\"", "\"actions\""), "the kinds are: action, assigned, interrupted"),
            (team("\"action\", \"plan\"", ""), "`what`"),
            (team("\"fr\"", "\"de\""), "`en` or `fr`"),
            (team("\"team\"", "\"Team\""), "lowercase"),
            (team("tiers", "tier"), "tier"),
            (team("[\"C\"]", "[\"A\"]"), "`B`, `C`"),
            (team("22:00", "22"), "`22:00`"),
            (team("Europe/Paris", "Europe/Atlantis"), "time zone"),
            (team("chat = { url_file = \"keys/team.url\" }", ""), "one of `chat`"),
            (
                team(
                    "chat = {",
                    "webhook = { url = \"https://a.example/\", secret_file = \"keys/desk.whsec\" }\nchat = {",
                ),
                "one of `chat`",
            ),
            (hook("https:", "http:"), "is not on this machine"),
            (hook("secret_file", "secret"), "secret"),
            (hook("desk.whsec", "mail.password"), "24 to 64"),
            (team("lang = \"fr\"", "every_minutes = 5\nafter_minutes = 5"), "two routes"),
            (team("lang = \"fr\"", "every_minutes = 0"), "1 to 1440"),
            (team("url_file", "url"), "url"),
            (mail("people = { ada = \"ada@example.org\" }", ""), "`people`"),
            (mail("ada@example.org", "ada at home"), "address of mail"),
            (mail("user = \"placet\", ", ""), "belong together"),
            (mail("from = \"", "tls = \"none\", from = \""), "is not on this machine"),
            (mail("mail.example.org", "mail example"), "mail example"),
            (mail("from = \"", "networks = [\"10.0.0.1/8\"], from = \""), "host bits"),
            (format!("{TEAM}{TEAM}"), "two routes are called `team`"),
        ] {
            let error = home_with(&more).1.settings().unwrap_err();
            assert_eq!(error.code, Code::Usage, "{said}: {error:?}");
            assert!(error.message.contains(said), "`{said}`: {}", error.message);
            assert!(!error.message.contains("canary"), "{}", error.message);
        }
    }

    #[test]
    fn b4_a_private_file_that_is_missing_open_or_wrong_is_refused_and_not_repeated() {
        let missing = home_with(&TEAM.replace("team.url", "gone.url")).1.settings().unwrap_err();
        assert_eq!(missing.code, Code::NotFound);
        let (_dir, home) = home_with(TEAM);
        let file = home.dir().join("keys/team.url");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(home.settings().unwrap_err().hint.unwrap().starts_with("chmod 600"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file, "http://hooks.example/services/canary").unwrap();
        let open = home.settings().unwrap_err();
        assert!(open.message.contains("`https`") && !open.message.contains("canary"), "{}", open.message);
    }
}
