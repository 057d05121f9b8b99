//! Whether a value keeps what its name promises.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::assign::Written;
use super::name::Promise;
use crate::class::Class;
use crate::placeholder::is_placeholder;
use crate::randomness::{bits_per_byte, wordy_share};

/// Longer ones are documents, not secrets; key material in blocks is found by its own frame.
const LONGEST_SECRET: usize = 1024;
/// Shorter ones are found by nobody's rule, and would be found everywhere.
pub(crate) const SHORTEST_SECRET: usize = 5;
/// What random values are written in.
const TOKEN: Class = Class::of("A-Za-z0-9+/=_.~:!@#$%^&*?|,;-");

/// Schemes that stand before the secret in a header.
const SCHEMES: &[&[u8]] =
    &[b"Bearer ", b"bearer ", b"Token ", b"token ", b"ApiKey ", b"Basic ", b"basic ", b"OAuth ", b"key="];

/// What public values begin with: certificates, public keys, hashes, pictures, addresses, files.
const PUBLIC: &[&[u8]] = &[
    b"ssh-rsa ",
    b"ssh-ed25519 ",
    b"ecdsa-",
    b"-----BEGIN",
    b"sha1-",
    b"sha256-",
    b"sha384-",
    b"sha512-",
    b"sha256:",
    b"md5:",
    b"data:",
    b"iVBORw0",
    b"/9j/",
    b"R0lGOD",
    b"http:",
    b"https:",
    b"/",
    b"./",
    b"../",
    b"~/",
    b"file:",
    b"urn:",
    b"arn:",
    b"C:\\",
    b"\\\\",
    b"MIIC",
    b"MIID",
    b"MIIF",
    b"MIIG",
    b"AAAAB3",
    b"AAAAC3",
    b"projects/",
    b"{SSHA",
    b"{SHA",
    b"$2a$",
    b"$2b$",
    b"$2y$",
    b"$6$",
    b"$argon2",
    b"$5$",
    b"pbkdf2",
    b"vault:",
    b"secret/",
    b"ref:",
    b"ref+",
    b"kms:",
    b"mailto:",
    b"crypt",
    b"bcrypt",
];

/// Where in a value the secret is: behind the scheme of a header, without white space around it.
pub(crate) fn core(value: &[u8]) -> Range<usize> {
    let blank = value.len() - value.trim_ascii_start().len();
    let end = value.trim_ascii_end().len().max(blank);
    let scheme = SCHEMES.iter().find(|scheme| value[blank..end].starts_with(scheme)).map_or(0, |scheme| scheme.len());
    let more = value[blank + scheme..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    blank + scheme + more..end
}

/// Whether this value, given to a name that promises so much, is a secret. What is cheap to tell is asked first.
pub(crate) fn keeps(promise: Promise, value: &[u8], written: Written) -> bool {
    let least = match promise {
        Promise::Password => SHORTEST_SECRET,
        Promise::Secret => 8,
        Promise::Key => 16,
    };
    if value.len() < least || value.len() > LONGEST_SECRET || is_code(value, written) || is_number(value, written) {
        return false;
    }
    if is_public(value) || is_placeholder(value) {
        return false;
    }
    match promise {
        Promise::Password => is_password(value, written),
        Promise::Secret => is_random(value, least) || is_credentials(value),
        Promise::Key => is_random(value, least) && is_key(value),
    }
}

fn is_public(value: &[u8]) -> bool {
    PUBLIC.iter().any(|beginning| value.starts_with(beginning))
}

/// Numbers of programs, dates, versions and times.
fn is_number(value: &[u8], written: Written) -> bool {
    const WITH_SIGNS: Class = Class::of("0-9TZ:.,+/_-");
    const HEX: Class = Class::of("0-9a-fA-Fx_");
    let digits = value.iter().all(u8::is_ascii_digit);
    let suffix =
        ["u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64", "usize", "_u32", "L", "UL", "ULL", "LL", "U", "n"];
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let body = suffix.iter().find_map(|suffix| value.strip_suffix(suffix.as_bytes())).unwrap_or(value);
    let literal = written != Written::Quoted
        && (body.starts_with(b"0x") || body.iter().all(u8::is_ascii_digit) && body.len() < value.len());
    let coded = written == Written::Bare && digits;
    let signs = !digits && value.iter().all(|byte| WITH_SIGNS.has(*byte));
    coded || signs || literal && body.iter().all(|byte| HEX.has(*byte))
}

/// Expressions, formats and prose: what no machine and hardly a person takes for a password.
fn is_code(value: &[u8], written: Written) -> bool {
    let spaced = value.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control());
    let called = value.contains(&b'(') || value.ends_with(b"()") || value.ends_with(b":") || value.contains(&b'\\');
    let expression = written != Written::Quoted
        && (is_identifier(value) && (value.contains(&b'.') || value.contains(&b':') || !is_random(value, 8))
            || value.starts_with(b"$")
            || value.starts_with(b"@"));
    spaced || called || expression || is_file_name(value) || is_dotted_words(value)
}

