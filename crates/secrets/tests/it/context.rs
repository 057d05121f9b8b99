//! Secrets that are known by what they are given to.

use crate::invent::{BASE62, Dice, found, sample};

#[test]
fn a9_a_password_is_found_in_every_syntax_that_gives_it() {
    let value = Dice::new(5).text("abcdefgh", 6) + "-7Q!x";
    let lines = [
        "password = \"{}\"",
        "password = '{}'",
        "PASSWORD={}",
        "export DB_PASSWORD={}",
        "password: {}",
        "  password: \"{}\"",
        "\"password\": \"{}\",",
        "'password' => '{}',",
        ":password => '{}'",
        "<password>{}</password>",
        "<add name=\"Password\" value=\"{}\"/>",
        "const PASSWORD: &str = \"{}\";",
        "let password: string = '{}'",
        "var password = \"{}\"",
        "password := \"{}\"",
        "String password = \"{}\";",
        "user.setPassword(\"{}\");",
        "mysql --password={} db",
        "tool --password {}",
        "Server=h;User Id=u;Password={};",
        "#define PASSWORD \"{}\"",
        "machine host login me password {}",
        "CREATE USER me WITH PASSWORD '{}';",
        "CREATE USER me IDENTIFIED BY '{}' PASSWORD '{}'",
        "if password == \"{}\":",
        "$password = '{}';",
        "my $passwd = '{}';",
        "os.environ['DB_PASSWORD'] = '{}'",
        "define('DB_PASSWORD', '{}');",
        "{password, \"{}\"}",
        "- name: DB_PASSWORD, value: \"{}\"",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"{}\"}",
        "ENV MYSQL_PASSWORD {}",
        "the password is {}",
        "pwd='{}'",
        "spring.datasource.password={}",
        "{\\\"password\\\": \\\"{}\\\"}",
    ];
    for line in lines {
        let text = line.replace("{}", &value);
        assert!(found(&text).contains(&"assigned-password".to_owned()), "{text}: {:?}", found(&text));
    }
}

#[test]
fn a9_a_random_value_is_found_where_something_secret_is_named() {
    let value = Dice::new(9).text(BASE62, 32);
    for line in [
        "api_key = \"{}\"",
        "X-Api-Token: {}",
        "?access_token={}&x=1",
        "clientSecret: '{}'",
        "API key: {}",
        "\"auth\": \"{}\"",
        "AUTH_TOKEN={}",
        "encryptionKey = \"{}\"",
    ] {
        assert_eq!(found(&line.replace("{}", &value)).len(), 1, "{line}");
    }
}

#[test]
fn the_vendor_is_named_where_name_and_shape_agree() {
    let key = Dice::new(11).text(crate::invent::HEX, 32);
    assert_eq!(found(&format!("DATADOG_API_KEY={key}")), ["datadog-key"]);
    assert_eq!(found(&format!("SOME_API_KEY={key}")), ["assigned-secret"]);
    let uuid = "3f2b8c1e-94d7-4b6a-a1f0-5c7e9d2b4a68";
    assert_eq!(found(&format!("heroku_api_key: {uuid}")), ["heroku-key"]);
}

