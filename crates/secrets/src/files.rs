//! Recognizes environment files by their names.

/// Endings of files that only show what a secret file looks like.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Whether a path names an environment file: `.env` and everything that begins so, but not samples of it.
#[must_use]
pub fn is_env_file(path: &[u8]) -> bool {
    let name = file_name(path);
    name.starts_with(".env") && !is_sample(&name)
}

fn file_name(path: &[u8]) -> String {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    String::from_utf8_lossy(name).to_lowercase()
}

fn is_sample(name: &str) -> bool {
    SAMPLES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_files_are_known_in_any_case_but_not_their_samples() {
        for path in [".env", "a/.ENV", ".env.local", "x/y/.envrc", ".Env.Production", ".env\u{e9}"] {
            assert!(is_env_file(path.as_bytes()), "{path}");
        }
        assert!(is_env_file(b".env\xff\xfe"));
        for path in ["env", "x.env", ".env.example", ".ENV.Sample", ".environment.template", ".env/readme", "a.envrc"] {
            assert!(!is_env_file(path.as_bytes()), "{path}");
        }
    }
}
