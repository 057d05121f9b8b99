//! How a refusal looks to each agent: in the shape its own library reads, so that the sentence reaches its log and it stops
//! instead of trying again.

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::json;

use super::Wire;

/// What is the matter. Each agent library has its own word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The key opens nothing.
    Key,
    /// The budget does not cover it.
    Budget,
    /// The run may not: this model, this tool, now.
    Forbidden,
    Unreadable,
    TooLarge,
    Unknown,
    /// The upstream could not be used.
    Upstream,
    /// The upstream took too long.
    Slow,
    /// We cannot, at the moment.
    Unavailable,
    /// Too much is asked at once; in a moment there is room.
    Busy,
}

impl Kind {
    /// One word for it, where refusals are counted.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Budget => "budget",
            Self::Forbidden => "forbidden",
            Self::Unreadable => "unreadable",
            Self::TooLarge => "too_large",
            Self::Unknown => "unknown",
            Self::Upstream => "upstream",
            Self::Slow => "slow",
            Self::Unavailable => "unavailable",
            Self::Busy => "busy",
        }
    }
}

/// A refusal in words, with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) kind: Kind,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// An exhausted budget is 402, where the agents that were seen stop at once; the one library for Responses tries 402 again and
    /// stops at 400. Never 429: they would wait and try again without end. Who is told that there is no room just now should do
    /// exactly that: all of them come again after 503.
    pub(crate) const fn status(&self, wire: Wire) -> StatusCode {
        match (self.kind, wire) {
            (Kind::Budget, Wire::Responses) | (Kind::Unreadable, _) => StatusCode::BAD_REQUEST,
            (Kind::Budget, Wire::Messages | Wire::Chat | Wire::Gemini) => StatusCode::PAYMENT_REQUIRED,
            (Kind::Key, _) => StatusCode::UNAUTHORIZED,
            (Kind::Forbidden, _) => StatusCode::FORBIDDEN,
            (Kind::TooLarge, _) => StatusCode::PAYLOAD_TOO_LARGE,
            (Kind::Unknown, _) => StatusCode::NOT_FOUND,
            (Kind::Upstream, _) => StatusCode::BAD_GATEWAY,
            (Kind::Slow, _) => StatusCode::GATEWAY_TIMEOUT,
            (Kind::Unavailable | Kind::Busy, _) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(crate) fn body(&self, wire: Wire) -> Bytes {
        let value = match wire {
            Wire::Messages => json!({"type": "error", "error": {"type": self.anthropic(), "message": self.message}}),
            Wire::Chat | Wire::Responses => {
                json!({"error": {"message": self.message, "type": self.openai(), "param": null, "code": self.code()}})
            }
            Wire::Gemini => {
                let code = self.status(wire).as_u16();
                json!({"error": {"code": code, "message": self.message, "status": self.google()}})
            }
        };
        value.to_string().into()
    }

    const fn anthropic(&self) -> &'static str {
        match self.kind {
            Kind::Key => "authentication_error",
            Kind::Budget => "billing_error",
            Kind::Forbidden => "permission_error",
            Kind::Unreadable => "invalid_request_error",
            Kind::TooLarge => "request_too_large",
            Kind::Unknown => "not_found_error",
            Kind::Upstream | Kind::Unavailable => "api_error",
            Kind::Busy => "overloaded_error",
            Kind::Slow => "timeout_error",
        }
    }

    const fn openai(&self) -> &'static str {
        match self.kind {
            Kind::Budget => "insufficient_quota",
            Kind::Key | Kind::Forbidden | Kind::Unreadable | Kind::TooLarge | Kind::Unknown => "invalid_request_error",
            Kind::Upstream | Kind::Slow | Kind::Unavailable | Kind::Busy => "server_error",
        }
    }

    const fn code(&self) -> &'static str {
        match self.kind {
            Kind::Key => "invalid_api_key",
            Kind::Budget => "budget_exhausted",
            Kind::Forbidden => "not_allowed",
            Kind::Unreadable => "invalid_request",
            Kind::TooLarge => "request_too_large",
            Kind::Unknown => "not_found",
            Kind::Upstream => "upstream_failed",
            Kind::Slow => "upstream_slow",
            Kind::Unavailable => "unavailable",
            Kind::Busy => "overloaded",
        }
    }

    /// Not `RESOURCE_EXHAUSTED` for a budget: that one is tried again.
    const fn google(&self) -> &'static str {
        match self.kind {
            Kind::Key => "UNAUTHENTICATED",
            Kind::Budget => "FAILED_PRECONDITION",
            Kind::Forbidden => "PERMISSION_DENIED",
            Kind::Unreadable | Kind::TooLarge => "INVALID_ARGUMENT",
            Kind::Unknown => "NOT_FOUND",
            Kind::Upstream | Kind::Unavailable | Kind::Busy => "UNAVAILABLE",
            Kind::Slow => "DEADLINE_EXCEEDED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c12_an_exhausted_budget_stops_each_kind_of_agent() {
        let complaint = Complaint::new(Kind::Budget, "no money is left");
        let statuses = Wire::ALL.map(|wire| complaint.status(wire).as_u16());
        assert_eq!(statuses, [402, 402, 400, 402]);
        for wire in Wire::ALL {
            let body: serde_json::Value = serde_json::from_slice(&complaint.body(wire)).unwrap();
            assert_eq!(body["error"]["message"], "no money is left", "{wire}");
        }
    }

    #[test]
    fn c12_nothing_that_we_refuse_ourselves_is_429() {
        let kinds = [
            Kind::Key,
            Kind::Budget,
            Kind::Forbidden,
            Kind::Unreadable,
            Kind::TooLarge,
            Kind::Unknown,
            Kind::Upstream,
            Kind::Slow,
            Kind::Unavailable,
            Kind::Busy,
        ];
        for (kind, wire) in kinds.into_iter().flat_map(|kind| Wire::ALL.map(|wire| (kind, wire))) {
            let complaint = Complaint::new(kind, "no");
            assert_ne!(complaint.status(wire), StatusCode::TOO_MANY_REQUESTS, "{kind:?} {wire}");
            assert!(!String::from_utf8_lossy(&complaint.body(wire)).contains("RESOURCE_EXHAUSTED"), "{kind:?} {wire}");
        }
    }
}
