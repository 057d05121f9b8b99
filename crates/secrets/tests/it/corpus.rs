//! A labelled corpus, made anew in every run: lines with a secret and lines that only look like it. It says how the
//! scanner does on what its authors could think of; on other people's code it does worse.

use placet_secrets::Scanner;

use crate::invent::{BASE62, Dice, HEX, found, private_key};

const LINES: usize = 4_000;

/// Ways to give a value to a name. `N` is the name, `V` the value.
const SYNTAXES: &[&str] = &[
    "N = \"V\"",
    "N = 'V';",
    "\"N\": \"V\",",
    "N: \"V\"",
    "'N' => 'V',",
    "N := \"V\"",
    "const N: &str = \"V\";",
    "export N=V",
    "N=V",
    "  N: V",
    "<N>V</N>",
    "<property name=\"N\" value=\"V\"/>",
    "config['N'] = 'V'",
    "--N=V --verbose",
    "put(\"N\", \"V\");",
    "String N = \"V\";",
    "let N: string = `V`",
    "{\\\"N\\\": \\\"V\\\"}",
    "set_N(\"V\")",
    "N == \"V\"",
    "$N = 'V';",
    "N ?= V",
    "# N: V",
    "?N=V&page=2",
    "self.N = \"V\"",
    "{N, \"V\"},",
];

const PASSWORDS: &[&str] =
    &["password", "DB_PASSWORD", "dbPassword", "admin_pass", "MYSQL_ROOT_PASSWORD", "passwd", "smtp_pwd", "passphrase"];
const SECRETS: &[&str] = &[
    "api_key",
    "API_TOKEN",
    "clientSecret",
    "auth_token",
    "SECRET_KEY",
    "access_token",
    "stripeApiKey",
    "encryptionKey",
    "x-auth-token",
];

fn line(dice: &mut Dice, names: &[&str], value: &str) -> String {
    let name = dice.one_of(names);
    dice.one_of(SYNTAXES).replace('N', name).replace('V', value)
}

/// Passwords as people choose them.
fn password(dice: &mut Dice) -> String {
    let word = dice.one_of(&["Summer", "dragon", "Berlin", "monkey", "Falcon", "orange", "Tiger", "blue"]);
    let (digits, sign) = (dice.below(9000) + 1000, dice.one_of(&["!", "#", "?", "", "_x", "@home"]));
    match dice.below(4) {
        0 => format!("{word}{digits}{sign}"),
        1 => format!("{}{sign}", dice.text(BASE62, 10)),
        2 => word.replace('o', "0").replace('e', "3") + &digits.to_string(),
        _ => format!("{digits}{word}{sign}"),
    }
}

fn uuid(dice: &mut Dice) -> String {
    [8, 4, 4, 4, 12].map(|len| dice.text(HEX, len)).join("-")
}

/// Secrets as machines make them.
fn secret(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 => dice.text(HEX, 32),
        1 => dice.text(BASE62, 40),
        2 => dice.text(BASE62, 20),
        3 => dice.text("abcdefghijklmnopqrstuvwxyz0123456789", 24),
        _ => uuid(dice),
    }
}

fn with_secret(dice: &mut Dice) -> String {
    let rules = Scanner::shipped().rules();
    match dice.below(10) {
        0..3 => {
            let value = password(dice);
            line(dice, PASSWORDS, &value)
        }
        3..6 => {
            let value = secret(dice);
            line(dice, SECRETS, &value)
        }
        6..8 => {
            let samples = rules[dice.below(rules.len())].samples(dice.below(10_000) as u64);
            samples.first().map_or_else(|| private_key("PRIVATE KEY", 300, 7), Clone::clone)
        }
        8 => {
            format!("{}://svc:{}@host/db", dice.one_of(&["postgres", "https", "amqp", "redis"]), dice.text(BASE62, 12))
        }
        _ => private_key(
            dice.one_of(&["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]),
            200 + dice.below(1500),
            dice.below(10_000) as u64,
        ),
    }
}

/// Values that stand where a secret would stand.
const STAND_INS: &[&str] = &[
    "changeme",
    "<your-key>",
    "${VAR}",
    "{{ value }}",
    "xxxxxxxxxxxx",
    "process.env.VALUE",
    "os.environ['VALUE']",
    "%(value)s",
    "your_api_key_here",
    "********",
    "password",
    "null",
    "required",
    "TODO",
    "example-token",
    "test",
    "$VALUE",
    "[redacted]",
    "...",
    "my-secret-name",
    "access_token",
    "/run/secrets/db",
    "arn:aws:secretsmanager:x",
    "vault:secret/data#key",
    "https://host/token",
    "string",
    "Passwort",
    "%s",
    "12345678",
    "dummy-value",
];

fn without_secret(dice: &mut Dice) -> String {
    let names = [PASSWORDS, SECRETS].concat();
    let digest = dice.text(HEX, 40);
    match dice.below(12) {
        0..5 => {
            let value = dice.one_of(STAND_INS);
            line(dice, &names, value)
        }
        5 => format!(
            "{} = {}",
            dice.one_of(&names),
            dice.one_of(&[
                "get_secret(name)",
                "user.password",
                "config.token",
                "input()",
                "None",
                "new Token()",
                "&self.key",
                "args[0]"
            ])
        ),
        6 => format!(
            "\"{}\": \"{digest}\"",
            dice.one_of(&["sha1", "commit", "checksum", "etag", "gitHead", "public_key", "key_id", "token_hash"])
        ),
        7 => format!("      \"integrity\": \"sha512-{}==\",", dice.text(BASE62, 86)),
        8 => format!(
            "fn {}(&self, {}: &str) -> Result<(), Error> {{",
            dice.one_of(&["token", "set_password", "auth_key"]),
            dice.one_of(&names)
        ),
        9 => format!(
            "// the {} of {} is read from the environment",
            dice.one_of(&names),
            dice.one_of(&["service", "user", "client"])
        ),
        10 => format!("https://host/{}/{digest}?page={}", dice.one_of(&["tokens", "keys", "auth"]), dice.below(100)),
        _ => format!("id: {}", uuid(dice)),
    }
}

#[test]
fn a9_the_scanner_finds_nearly_all_invented_secrets_and_hardly_anything_else() {
    let mut dice = Dice::new(2026);
    let missed: Vec<String> =
        (0..LINES).map(|_| with_secret(&mut dice)).filter(|text| found(text).is_empty()).collect();
    let wrong: Vec<String> =
        (0..LINES).map(|_| without_secret(&mut dice)).filter(|text| !found(text).is_empty()).collect();
    let hit = (LINES - missed.len()) as f64;
    let (recall, precision) = (hit / LINES as f64, hit / (hit + wrong.len() as f64));
    assert!(recall >= 0.985, "recall {recall}: {:#?}", &missed[..missed.len().min(40)]);
    assert!(precision >= 0.99, "precision {precision}: {:#?}", &wrong[..wrong.len().min(40)]);
}
