//! Which path is which: the few endpoints that are carried. Everything else is unknown here.

use hyper::Method;

use super::Wire;
use crate::models::is_name;

/// What a request wants from the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// A call of a model.
    Call { wire: Wire, endpoint: Endpoint },
    /// The list of models this caller may use.
    Models(Listing),
}

/// What of a wire format is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    place: Place,
    /// Counting the tokens of a request costs nothing.
    pub(crate) is_free: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Fixed(&'static str),
    /// Gemini has the model in the path, and after a colon what to do, also whether to stream.
    Model {
        model: String,
        method: &'static str,
    },
}

/// In whose shape a list of models is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    Anthropic,
    OpenAi,
    Gemini,
}

const GEMINI_METHODS: [&str; 3] = ["generateContent", "streamGenerateContent", "countTokens"];
const GEMINI_MODELS: &str = "/v1beta/models";

impl Route {
    pub(crate) fn of(method: &Method, path: &str, is_anthropic: bool) -> Option<Self> {
        let listing = if is_anthropic { Listing::Anthropic } else { Listing::OpenAi };
        match (method, path) {
            (&Method::GET, "/v1/models") => Some(Self::Models(listing)),
            (&Method::GET, GEMINI_MODELS) => Some(Self::Models(Listing::Gemini)),
            (&Method::POST, path) => Self::call(path),
            _ => None,
        }
    }

    fn call(path: &str) -> Option<Self> {
        let fixed =
            |wire, path, is_free| Self::Call { wire, endpoint: Endpoint { place: Place::Fixed(path), is_free } };
        match path {
            "/v1/messages" => Some(fixed(Wire::Messages, "/v1/messages", false)),
            "/v1/messages/count_tokens" => Some(fixed(Wire::Messages, "/v1/messages/count_tokens", true)),
            "/v1/chat/completions" => Some(fixed(Wire::Chat, "/v1/chat/completions", false)),
            "/v1/responses" => Some(fixed(Wire::Responses, "/v1/responses", false)),
            other => Some(Self::Call { wire: Wire::Gemini, endpoint: gemini(other)? }),
        }
    }
}

fn gemini(path: &str) -> Option<Endpoint> {
    let (model, method) = path.strip_prefix(GEMINI_MODELS)?.strip_prefix('/')?.rsplit_once(':')?;
    let method = GEMINI_METHODS.into_iter().find(|known| *known == method)?;
    // A slash would lead to another path of the upstream.
    let plain = is_name(model) && !model.contains('/');
    let place = Place::Model { model: model.to_owned(), method };
    plain.then_some(Endpoint { place, is_free: method == "countTokens" })
}

impl Endpoint {
    /// The path at an upstream that calls the model so.
    pub(crate) fn path(&self, model: &str) -> String {
        match &self.place {
            Place::Fixed(path) => (*path).to_owned(),
            Place::Model { method, .. } => format!("{GEMINI_MODELS}/{model}:{method}"),
        }
    }

    /// Whether the path asks for a stream; other formats ask for it in the body.
    pub(crate) fn streams(&self) -> bool {
        matches!(&self.place, Place::Model { method: "streamGenerateContent", .. })
    }

    pub(crate) fn model_in_path(&self) -> Option<&str> {
        match &self.place {
            Place::Fixed(_) => None,
            Place::Model { model, .. } => Some(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(path: &str) -> Option<Route> {
        Route::of(&Method::POST, path, false)
    }

    #[test]
    fn each_format_has_its_paths_and_gives_them_back() {
        for (path, wire) in [
            ("/v1/messages", Wire::Messages),
            ("/v1/messages/count_tokens", Wire::Messages),
            ("/v1/chat/completions", Wire::Chat),
            ("/v1/responses", Wire::Responses),
            ("/v1beta/models/m:generateContent", Wire::Gemini),
            ("/v1beta/models/m:streamGenerateContent", Wire::Gemini),
            ("/v1beta/models/m:countTokens", Wire::Gemini),
        ] {
            let Some(Route::Call { wire: found, endpoint }) = route(path) else { panic!("{path}") };
            assert_eq!((found, endpoint.path("m").as_str()), (wire, path));
        }
    }

    #[test]
    fn what_is_not_listed_is_not_carried() {
        for path in [
            "/v1/files",
            "/v1/messages/",
            "/v1/messages/batches",
            "//v1/messages",
            "/v1/../v1/messages",
            "/v1beta/models/a/b:generateContent",
            "/v1beta/models/..:generateContent",
            "/v1beta/models/a%2fb:generateContent",
            "/v1beta/models/m:batchGenerateContent",
            "/v1beta/cachedContents",
        ] {
            assert_eq!(route(path), None, "{path}");
        }
        assert_eq!(Route::of(&Method::PUT, "/v1/messages", false), None);
    }
}