/// What a variable may be called: `password2`, `self.token`, `Config::KEY`. Not `hunter2x!`.
fn is_identifier(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let plain = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:*&?->".contains(byte));
    let path = value.windows(2).any(|pair| pair == b"::") || value.contains(&b'.');
    plain && !value[0].is_ascii_digit() && (digits < 2 || wordy_share(value) > 0.5 || path && digits < 5)
}

fn is_file_name(value: &[u8]) -> bool {
    let ending = value.rsplit(|byte| *byte == b'.').next().unwrap_or(value);
    let known = [
        "pem",
        "key",
        "crt",
        "cer",
        "json",
        "yaml",
        "yml",
        "txt",
        "toml",
        "xml",
        "html",
        "js",
        "ts",
        "py",
        "rs",
        "go",
        "rb",
        "php",
        "java",
        "p12",
        "pfx",
        "jks",
        "md",
        "conf",
        "cfg",
        "ini",
        "properties",
        "com",
        "org",
        "net",
        "io",
        "png",
        "svg",
    ];
    ending.len() < value.len() && known.iter().any(|known| known.as_bytes() == ending)
}

/// `com.example.auth.token`, `/api/v1/tokens`, `auth/token/create`, `x-api-key`.
fn is_dotted_words(value: &[u8]) -> bool {
    let separators = value.iter().filter(|byte| b"./:_-".contains(byte)).count();
    let others = value.iter().any(|byte| !byte.is_ascii_alphabetic() && !b"./:_-".contains(byte));
    separators > 0 && !others && wordy_share(value) > 0.45
}

/// A password may be weak. It is let go when it is a word, or hardly anything.
fn is_password(value: &[u8], written: Written) -> bool {
    let kinds = kinds(value);
    let digits_only = value.iter().all(u8::is_ascii_digit);
    let least = if written == Written::Quoted { 5 } else { 6 };
    if value.len() < least || digits_only && value.len() < 6 {
        return false;
    }
    let word = kinds < 2 && !digits_only && wordy_share(value) > 0.6;
    let letters_only = value.iter().all(u8::is_ascii_alphabetic);
    !word && !(letters_only && (wordy_share(value) > 0.5 || value.len() < 8))
}

/// How many of lower case, upper case, digits and signs occur. A capital at the beginning is no kind of its own.
fn kinds(value: &[u8]) -> usize {
    let body = &value[1..];
    let has = |test: fn(&u8) -> bool| usize::from(body.iter().any(test));
    has(u8::is_ascii_lowercase) + has(u8::is_ascii_uppercase) + has(u8::is_ascii_digit) + has(u8::is_ascii_punctuation)
}

/// Made by a machine: enough of it, varied, and not made of words.
pub(crate) fn is_random(value: &[u8], least: usize) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let mixed = digits > 0 && letters > 0 || letters >= 16 && kinds(value) >= 2;
    value.len() >= least
        && value.iter().all(|byte| TOKEN.has(*byte))
        && mixed
        && letters + digits >= value.len() * 3 / 4
        && bits_per_byte(value) >= least_bits(value)
        && wordy_share(value) < 0.5
}

