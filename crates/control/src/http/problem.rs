//! Every No as RFC 9457 problem details, with a stable code. Faults are logged here, once, and not shown.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use placet_domain::refusal::Refusal;
use placet_store::StoreError;
use placet_wire::Problem;

use super::body::in_plain_words;
use crate::flow::No;

/// An answer that is a problem.
#[derive(Debug, Clone)]
pub struct Failure {
    status: StatusCode,
    code: &'static str,
    detail: String,
    /// What the domain refused, for whoever tells it in another language.
    refusal: Option<Box<Refusal>>,
}

impl Failure {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), refusal: None }
    }

    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The stable word for it.
    pub const fn code(&self) -> &'static str {
        self.code
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_deref()
    }

    /// A handler that needs to know its caller sits behind no guard: a mistake of ours, and refused.
    pub fn unguarded() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "send a token")
    }

    pub fn bad_id(error: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_id", error.to_string())
    }

    /// An interrupted action was tried again since it was shown, so it is another question now.
    pub fn tried_again() -> Self {
        let why = "it was tried again since this page was made; look at what became of it";
        Self::new(StatusCode::PRECONDITION_FAILED, "stale", why)
    }
}

pub(super) fn problem(status: StatusCode, code: &'static str, detail: &str) -> Response {
    Failure::new(status, code, detail).into_response()
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let problem = Problem {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail.clone(),
            code: self.code.to_owned(),
        };
        let mut response = (self.status, Json(problem)).into_response();
        // People answer in minutes at best: whoever asks them too much need not try again before.
        if self.code == "too_many_questions" {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        // Workers free a place within seconds.
        if self.code == "too_many_actions" {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        // Whoever shows it otherwise, as pages do, need not read it back.
        response.extensions_mut().insert(self);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

impl From<No> for Failure {
    fn from(no: No) -> Self {
        let detail = no.to_string();
        match no {
            No::Refused(refusal) => {
                Self { refusal: Some(Box::new(refusal.clone())), ..Self::new(status(&refusal), refusal.code(), detail) }
            }
            No::Unsealable(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unsealable", detail),
            No::Change(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_change", in_plain_words(&detail)),
            No::Evidence(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_evidence", detail),
            No::MissingEvidence(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "missing_evidence", detail),
            No::WrongDigest => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_digest", detail),
            No::Unseen => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "unseen", detail),
            No::TooManyUploads { .. } => Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_uploads", detail),
            No::KeyReused => Self::new(StatusCode::CONFLICT, "key_reused", detail),
            No::NoLongerKnown => Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail),
            No::Fault(fault) => Self::from(fault),
        }
    }
}

/// Reading continues to work while the disk is full.
pub(super) const NO_ROOM: &str =
    "no room is left on the disk of the control plane; nothing was changed; free some space there and repeat it";

impl From<StoreError> for Failure {
    fn from(fault: StoreError) -> Self {
        tracing::error!(fault = %chain(&fault), "the store has a fault");
        if matches!(fault, StoreError::Integrity(_)) {
            let detail = "what is stored is no longer what was stored; do not rely on it, and tell the operator";
            return Self::new(StatusCode::INTERNAL_SERVER_ERROR, "tampered", detail);
        }
        if fault.is_no_room() {
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "no_room", NO_ROOM);
        }
        let detail = "the ledger cannot be written or read now; nothing was changed";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "fault", detail)
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

const fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::Unknown { .. } | Refusal::UnknownName { .. } => StatusCode::NOT_FOUND,
        Refusal::Exists { .. }
        | Refusal::Undone { .. }
        | Refusal::NotNow { .. }
        | Refusal::RunNotActive { .. }
        | Refusal::Budget { .. }
        | Refusal::Halted { .. }
        | Refusal::SafeMode { .. }
        | Refusal::LostLease { .. } => StatusCode::CONFLICT,
        Refusal::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Refusal::Revoked => StatusCode::UNAUTHORIZED,
        Refusal::Role { .. }
        | Refusal::Reach
        | Refusal::Duty { .. }
        | Refusal::OtherAgent
        | Refusal::OtherHost
        | Refusal::Kin
        | Refusal::SamePerson
        | Refusal::Denied { .. }
        | Refusal::Permit(_)
        | Refusal::PasskeyNeeded
        | Refusal::DoorUnsigned
        | Refusal::StaleVisit
        | Refusal::Passkey(_) => StatusCode::FORBIDDEN,
        Refusal::TooManyQuestions { .. } | Refusal::TooManyActions { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Stale { .. } => StatusCode::PRECONDITION_FAILED,
        Refusal::Expired => StatusCode::GONE,
    }
}
