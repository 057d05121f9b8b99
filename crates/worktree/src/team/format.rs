//! Rules for texts that a schema cannot express. Schemas name them as `format`; each says what to write instead.

use placet_domain::scope::Glob;
use placet_domain::text::{is_invisible, spelled_out};
use placet_domain::worktree::{BranchName, Person};

use super::name::BranchGlob;
use crate::host::secret_places;

/// Ends of names that variables with secrets have.
const SECRET_ENDINGS: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIALS"];

/// Checks a text that is not empty.
pub(crate) fn check(format: &str, text: &str) -> Result<(), String> {
    match format {
        "placet-glob" => text.parse::<Glob>().map(drop).map_err(|bad| bad.to_string()),
        "placet-branch" => text.parse::<BranchName>().map(drop).map_err(|bad| bad.to_string()),
        "placet-branch-glob" => text.parse::<BranchGlob>().map(drop).map_err(|bad| bad.to_string()),
        "placet-line" => line(text),
        "placet-text" => prose(text),
        "placet-argument" => argument(text),
        "placet-host-directory" => host_directory(text),
        "placet-cage-path" => cage_path(text),
        "placet-variable" => variable(text),
        "placet-person" => person(text),
        unknown => Err(format!("the published schema names the format `{unknown}`, which is not known")),
    }
}

fn line(text: &str) -> Result<(), String> {
    if text.contains('\n') {
        return Err("it must stay on one line".into());
    }
    prose(text)
}

fn prose(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("it holds nothing but spaces; write what is meant".into());
    }
    let hidden =
        text.chars().find(|character| (character.is_control() && *character != '\n') || is_invisible(*character));
    match hidden {
        None => Ok(()),
        Some(character) => {
            Err(format!("it holds {}, which nobody sees; remove it", spelled_out(&character.to_string())))
        }
    }
}

fn argument(text: &str) -> Result<(), String> {
    if text.contains('\0') { Err("it holds a NUL character, which no program can be given".into()) } else { Ok(()) }
}

fn plain_path(text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err("it holds a NUL character".into());
    }
    let path = text.strip_prefix('/').unwrap_or(text);
    if path.trim_end_matches('/').split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(format!("`{}` has an empty part, `.` or `..`; write the path itself", spelled_out(text)));
    }
    Ok(())
}

fn host_directory(text: &str) -> Result<(), String> {
    if !text.starts_with('/') && !text.starts_with("~/") {
        return Err("it must be absolute or begin with `~/`: a path of the repository would be the agent's own".into());
    }
    plain_path(text)?;
    // Checks only the spelling, for an error with a line number. The resolved path is checked when it is used.
    match secret_places::spelled(text.trim_end_matches('/')) {
        Some(secret) => Err(format!("`{}` would show `{secret}` to agents; name the cache itself", spelled_out(text))),
        None => Ok(()),
    }
}

fn cage_path(text: &str) -> Result<(), String> {
    if text.starts_with('~') {
        return Err("a cage has no home of yours; write an absolute path, or one from the root of the worktree".into());
    }
    plain_path(text)
}

fn variable(name: &str) -> Result<(), String> {
    let upper = name.to_ascii_uppercase();
    let is_secret = upper == "SSH_AUTH_SOCK" || SECRET_ENDINGS.iter().any(|ending| upper.ends_with(ending));
    if is_secret {
        return Err(format!(
            "`{name}` is the name of a secret, and an agent could read and pass on what it holds; leave it out"
        ));
    }
    Ok(())
}

fn person(text: &str) -> Result<(), String> {
    line(text)?;
    Person::try_from(text.to_owned()).map(drop)
}