/// Short values cannot have much entropy; hexadecimal ones have at most four bits.
fn least_bits(value: &[u8]) -> f64 {
    match value.len() {
        0..12 => 2.4,
        12..20 => 2.8,
        20..32 => 3.0,
        _ if value.iter().all(u8::is_ascii_hexdigit) => 3.0,
        _ => 3.3,
    }
}

/// A name that says only `key` may be that of a dictionary: paths, digests and identifiers are no keys.
fn is_key(value: &[u8]) -> bool {
    let hex = value.iter().all(u8::is_ascii_hexdigit) && value.len() < 32;
    let path = value.iter().any(|byte| b"./:".contains(byte)) && wordy_share(value) > 0.2 || value.contains(&b'.');
    !hex && !path && !is_digest(value) && !is_uuid(value) && wordy_share(value) < 0.35
}

/// 40 or 64 hexadecimal digits are more often the name of content than a key.
fn is_digest(value: &[u8]) -> bool {
    [32, 40, 64, 128].contains(&value.len()) && value.iter().all(u8::is_ascii_hexdigit)
}

pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value
            .iter()
            .enumerate()
            .all(|(at, byte)| if [8, 13, 18, 23].contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Base64 of `user:password`, as in headers and in the settings of registries.
pub(crate) fn is_credentials(value: &[u8]) -> bool {
    let trimmed = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    let Ok(plain) = STANDARD_NO_PAD.decode(trimmed) else { return false };
    let printable = plain.iter().all(u8::is_ascii_graphic);
    let password = plain.splitn(2, |byte| *byte == b':').nth(1);
    printable && plain[0] != b':' && password.is_some_and(|password| password.len() >= 4 && !is_placeholder(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_may_be_weak_but_not_words() {
        for value in ["Winter2024!", "tr0ub4dor", "p4ssw0rd", "Adm!nistr8", "8841729", "zxkqwjvbnp"] {
            assert!(keeps(Promise::Password, value.as_bytes(), Written::Quoted), "{value}");
        }
        for value in [
            "Passwort",
            "required",
            "Enter it",
            "password",
            "user.password",
            "/etc/pass",
            "ok",
            "{password}",
            "passwordField",
        ] {
            assert!(!keeps(Promise::Password, value.as_bytes(), Written::Quoted), "{value}");
        }
    }

    #[test]
    fn secrets_are_random_and_keys_more_so() {
        for value in ["k3Jd9sQz7Lw2xVb8", "9f86d081884c7d659a2feaa0", "a8f5f167-f44f-4964-a6c1-0d2f1e8b9c33"] {
            assert!(keeps(Promise::Secret, value.as_bytes(), Written::Quoted), "{value}");
        }
        for value in
            ["access_token", "my-service-token-v2", "com.acme.auth.token", "oauth2", "2024-01-01", "authorization_code"]
        {
            assert!(!keeps(Promise::Secret, value.as_bytes(), Written::Quoted), "{value}");
        }
        assert!(!keeps(Promise::Key, b"a8f5f167-f44f-4964-a6c1-0d2f1e8b9c33", Written::Quoted));
        assert!(!keeps(Promise::Key, b"da39a3ee5e6b4b0d3255bfef95601890afd80709", Written::Quoted));
    }

    #[test]
    fn variables_are_no_values() {
        for value in ["password2", "self.token", "$PASSWORD", "Config::KEY", "args.password"] {
            assert!(!keeps(Promise::Password, value.as_bytes(), Written::Bare), "{value}");
        }
    }

    #[test]
    fn encoded_credentials_are_recognised() {
        assert!(is_credentials(base64::engine::general_purpose::STANDARD.encode("svc:Winter2024!").as_bytes()));
        assert!(!is_credentials(b"bm90aGluZyBoZXJl"));
    }
}
