//! Values that are no secrets, whatever they were given to: public keys, numbers, code, names of files and of content.

use super::is_random;
use crate::class::Class;
use crate::context::assign::Written;
use crate::randomness::wordy_share;

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

pub(super) fn is_public(value: &[u8]) -> bool {
    PUBLIC.iter().any(|beginning| value.starts_with(beginning))
}

/// Numbers of programs, dates, versions and times.
pub(super) fn is_number(value: &[u8], written: Written) -> bool {
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
pub(super) fn is_code(value: &[u8], written: Written) -> bool {
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

/// 40 or 64 hexadecimal digits are more often the name of content than a key.
pub(super) fn is_digest(value: &[u8]) -> bool {
    [32, 40, 64, 128].contains(&value.len()) && value.iter().all(u8::is_ascii_hexdigit)
}

pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value
            .iter()
            .enumerate()
            .all(|(at, byte)| if [8, 13, 18, 23].contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}
