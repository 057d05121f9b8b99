//! What the name of a value promises: a password, a secret, a key, or nothing at all.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::randomness::words;

/// How much a name promises. The less, the more random the value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Chosen by a person, perhaps badly.
    Password,
    /// Made by a machine, to be kept secret.
    Secret,
    /// Perhaps a cryptographic key, perhaps the key of a dictionary.
    Key,
}

/// Parts of words that make the scanner look. Short ones must be words of their own, which [`promise`] checks.
pub(crate) const TELLING: &[&str] = &["pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "salt", "bearer"];

/// At the end of a name these say that it is about the secret, and is not the secret: `password_file`, `tokenType`.
const ABOUT: &str = "
    able action actions address alg algo algorithm algorithms alias allowed arn array at attempts attr attribute
    audience author authors base block body bool boundary buffer builder button bytes callback change changed char
    chars charset check class code codes col column columns command comment config constraint context cookie count
    ctx dialog date description desc dict dir directory disabled doc docs down element enabled encoding encoder
    endpoint end entry env error errors event exception exists expiration expired expires expiry expression factory
    fail failed failure field fields file filename files fingerprint flag flags folder form format frame func
    function generator group handler hash hashed hashes header headers help hint host icon id identifier idx ids
    image index indices info input invalid issuer item items iter json kind label labels len length level limit line
    link list loc location lock manager map mask match max message messages method methods min mode model module msg
    name names node num number object offset operator option options order page pair pairs param parameter params
    parser part path paths pattern placeholder policy port pos position prefix press prompt property props protocol
    provider ratio reason ref refs regex regexp region required reset response result results role row rule rules
    schema scheme scope scopes service set sets setting settings sha size source space spec stage start state status
    store stream strategy strength style suffix svc symbol table tag template test text time timeout timestamp title
    ttl type types up uri url usage valid validation validator values vec version view width word words
";

/// Words that turn a telling one into something else, wherever they stand.
const INNOCENT: &str = "
    public pub next page paging pagination continuation continue idempotency cursor lock change sync previous
    primary foreign checksum md5 integrity csrf xsrf keyboard keyword keywords keyframes passport tokenizer tokenize
    lexer parser sort partition lookup cache i18n locale translation compass bypass passed passing passes passive
    passage passenger author authors authority authoritative secretary regex hotkey shortcut keymap keycode keys
    object unique thumbprint fingerprint site sitekey publishable dummy mock fake invalid wrong expected placeholder
    example sample
";

const PASSWORDS: &str = "
    password passwords passwd passphrase pass pwd pw userpass dbpass dbpassword userpassword rootpassword
    adminpassword passcode psw pswd passw dbpasswd mypassword newpassword oldpassword
";
const SECRETS: &str = "
    secret secrets token tokens apikey apikeys authtoken authkey accesstoken accesskey secretkey secretaccesskey
    clientsecret credential credentials creds cred auth authorization bearer apitoken apisecret appsecret appkey
    privatekey privkey signingkey encryptionkey masterkey oauthtoken refreshtoken usertoken bottoken sharedsecret
    consumersecret licensekey storagekey accountkey sessiontoken webhooksecret idtoken deploytoken oauth serverkey
    jwttoken jwtsecret secretbase sastoken
";
const KEYS: &str = "
    key salt accountkey hashkey aeskey hmackey cryptokey
";

/// Words that make a secret of a key: `api key`, `PRIVATE_KEY`.
const KEY_MAKERS: &str = "
    api secret access private priv auth encryption encrypt signing sign master shared license account storage
    service app application consumer client session cookie crypto cipher aes hmac jwt deploy admin user subscription
    server rest webhook write read ingest maps search
";

/// What a word says of the name it is part of: bits of the lists above.
#[derive(Clone, Copy, Default)]
struct Says(u8);

impl Says {
    const ABOUT: u8 = 1;
    const INNOCENT: u8 = 2;
    const PASSWORD: u8 = 4;
    const SECRET: u8 = 8;
    const KEY: u8 = 16;
    const KEY_MAKER: u8 = 32;

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// All lists in one table, so that a word is looked up once.
fn table() -> &'static HashMap<&'static [u8], Says> {
    static TABLE: OnceLock<HashMap<&'static [u8], Says>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let lists = [
            (ABOUT, Says::ABOUT),
            (INNOCENT, Says::INNOCENT),
            (PASSWORDS, Says::PASSWORD),
            (SECRETS, Says::SECRET),
            (KEYS, Says::KEY),
            (KEY_MAKERS, Says::KEY_MAKER),
        ];
        let mut table: HashMap<&[u8], Says> = HashMap::new();
        for (word, bit) in lists.iter().flat_map(|(list, bit)| list.split_whitespace().map(move |word| (word, bit))) {
            table.entry(word.as_bytes()).or_default().0 |= bit;
        }
        table
    })
}

