//! Who somebody is: web tokens, headers, identity providers.

use crate::rule::{Check, Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "jwt",
        "signed web token (JWT)",
        &[
            "eyJ[A-Za-z0-9_-]{14,}.eyJ[A-Za-z0-9_-]{10,}.[A-Za-z0-9_-]{10,}",
            "eyJ[A-Za-z0-9_-]{14,}.[A-Za-z0-9_-]{30,}.[A-Za-z0-9_-]{8,}.[A-Za-z0-9_-]{30,}.[A-Za-z0-9_-]{16,}",
        ],
    )
    .bits(3.5)
    .check(Check::Jwt)
    .unlike(&["eyJhbGciOiJub25lIn0", "eyJub3QiOiJhIGhlYWRlciJ9.eyJhIjoiYiJ9.c2lnbmF0dXJl"]),
    token(
        "basic-auth-header",
        "user and password in a header",
        &["Basic <[A-Za-z0-9+/=]{8,}>", "basic <[A-Za-z0-9+/=]{8,}>"],
    )
    .check(Check::Credentials)
    .unlike(&["Basic authentication", "Basic dXNlcjpwYXNzd29yZA=="]),
    token(
        "bearer-token",
        "bearer token in a header",
        &["Bearer <[A-Za-z0-9._~+/=-]{20,}>", "bearer <[A-Za-z0-9._~+/=-]{20,}>"],
    )
    .bits(3.3)
    .check(Check::Random)
    .unlike(&["Bearer authentication-required-here"]),
    token("okta-token", "Okta token", &["SSWS <00[A-Za-z0-9_-]{40}>"]).bits(3.5),
    named("okta-key", "Okta token", &["okta"], &["00[A-Za-z0-9_-]{40}", "[A-Za-z0-9_-]{40}"]).bits(3.5),
    named(
        "auth0-secret",
        "Auth0 or OneLogin secret",
        &["auth0", "onelogin", "keycloak", "cognito"],
        &["[A-Za-z0-9_-]{64}", "[A-Za-z0-9_-]{32}", "[a-z0-9]{52}"],
    )
    .bits(3.5),
    token(
        "api-key-header",
        "key in an `X-Api-Key` header",
        &["X-Api-Key: <[A-Za-z0-9_.-]{20,}>", "X-API-Key: <[A-Za-z0-9_.-]{20,}>", "x-api-key: <[A-Za-z0-9_.-]{20,}>"],
    )
    .bits(3.3)
    .check(Check::Random),
    token(
        "authress-key",
        "Authress key",
        &["sc_[A-Za-z0-9]{5,30}.[A-Za-z0-9]{4,6}.acc[_-][A-Za-z0-9-]{10,32}.[A-Za-z0-9+/_=-]{30,120}"],
    )
    .bits(3.5),
    token(
        "session-cookie",
        "session cookie of a web server",
        &["PHPSESSID=<[a-z0-9]{26,40}>", "JSESSIONID=<[A-F0-9]{32}>", "sessionid=<[a-z0-9]{32}>"],
    )
    .bits(3.0),
    token(
        "oauth-query-secret",
        "secret in a query",
        &[
            "client_secret=<[A-Za-z0-9_~.-]{16,100}>",
            "refresh_token=<[A-Za-z0-9_~./%-]{20,400}>",
            "access_token=<[A-Za-z0-9_~.%-]{20,400}>",
        ],
    )
    .bits(3.0)
    .check(Check::Random),
];
