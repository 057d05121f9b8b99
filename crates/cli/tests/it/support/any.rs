//! Endpoints by their path alone, with any JSON as the body and as the answer: for callers that break the rules, and for scenarios
//! that know ids only as text.

use placet_domain::digest::Digest;
use placet_wire::Endpoint;
use placet_wire::endpoint::{ApproveAction, EndpointRow, ListRuns, StartRun};
use serde_json::Value;

/// Declares an endpoint that is called like the model endpoint, whatever its path and body.
macro_rules! any {
    ($($(#[$doc:meta])* $name:ident like $model:ident takes $body:ty, $seen:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name(pub(crate) String);

        impl Endpoint for $name {
            type Params = ();
            type Query = ();
            type Body = $body;
            type Seen = $seen;
            type Answer = Value;

            const PATH: &'static str = $model::PATH;
            const ROW: EndpointRow = $model::ROW;

            fn path(&self) -> String {
                self.0.clone()
            }

            fn query(&self) -> String {
                String::new()
            }
        }
    )*};
}

any! {
    /// A GET of a path with its query.
    AnyGet like ListRuns takes (), ();
    /// A POST to a path.
    AnyPost like StartRun takes Value, ();
    /// A POST to a path on what was seen.
    AnyPostIf like ApproveAction takes Value, Digest;
}