#[test]
fn what_is_filled_in_elsewhere_or_evidently_no_secret_is_let_go() {
    let lines = [
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        "password = getpass()",
        "password: <your-password>",
        "PASSWORD=changeme",
        "api_key = process.env.API_KEY",
        "token: {{ vault_token }}",
        "secret = \"xxxxxxxxxxxxxxxx\"",
        "let token = next_token();",
        "password: string;",
        "password = user.password",
        "def login(user, password):",
        "tokenType: 'Bearer'",
        "passwordField.value = 'password'",
        "max_tokens = 4096",
        "key: value",
        "public_key = \"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\"",
        "primary_key = 'id'",
        "\"integrity\": \"sha512-9a7Ff3k2QpXv\"",
        "password: Passwort",
        "token = null",
        "commit_token: 'da39a3ee'",
        "auth: true",
        "password_hash = '5f4dcc3b5aa765d61d8327deb882cf99'",
        "keyboard = 'a8f5f167f44f4964e6c998dee827110c'",
        "secret_name: projects/p/secrets/db",
        "// the password is required",
        "fn token(&self) -> &str {",
        "password = \"%s\"",
        "- secretKeyRef: {name: db}",
        "SELECT password FROM users",
        "token.len() == 32",
        "password ||= prompt('Password: ')",
        "authors = [\"a1b2c3d4e5f6\"]",
        "nextPageToken: 'CAUQAA7f3k2Qp'",
    ];
    for line in lines {
        assert_eq!(found(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn a9_passwords_and_tokens_in_addresses_are_found() {
    let password = Dice::new(2).text(BASE62, 12);
    for address in [
        "postgres://app:{}@db:5432/x",
        "https://me:{}@git.host/r.git",
        "redis://:{}@cache",
        "mongodb+srv://u:{}@c.host/?w=1",
        "amqp://svc:{}@mq",
    ] {
        assert_eq!(found(&address.replace("{}", &password)), ["address-password"], "{address}");
    }
    let token = Dice::new(3).text(BASE62, 24);
    assert_eq!(found(&format!("https://{token}@git.host/r.git")), ["address-token"]);
    for address in [
        "postgres://user:password@localhost/db",
        "https://user:${PASS}@host",
        "http://host:8080/a@b",
        "ssh://git@host/r",
        "https://u:***@host",
        "a://b:{c}@d",
    ] {
        assert_eq!(found(address), Vec::<String>::new(), "{address}");
    }
}

#[test]
fn commands_and_lines_of_pgpass_are_read() {
    let password = Dice::new(4).text(BASE62, 14);
    assert_eq!(found(&format!("curl -s -u admin:{password} https://host")), ["command-password"]);
    assert_eq!(found(&format!("curl --user 'admin:{password}' https://host")), ["command-password"]);
    assert_eq!(found(&format!("db.host:5432:shop:app:{password}")), ["pgpass-password"]);
    assert_eq!(found(&format!("*:*:*:app:{password}")), ["pgpass-password"]);
    assert_eq!(found("curl -u $USER:$PASS https://host"), Vec::<String>::new());
    assert_eq!(found("as in `curl -u user:password`, or so"), Vec::<String>::new());
    assert_eq!(found("- \"127.0.0.1:5432:5432\""), Vec::<String>::new());
}

#[test]
fn headers_are_read_with_their_scheme() {
    let token = Dice::new(6).text(BASE62, 40);
    assert_eq!(found(&format!("Authorization: Bearer {token}")), ["bearer-token"]);
    assert_eq!(found(&sample("basic-auth-header", 1)), ["basic-auth-header"]);
    assert_eq!(found("Authorization: Bearer <token>"), Vec::<String>::new());
    assert_eq!(found("Authorization: Basic realm"), Vec::<String>::new());
}

#[test]
fn a_secret_and_a_vendors_token_in_one_place_are_one_finding() {
    let token = sample("github-token", 8);
    assert_eq!(found(&format!("github_token = \"{token}\"")), ["github-token"]);
    assert_eq!(found(&format!("https://x-access-token:{token}@host/r.git")), ["github-token"]);
}

#[test]
fn a_token_of_a_service_that_no_rule_knows_is_known_by_its_prefix_and_its_randomness() {
    let mut dice = Dice::new(12);
    for prefix in ["acme_", "acme_live_", "zork-v1-"] {
        assert_eq!(found(&format!("see {prefix}{} there", dice.text(BASE62, 40))), ["prefixed-token"]);
    }
    for text in [
        format!("sha256={}_{}", dice.text(BASE62, 6).to_lowercase(), dice.text(BASE62, 36)),
        format!("chunk-{}", dice.text(BASE62, 40)),
        format!("acme_{}", dice.text(crate::invent::HEX, 40)),
        "acme_getUserAccountNamesFromTheRemoteServiceV2".to_owned(),
        format!("{}_{}", dice.text("ABCDEFGHIJ", 8), dice.text(BASE62, 40)),
    ] {
        assert_eq!(found(&text), Vec::<String>::new(), "{text}");
    }
}