/// What the name promises, or nothing. `name` is the identifier around the telling word, perhaps with a word before it.
pub(crate) fn promise(name: &[u8]) -> Option<Promise> {
    let words: Vec<Vec<u8>> = words(last_part(name)).collect();
    let says = |word: &Vec<u8>| table().get(word.as_slice()).copied().unwrap_or_default();
    let all = Says(words.iter().map(says).fold(0, |all, says| all | says.0));
    let last = words.last()?;
    if all.has(Says::INNOCENT) || says(last).has(Says::ABOUT) && !ends_in_key_material(&words) {
        return None;
    }
    if all.has(Says::PASSWORD) {
        return Some(Promise::Password);
    }
    if all.has(Says::SECRET) || all.has(Says::KEY) && all.has(Says::KEY_MAKER) {
        return Some(Promise::Secret);
    }
    (all.has(Says::KEY) || ends_like_a_secret(last)).then_some(Promise::Key)
}

/// `user.config.dbPassword` is about `dbPassword`; but `password.db` is about both.
fn last_part(name: &[u8]) -> &[u8] {
    let cut = memchr::memrchr(b'.', name).map_or(name, |dot| &name[dot + 1..]);
    let telling = TELLING.iter().any(|word| crate::boundary::contains_ignoring_case(cut, word.as_bytes()));
    if telling { cut } else { name }
}

/// Names such as `SECRET_KEY_BASE` and `tokenValue` end in a word that is harmless elsewhere.
fn ends_in_key_material(words: &[Vec<u8>]) -> bool {
    let ends =
        |pair: [&[u8]; 2]| words.windows(2).next_back().is_some_and(|last| last[0] == pair[0] && last[1] == pair[1]);
    ends([b"key", b"base"]) || ends([b"auth", b"header"]) || ends([b"auth", b"code"]) || ends([b"password", b"string"])
}

/// Words written together: `mysqlpassword`, `githubtoken`, `stripekey`.
fn ends_like_a_secret(word: &[u8]) -> bool {
    ["password", "passwd", "secret", "token", "apikey", "passphrase"]
        .iter()
        .any(|ending| word.len() > ending.len() && word.ends_with(ending.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_promise_what_they_say() {
        let cases = [
            ("password", Some(Promise::Password)),
            ("DB_PASSWORD_PROD", Some(Promise::Password)),
            ("user.config.dbPass", Some(Promise::Password)),
            ("--password", Some(Promise::Password)),
            ("client_secret", Some(Promise::Secret)),
            ("API_KEY", Some(Promise::Secret)),
            ("stripeApiKey", Some(Promise::Secret)),
            ("SECRET_KEY_BASE", Some(Promise::Secret)),
            ("encryptionKey", Some(Promise::Secret)),
            ("X-Auth-Token", Some(Promise::Secret)),
            ("key", Some(Promise::Key)),
            ("githubtoken", Some(Promise::Key)),
            ("public_key", None),
            ("primaryKey", None),
            ("password_file", None),
            ("tokenType", None),
            ("passed", None),
            ("author", None),
            ("keyboard", None),
            ("monkey", None),
            ("compass", None),
        ];
        for (name, expected) in cases {
            assert_eq!(promise(name.as_bytes()), expected, "{name}");
        }
    }
}
