//! The person's directories and settings: `settings.toml` in their configuration directory. A repository cannot contain it, and a file that
//! other users can write is not read.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::secret_places::below_home;

const SETTINGS: &str = "settings.toml";

/// Directories allowed as caches by default, each with the reason why it holds no secrets.
const CACHE_ROOTS: &[(&str, &str)] = &[
    ("~/.cargo/registry", "crates that cargo downloaded; its credentials lie beside it"),
    ("~/.rustup/toolchains", "compilers"),
    ("~/.cache/pip", "packages that pip downloaded"),
    ("~/.cache/uv", "packages that uv downloaded"),
    ("~/.npm/_cacache", "packages that npm downloaded; its logs and credentials lie beside it"),
    ("~/.cache/yarn", "packages that yarn downloaded"),
    ("~/.yarn/berry/cache", "packages that yarn downloaded"),
    ("~/.local/share/pnpm/store", "packages that pnpm downloaded"),
    ("~/.bun/install/cache", "packages that bun downloaded"),
    ("~/.cache/deno", "modules that deno downloaded"),
    ("~/.cache/go-build", "results of the Go compiler"),
    ("~/go/pkg/mod", "modules that go downloaded"),
    ("~/.m2/repository", "packages that Maven downloaded; its settings lie beside it"),
    ("~/.gradle/caches", "packages that Gradle downloaded; its properties lie beside it"),
    ("~/.nuget/packages", "packages that NuGet downloaded"),
    ("~/.cache/composer", "packages that Composer downloaded"),
    ("~/.cache/ccache", "results of C compilers"),
    ("~/.cache/sccache", "results of compilers"),
];

/// Variables passed by default, each with the reason why it holds no secret.
const PASS_VARIABLES: &[(&str, &str)] = &[
    ("LANG", "the language of messages"),
    ("LANGUAGE", "the language of messages"),
    ("LC_ALL", "the language of messages and formats"),
    ("LC_COLLATE", "the order of texts"),
    ("LC_CTYPE", "the encoding of texts"),
    ("LC_MESSAGES", "the language of messages"),
    ("LC_NUMERIC", "the format of numbers"),
    ("LC_TIME", "the format of dates"),
    ("TZ", "the time zone"),
    ("TERM", "the kind of terminal"),
    ("COLORTERM", "how many colours a terminal shows"),
    ("NO_COLOR", "whether output has colours"),
    ("FORCE_COLOR", "whether output has colours"),
    ("CLICOLOR", "whether output has colours"),
    ("CLICOLOR_FORCE", "whether output has colours"),
    ("CI", "whether a machine runs it"),
    ("SOURCE_DATE_EPOCH", "a date for reproducible builds"),
];

/// Reason why the person's directories or settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    #[error("your home directory is not known; set HOME to an absolute path")]
    NoHome,
    #[error("`{at}` cannot be read")]
    Read { at: PathBuf, source: io::Error },
    #[error("`{at}`: {why}")]
    Settings { at: PathBuf, why: String },
    #[error("`{at}` belongs to somebody else or others may write to it; make it yours with `chmod go-w`")]
    NotOwn { at: PathBuf },
    #[error(
        "`{at}` lies in the repository, which could ship it; set XDG_CONFIG_HOME and XDG_STATE_HOME to directories outside"
    )]
    Shipped { at: PathBuf },
}

/// Directories of a person: home, settings and trust.
#[derive(Debug, Clone)]
pub struct Person {
    home: PathBuf,
    config: PathBuf,
    state: PathBuf,
}

/// Content of `settings.toml`, with the defaults.
#[derive(Debug, Clone)]
pub struct Settings {
    cache_roots: Vec<PathBuf>,
    pass_variables: Vec<String>,
}

/// Refuses unknown keys: a typo must not silently select the default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    cache_roots: Vec<String>,
    pass_variables: Vec<String>,
}

impl Person {
    /// Reads the directories from the environment of this process, according to the XDG base directory specification.
    pub fn of_process() -> Result<Self, PersonError> {
        let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or(PersonError::NoHome)?;
        // The specification requires relative paths to be ignored.
        let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("placet");
        let state = named("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("placet");
        Ok(Self { home, config, state })
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Path of the person's settings; the file need not exist.
    pub fn settings_file(&self) -> PathBuf {
        self.config.join(SETTINGS)
    }

    /// Directory of the settings.
    pub(crate) fn config_dir(&self) -> &Path {
        &self.config
    }

    /// Directory of the trust records.
    pub(crate) fn state_dir(&self) -> &Path {
        &self.state
    }

    /// Reads the settings; returns the defaults if the file is missing.
    pub fn settings(&self, repository: &Path) -> Result<Settings, PersonError> {
        let at = self.settings_file();
        let file = match fs::metadata(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => File::default(),
            Err(source) => return Err(PersonError::Read { at, source }),
            Ok(meta) => {
                check_own(&at, &meta)?;
                outside(&at, repository)?;
                let text = fs::read_to_string(&at).map_err(|source| PersonError::Read { at: at.clone(), source })?;
                toml::from_str(&text)
                    .map_err(|error| PersonError::Settings { at: at.clone(), why: error.to_string() })?
            }
        };
        self.with_defaults(file, &at)
    }

    fn with_defaults(&self, file: File, at: &Path) -> Result<Settings, PersonError> {
        let relative = |root: &&String| !root.starts_with('/') && !root.starts_with("~/");
        if let Some(root) = file.cache_roots.iter().find(relative) {
            let why = format!("`{root}` in `cache_roots` must be absolute or begin with `~/`");
            return Err(PersonError::Settings { at: at.to_owned(), why });
        }
        let usual = CACHE_ROOTS.iter().map(|(root, _)| *root);
        let roots = usual.chain(file.cache_roots.iter().map(String::as_str));
        let cache_roots = roots.map(|root| below_home(root, &self.home)).collect();
        let usual = PASS_VARIABLES.iter().map(|(name, _)| (*name).to_owned());
        Ok(Settings { cache_roots, pass_variables: usual.chain(file.pass_variables).collect() })
    }
}

impl Settings {
    pub(crate) fn cache_roots(&self) -> &[PathBuf] {
        &self.cache_roots
    }

    /// True if a variable of the host may be passed to agents.
    pub fn passes(&self, variable: &str) -> bool {
        self.pass_variables.iter().any(|name| name == variable)
    }
}

/// Checks that the file or directory belongs to this user and other users cannot write to it.
pub(crate) fn check_own(at: &Path, meta: &Metadata) -> Result<(), PersonError> {
    let is_own = meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0;
    if is_own { Ok(()) } else { Err(PersonError::NotOwn { at: at.to_owned() }) }
}

/// Checks that the path does not lead into the repository.
pub(crate) fn outside(at: &Path, repository: &Path) -> Result<(), PersonError> {
    let real = fs::canonicalize(at).map_err(|source| PersonError::Read { at: at.to_owned(), source })?;
    if real.starts_with(repository) { Err(PersonError::Shipped { at: at.to_owned() }) } else { Ok(()) }
}
