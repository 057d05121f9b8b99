//! Names of files that hold secrets, whatever is in them.

/// Endings of files that only show what a secret file looks like.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Names, in lower case, with the reason why such a file does not belong into a repository.
const NAMES: &[(&str, &str)] = &[
    ("id_rsa", "private SSH key"),
    ("id_dsa", "private SSH key"),
    ("id_ecdsa", "private SSH key"),
    ("id_ecdsa_sk", "private SSH key"),
    ("id_ed25519", "private SSH key"),
    ("id_ed25519_sk", "private SSH key"),
    ("ssh_host_rsa_key", "private SSH key of a host"),
    ("ssh_host_ecdsa_key", "private SSH key of a host"),
    ("ssh_host_ed25519_key", "private SSH key of a host"),
    (".netrc", "passwords of hosts"),
    ("_netrc", "passwords of hosts"),
    (".authinfo", "passwords of hosts"),
    (".pgpass", "passwords of databases"),
    ("pgpass.conf", "passwords of databases"),
    (".my.cnf", "password of a database"),
    (".mylogin.cnf", "password of a database"),
    (".npmrc", "tokens of package registries"),
    (".yarnrc.yml", "tokens of package registries"),
    (".pypirc", "tokens of package registries"),
    (".dockercfg", "passwords of container registries"),
    (".git-credentials", "passwords of git hosts"),
    (".htpasswd", "passwords of a web server"),
    (".s3cfg", "keys of a cloud"),
    (".boto", "keys of a cloud"),
    ("kubeconfig", "access to a cluster"),
    ("kubeconfig.yaml", "access to a cluster"),
    ("kubeconfig.yml", "access to a cluster"),
    ("credentials.json", "keys of a cloud"),
    ("client_secret.json", "secret of an application"),
    ("service-account.json", "keys of a cloud"),
    ("service_account.json", "keys of a cloud"),
    ("terraform.tfstate", "secrets in the state of an infrastructure"),
    ("terraform.tfvars", "secrets of an infrastructure"),
    (".vault-token", "token of a vault"),
    (".terraformrc", "tokens of an infrastructure"),
    ("master.key", "key of an application's secrets"),
    ("shadow", "password hashes of a machine"),
    (".pgpass.gpg", "passwords of databases"),
    ("wallet.dat", "keys of a wallet"),
    ("secring.gpg", "private PGP keys"),
];

/// Endings, in lower case, with the reason.
const ENDINGS: &[(&str, &str)] = &[
    (".kdbx", "password database"),
    (".kdb", "password database"),
    (".agilekeychain", "password database"),
    (".opvault", "password database"),
    (".keychain", "password database"),
    (".p12", "key with certificate"),
    (".pfx", "key with certificate"),
    (".jks", "key store"),
    (".keystore", "key store"),
    (".ppk", "private SSH key of PuTTY"),
    (".ovpn", "access to a network"),
    (".tfstate.backup", "secrets in the state of an infrastructure"),
];

/// Last two parts of a path, in lower case, with the reason.
const TAILS: &[(&str, &str)] = &[
    (".aws/credentials", "keys of a cloud"),
    (".docker/config.json", "passwords of container registries"),
    (".kube/config", "access to a cluster"),
    (".cargo/credentials.toml", "token of a package registry"),
    (".cargo/credentials", "token of a package registry"),
    (".gem/credentials", "token of a package registry"),
    ("gcloud/application_default_credentials.json", "keys of a cloud"),
    ("gh/hosts.yml", "token of a git host"),
];

/// Parts of the names of PEM files that say: the private half.
const PRIVATE: &[&str] = &["key", "priv", "secret", "id_"];
const PUBLIC: &[&str] = &["pub", "cert", "chain", "ca.", "cacert"];

/// Whether a path names an environment file: `.env` and everything that begins so, but not samples of it.
#[must_use]
pub fn is_env_file(path: &[u8]) -> bool {
    let name = file_name(path);
    name.starts_with(".env") && !is_sample(&name)
}

/// Why a path names a file of secrets, if it does. Environment files have a question of their own.
#[must_use]
pub fn is_secret_file(path: &[u8]) -> Option<&'static str> {
    let name = file_name(path);
    if is_sample(&name) {
        return None;
    }
    let lower = String::from_utf8_lossy(path).to_lowercase();
    let reason = |(_, reason): &(&str, &'static str)| *reason;
    let named = NAMES.iter().find(|(known, _)| *known == name).map(reason);
    let tail = || TAILS.iter().find(|(tail, _)| lower == *tail || lower.ends_with(&format!("/{tail}"))).map(reason);
    let ending = || ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(reason);
    named.or_else(tail).or_else(ending).or_else(|| is_private_pem(&name).then_some("private key"))
}

fn is_private_pem(name: &str) -> bool {
    let stem = [".pem", ".key", ".der", ".pkcs8"].iter().find_map(|ending| name.strip_suffix(ending));
    let says = |words: &[&str]| stem.is_some_and(|stem| words.iter().any(|word| stem.contains(word)));
    says(PRIVATE) && !says(PUBLIC)
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

    #[test]
    fn files_of_secrets_are_known_with_a_reason() {
        for path in [
            "id_rsa",
            "keys/ID_ED25519",
            "home/.netrc",
            ".kube/config",
            "x/.aws/credentials",
            "db.kdbx",
            "tls/server-key.pem",
            "private.key",
            "a/.npmrc",
        ] {
            assert!(is_secret_file(path.as_bytes()).is_some(), "{path}");
        }
        for path in [
            "id_rsa.pub",
            "server-cert.pem",
            "public.key",
            "credentials.json.example",
            "config",
            "keyboard.rs",
            "credentials",
            "src/shadow.rs",
        ] {
            assert_eq!(is_secret_file(path.as_bytes()), None, "{path}");
        }
    }
}
