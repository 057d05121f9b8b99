//! Reads secrets (API keys, credentials) from a variable, a file or a command, and keeps them out of logs.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokio::io::AsyncReadExt;
use zeroize::Zeroizing;

/// Longer than any key, so that a wrong file is noticed at once.
const MAX_BYTES: u64 = 16 << 10;
/// Enough for a password manager that asks a server, and too short for one that waits for a person.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Place of a key on this machine. Settings name the place and never hold the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A variable in the environment of this process.
    Env(String),
    /// A file that only its owner can read.
    File(PathBuf),
    /// A program and its arguments, which prints the key. Runs without a shell.
    Command(Vec<String>),
}

/// Written by hand, because a derived error would repeat a key that was written in the place of its source, and end up in a log.
impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeySourceVisitor)
    }
}

struct KeySourceVisitor;

const SOURCES: &str =
    "say where the key is found: { env = \"NAME\" }, { file = \"PATH\" } or { command = [\"PROGRAM\", …] }";

impl<'de> Visitor<'de> for KeySourceVisitor {
    type Value = KeySource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table that says where the key is found")
    }

    fn visit_str<E: de::Error>(self, _key: &str) -> Result<KeySource, E> {
        Err(E::custom(SOURCES))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeySource, A::Error> {
        let wrong = |_| de::Error::custom(SOURCES);
        let source = match map.next_key::<String>()?.as_deref() {
            Some("env") => map.next_value().map(KeySource::Env).map_err(wrong)?,
            Some("file") => map.next_value().map(KeySource::File).map_err(wrong)?,
            Some("command") => map.next_value().map(KeySource::Command).map_err(wrong)?,
            Some(_) | None => return Err(de::Error::custom(SOURCES)),
        };
        match map.next_key::<String>()? {
            Some(_) => Err(de::Error::custom(SOURCES)),
            None => Ok(source),
        }
    }
}

/// Reason why a key cannot be used. Names its source and never its content.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the variable `{0}` is not set; set it where this process is started")]
    NoVariable(String),
    #[error("the key file `{}` cannot be read", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("the key file `{}` can be read by others; run `chmod 600` on it", .0.display())]
    Readable(PathBuf),
    #[error("the key file `{}` belongs to somebody else; it must be yours or root's", .0.display())]
    Foreign(PathBuf),
    #[error("the key file `{}` is no regular file", .0.display())]
    NoFile(PathBuf),
    #[error("the key command `{program}` did not print a key: {why}")]
    Command { program: String, why: String },
    #[error("what {0} gave is no key: it is empty, too long, or has characters that no key has")]
    NoKey(String),
}

/// Key in memory; wiped when dropped, and never printed.
pub struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    fn new(text: &str, from: impl fmt::Display) -> Result<Self, SecretError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.len() as u64 <= MAX_BYTES && text.bytes().all(|b| b.is_ascii_graphic());
        fits.then(|| Self(Zeroizing::new(text.to_owned()))).ok_or_else(|| SecretError::NoKey(from.to_string()))
    }

    /// Returns the key, to put it into a request or to find it in an answer.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Escapes the key for a URL query.
    pub fn escaped(&self) -> Zeroizing<String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        Zeroizing::new(self.0.bytes().map(one).collect())
    }

    /// Lists the forms in which an answer could repeat the key: plain, as in a query, as in JSON text.
    pub fn spellings(&self) -> Vec<Zeroizing<String>> {
        let in_json = Zeroizing::new(self.0.replace('\\', "\\\\").replace('"', "\\\""));
        let mut all = vec![Zeroizing::new(self.0.to_string()), in_json, self.escaped()];
        all.dedup();
        all
    }

    /// Builds a header value from a prefix and the key, marked as sensitive so that no library prints it.
    pub fn header(&self, before: &str) -> HeaderValue {
        let text = Zeroizing::new(format!("{before}{}", self.0.as_str()));
        let mut value = HeaderValue::from_str(&text).expect("only visible characters, checked when it was read");
        value.set_sensitive(true);
        value
    }
}

impl KeySource {
    /// Reads the key.
    pub async fn read(&self) -> Result<Secret, SecretError> {
        match self {
            Self::Env(name) => {
                let text =
                    std::env::var(name).map(Zeroizing::new).map_err(|_| SecretError::NoVariable(name.clone()))?;
                Secret::new(&text, format_args!("the variable `{name}`"))
            }
            Self::File(path) => {
                let text = read_file(path)?;
                Secret::new(&text, format_args!("the file `{}`", path.display()))
            }
            Self::Command(argv) => {
                let text = run_command(argv).await?;
                Secret::new(&text, "the key command")
            }
        }
    }
}

fn read_file(path: &Path) -> Result<Zeroizing<String>, SecretError> {
    let fault = |source| SecretError::File { path: path.to_owned(), source };
    // A pipe without a writer must not block the start.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(fault)?;
    check_file(&file, path)?;
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(fault)?;
    Ok(text)
}

