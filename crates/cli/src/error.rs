//! What the command line says when something did not work: what happened, what to do next, and a stable exit code.

use placet_wire::ClientError;

/// Exit codes, stable: scripts depend on them. `placet help exit-codes` prints this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Failed = 1,
    Usage = 2,
    Refused = 3,
    Integrity = 4,
    Waiting = 5,
    Conflict = 9,
    NotFound = 10,
    Unreachable = 11,
    NoCage = 12,
    OverLimit = 124,
    Interrupted = 130,
}

impl Code {
    pub(crate) const MEANINGS: &[(u8, &str)] = &[
        (0, "done"),
        (1, "failed"),
        (2, "the command was not understood"),
        (3, "refused by policy, role or separation of duties"),
        (4, "integrity broken: ledger or evidence is not what it was"),
        (5, "waiting for a person; the time to wait ran out"),
        (9, "conflict: somebody was faster, or what you saw has changed"),
        (10, "not found"),
        (11, "the control plane cannot be reached"),
        (12, "no cage can be built on this machine"),
        (124, "a limit of the cage ended the command"),
        (130, "interrupted"),
    ];
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CliError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl CliError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into().trim_end().to_owned(), hint: None }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Code::Failed, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// An error with what caused it, outermost first.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The cause that says most: what the operating system said, without the layers that passed it on.
fn innermost(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().map(ToString::to_string).unwrap_or_default()
}

/// What helps against a refusal that says nothing of it by itself.
fn remedy(code: &str, detail: &str) -> Option<&'static str> {
    match code {
        // The refusal already lists the existing names if the caller wrote a name.
        "unknown" if detail.starts_with("no such") => Some(
            "`placet run list`, `placet scope list`, `placet project list` and `placet identity list` show what there is",
        ),
        "unauthorized" => Some("name somebody whose token is valid with --as NAME"),
        "role" => Some("act as somebody with that role: --as NAME; `placet identity list` shows who has which"),
        "stale" => Some("look again with `placet show ID`"),
        "fault" => Some("the log in the home's logs/ says what is wrong"),
        _ => None,
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Unreachable { server, source } => {
                let message = format!("the control plane at {server} cannot be reached: {}", innermost(source));
                Self::new(Code::Unreachable, message)
                    .hint("start it with `placet serve`, or name another with --server URL")
            }
            ClientError::Refused(problem) => {
                let code = match (problem.status, problem.code.as_str()) {
                    (_, "too_many_questions") => Code::Waiting,
                    (404, _) => Code::NotFound,
                    (409 | 410 | 412, _) => Code::Conflict,
                    (401 | 403, _) => Code::Refused,
                    (400 | 413 | 415 | 422 | 428, _) => Code::Usage,
                    _ => Code::Failed,
                };
                let hint = remedy(&problem.code, &problem.detail).map(ToOwned::to_owned);
                Self { code, message: problem.detail.clone(), hint }
            }
            ClientError::Garbled { .. } => Self::failed(error.to_string()),
            ClientError::Stranger { .. } => Self::new(Code::Unreachable, error.to_string()).hint(
                "start the control plane of this home with `placet serve` (`--address 127.0.0.1:0` takes a free port), or name another \
                 home with --home DIR; through a tunnel, give the token itself (PLACET_TOKEN) with --server URL",
            ),
        }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}
