//! A rule: what one kind of secret looks like. The shipped ones are tables in [`crate::rules`].

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::placeholder::is_sample_token;
use crate::randomness::bits_per_byte;
use crate::shape::{Shape, ShapeError};

/// What a token must be besides its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Its entropy is enough.
    Entropy,
    /// The first part decodes to a header that names an algorithm.
    Jwt,
    /// Base64 of `user:password`.
    Credentials,
    /// It looks random, whatever its entropy.
    Random,
}

/// A rule as the tables write it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shipped {
    pub(crate) id: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shapes: &'static [&'static str],
    pub(crate) names: &'static [&'static str],
    pub(crate) least_bits: f64,
    pub(crate) check: Check,
    pub(crate) unlike: &'static [&'static str],
}

/// A token that is known by its own shape.
pub(crate) const fn token(id: &'static str, about: &'static str, shapes: &'static [&'static str]) -> Shipped {
    Shipped { id, about, shapes, names: &[], least_bits: 2.5, check: Check::Entropy, unlike: &[] }
}

/// A value that is known by its shape and the name it is given to, which contains one of `names` (in lower case).
pub(crate) const fn named(
    id: &'static str,
    about: &'static str,
    names: &'static [&'static str],
    shapes: &'static [&'static str],
) -> Shipped {
    Shipped { id, about, shapes, names, least_bits: 2.8, check: Check::Entropy, unlike: &[] }
}

impl Shipped {
    /// The least entropy of the token, in bits per byte.
    pub(crate) const fn bits(mut self, least_bits: f64) -> Self {
        self.least_bits = least_bits;
        self
    }

    pub(crate) const fn check(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    /// What looks alike and must not be found.
    pub(crate) const fn unlike(mut self, unlike: &'static [&'static str]) -> Self {
        self.unlike = unlike;
        self
    }

    pub(crate) fn load(&self) -> Result<Rule, ShapeError> {
        let shapes = self.shapes.iter().map(|text| Shape::parse(text)).collect::<Result<_, _>>()?;
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (id, about) = (self.id.to_owned(), self.about.to_owned());
        let (names, unlike) = (owned(self.names), owned(self.unlike));
        Ok(Rule { id, about, shapes, names, least_bits: self.least_bits, check: self.check, unlike })
    }
}

/// What one kind of secret looks like.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) id: String,
    pub(crate) about: String,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) names: Vec<String>,
    pub(crate) least_bits: f64,
    pub(crate) check: Check,
    pub(crate) unlike: Vec<String>,
}

impl Rule {
    /// The name under which findings of this rule are reported and allowed.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What kind of secret it finds, for people.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Texts that look alike and are no secrets.
    #[must_use]
    pub fn lookalikes(&self) -> &[String] {
        &self.unlike
    }

    /// Invented text in which this rule finds something, one for each shape; none for rules without a shape. The same
    /// seed gives the same text. For tests: no secret has to be written down for them.
    #[must_use]
    pub fn samples(&self, seed: u64) -> Vec<String> {
        let sample = |shape: &Shape| String::from_utf8_lossy(&self.invent(shape, seed)).into_owned();
        self.shapes.iter().map(sample).map(|token| self.in_context(&token)).collect()
    }

    /// Chance makes a token now and then that is too plain for its own rule.
    fn invent(&self, shape: &Shape, seed: u64) -> Vec<u8> {
        let tries = (0..64).map(|attempt| self.invent_once(shape, seed.wrapping_add(attempt * 7919)));
        let good = |(token, secret): &(Vec<u8>, Range<usize>)| self.accepts(&token[secret.clone()]);
        tries.clone().find(good).map_or_else(|| shape.sample(seed).0, |(token, _)| token)
    }

    /// Tokens that decode to something get something to decode to.
    fn invent_once(&self, shape: &Shape, seed: u64) -> (Vec<u8>, Range<usize>) {
        let (mut token, secret) = shape.sample(seed);
        let made = match self.check {
            Check::Entropy | Check::Random => return (token, secret),
            Check::Jwt => {
                let first = token.iter().position(|byte| *byte == b'.').unwrap_or(token.len());
                let header = URL_SAFE_NO_PAD.encode(b"{\"alg\":\"HS256\"}");
                [header.as_bytes(), &token[first..secret.end]].concat()
            }
            Check::Credentials => {
                let password: Vec<u8> =
                    token[secret.clone()].iter().copied().filter(u8::is_ascii_alphanumeric).collect();
                STANDARD.encode([&b"svc:"[..], &password].concat()).into_bytes()
            }
        };
        let end = secret.start + made.len();
        token.splice(secret.clone(), made);
        (token, secret.start..end)
    }

    fn in_context(&self, token: &str) -> String {
        match self.names.first() {
            Some(name) => format!("{name}_key = \"{token}\""),
            None => token.to_owned(),
        }
    }

    /// Whether a token of the right shape is more than a sample of its kind.
    pub(crate) fn accepts(&self, token: &[u8]) -> bool {
        bits_per_byte(token) >= self.least_bits && !is_sample_token(token) && self.check.holds(token)
    }
}

impl Check {
    fn holds(self, token: &[u8]) -> bool {
        match self {
            Self::Entropy => true,
            Self::Jwt => crate::jwt::is_jwt(token),
            Self::Credentials => crate::context::value::is_credentials(token),
            Self::Random => crate::context::value::is_random(token, 12),
        }
    }
}