/// Checks the opened file and not its path, so that nobody can exchange the file in between.
fn check_file(file: &File, path: &Path) -> Result<(), SecretError> {
    let about = file.metadata().map_err(|source| SecretError::File { path: path.to_owned(), source })?;
    if !about.is_file() {
        return Err(SecretError::NoFile(path.to_owned()));
    }
    if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
        return Err(SecretError::Foreign(path.to_owned()));
    }
    if about.mode() & 0o077 != 0 { Err(SecretError::Readable(path.to_owned())) } else { Ok(()) }
}

async fn run_command(argv: &[String]) -> Result<Zeroizing<String>, SecretError> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| SecretError::NoKey("an empty key command".to_owned()))?;
    let failed = |why: String| SecretError::Command { program: program.clone(), why };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let output = child.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
    let mut text = Zeroizing::new(String::new());
    let printing = async {
        output.take(MAX_BYTES + 1).read_to_string(&mut text).await?;
        child.wait().await
    };
    let ended = tokio::time::timeout(COMMAND_TIMEOUT, printing).await;
    let status = ended.map_err(|_| failed(format!("it took longer than {} s", COMMAND_TIMEOUT.as_secs())))?;
    let status = status.map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(text) } else { Err(failed(status.to_string())) }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    async fn read(source: KeySource) -> Result<String, SecretError> {
        source.read().await.map(|secret| secret.header("Bearer ").to_str().unwrap().to_owned())
    }

    fn file(text: &str, mode: u32) -> (tempfile::TempDir, KeySource) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (dir, KeySource::File(path))
    }

    #[tokio::test]
    async fn a_key_comes_from_a_variable_a_file_or_a_command() {
        let (_dir, private) = file("sk-1\n", 0o600);
        assert_eq!(read(private).await.unwrap(), "Bearer sk-1");
        let argv = ["printf", "%s", "sk-2"].map(str::to_owned).to_vec();
        assert_eq!(read(KeySource::Command(argv)).await.unwrap(), "Bearer sk-2");
        // Cargo sets this one for every test.
        let name = read(KeySource::Env("CARGO_PKG_NAME".to_owned())).await.unwrap();
        assert_eq!(name, "Bearer placet-dial");
    }

    #[tokio::test]
    async fn a_key_file_that_others_can_read_is_refused() {
        for mode in [0o644, 0o640, 0o604, 0o610] {
            let (_dir, open) = file("sk-1", mode);
            let told = read(open).await.unwrap_err().to_string();
            assert!(told.contains("chmod 600") && !told.contains("sk-1"), "{told}");
        }
    }

    #[tokio::test]
    async fn what_is_no_key_is_not_shown_in_the_complaint() {
        for text in ["", "\n", "two words", "línea", "a\nb"] {
            let (_dir, odd) = file(text, 0o600);
            let told = read(odd).await.unwrap_err().to_string();
            assert!(told.contains("is no key") && (text.trim().is_empty() || !told.contains(text)), "{told}");
        }
        assert!(matches!(read(KeySource::Env("NO_SUCH_VARIABLE".to_owned())).await, Err(SecretError::NoVariable(_))));
    }

    #[tokio::test]
    async fn a_command_is_no_shell_and_its_failure_counts() {
        let argv = |words: &[&str]| KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(read(argv(&["echo", "$HOME;id"])).await.unwrap(), "Bearer $HOME;id");
        assert!(matches!(read(argv(&["false"])).await, Err(SecretError::Command { .. })));
        assert!(matches!(read(argv(&["/no/such/program"])).await, Err(SecretError::Command { .. })));
        assert!(read(argv(&[])).await.is_err());
    }

    #[test]
    fn r24_a_key_that_was_written_in_the_place_of_its_source_is_not_repeated() {
        #[derive(Debug, Deserialize)]
        struct Settings {
            key: KeySource,
        }
        let read = |text: &str| toml::from_str::<Settings>(text);
        assert_eq!(read("key = { env = 'A' }").unwrap().key, KeySource::Env("A".to_owned()));
        assert_eq!(read("key = { file = '/a' }").unwrap().key, KeySource::File("/a".into()));
        assert_eq!(read("key = { command = ['a'] }").unwrap().key, KeySource::Command(vec!["a".to_owned()]));
        for bad in [
            "key = 'sk-canary'",
            "key = { sk-canary = 'x' }",
            "key = { value = 'sk-canary' }",
            "key = { command = 'sk-canary' }",
            "key = { env = 'A', file = 'sk-canary' }",
            "key = {}",
        ] {
            let error = read(bad).unwrap_err();
            assert!(
                error.message().contains("say where the key is found") && !error.message().contains("canary"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn a_secret_is_never_printed() {
        let (_dir, private) = file("sk-canary", 0o600);
        let secret = private.read().await.unwrap();
        assert!(!format!("{secret:?} {:?}", secret.header("")).contains("canary"));
    }
}
