//! Names that entries and templates use. Each is plain by construction: none can leave its place in a path or a sentence.

crate::names! {
    /// What an entry of the catalogue is called by.
    EntryId = "agent of the catalogue", is_plain, "a lowercase letter, then at most 63 lowercase letters, digits, `-` or `_`";
    /// What a template is called by.
    TemplateId = "template", is_plain, "a lowercase letter, then at most 63 lowercase letters, digits, `-` or `_`";
    /// The name of a profile of cages.
    ProfileName = "profile", is_plain, "a lowercase letter, then at most 63 lowercase letters, digits, `-` or `_`";
    /// A program: an absolute path, because what is looked up can change.
    ProgramPath = "program", is_program, "an absolute path without `.`, `..` or `//`, of at most 1024 bytes";
    /// A file or folder of an agent, below the folder that its entry lies in.
    AgentPath = "file of an agent", is_below, "a path below the folder of the entry, without `.`, `..` or `//`, of at most 1024 bytes";
    /// The name of a variable of the environment. Values are never part of an entry: it is no place for a secret.
    VariableName = "variable that is passed on", is_variable, "a letter or `_`, then at most 63 letters, digits or `_`; never a value, never one that carries a credential or loads code";
}

fn is_plain(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    first && text.len() <= 64 && text.bytes().all(plain)
}

fn is_program(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(is_below)
}

fn is_below(text: &str) -> bool {
    let part = |part: &str| !matches!(part, "" | "." | "..");
    text.len() < 1024 && text.split('/').all(part) && !text.chars().any(char::is_control)
}

fn is_variable(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let plain = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first && plain && !is_delicate(text)
}

/// Whether a variable usually carries a credential, or makes a loader run what somebody else wrote. No cage gets either.
fn is_delicate(name: &str) -> bool {
    const ENDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE"];
    let upper = name.to_ascii_uppercase();
    let telling = |part: &str| ENDS.iter().any(|end| part.trim_end_matches('S').ends_with(end));
    upper.starts_with("LD_") || upper.split('_').any(telling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        for trick in ["", "..", "a/b", "-x", "A", "a b", "a\nb", "é", "1a", &"a".repeat(65)] {
            assert!(trick.parse::<EntryId>().is_err(), "{trick:?}");
        }
        for trick in ["sh", "/", "/a/../b", "/a//b", "/a/", "./x", "/a\0", "/a\nb", ""] {
            assert!(trick.parse::<ProgramPath>().is_err(), "{trick:?}");
        }
        for trick in ["", "1A", "A=b", "A B", "A-B"] {
            assert!(trick.parse::<VariableName>().is_err(), "{trick:?}");
        }
    }

    #[test]
    fn c1_no_variable_that_carries_a_credential_is_passed_on() {
        for secret in [
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "aws_secret_access_key",
            "DB_PASSWORD",
            "SSH_AUTH_SOCK",
            "API_KEYS",
            "LD_PRELOAD",
        ] {
            assert!(secret.parse::<VariableName>().is_err(), "{secret}");
        }
        for harmless in ["LANG", "TZ", "KEYBOARD", "TOKENIZERS_PARALLELISM", "NO_COLOR"] {
            assert!(harmless.parse::<VariableName>().is_ok(), "{harmless}");
        }
    }

    #[test]
    fn usual_names_are_taken() {
        assert!("browser_agent".parse::<EntryId>().is_ok());
        assert!("/usr/bin/python3.12".parse::<ProgramPath>().is_ok());
        assert!("LC_ALL".parse::<VariableName>().is_ok());
    }
}
