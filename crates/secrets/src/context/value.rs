//! Whether a value keeps what its name promises. What a value is instead, if it is no secret, is told in [`plain`].

mod plain;

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use self::plain::{is_code, is_digest, is_number, is_public};
use super::assign::Written;
use super::name::Promise;
use crate::class::Class;
use crate::placeholder::is_placeholder;
use crate::randomness::{bits_per_byte, wordy_share};

pub(crate) use self::plain::is_uuid;

/// Longer ones are documents, not secrets; key material in blocks is found by its own frame.
const LONGEST_SECRET: usize = 1024;
/// Shorter ones are found by nobody's rule, and would be found everywhere.
pub(crate) const SHORTEST_SECRET: usize = 5;
/// What random values are written in.
const TOKEN: Class = Class::of("A-Za-z0-9+/=_.~:!@#$%^&*?|,;-");

/// Schemes that stand before the secret in a header.
const SCHEMES: &[&[u8]] =
    &[b"Bearer ", b"bearer ", b"Token ", b"token ", b"ApiKey ", b"Basic ", b"basic ", b"OAuth ", b"key="];

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
