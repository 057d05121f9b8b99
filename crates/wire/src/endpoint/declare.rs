//! The macro behind the table: it turns each row into a type that the client sends and the server is checked against.
//!
//! ```text
//! METHOD "path" Name { parameter: Type, … }
//!     asks QUERY             what may stand behind the `?`
//!     takes BODY             a JSON body           (accepts: not described in the API document; uploads: bytes)
//!     on_seen Digest         `If-Match` is required
//!     gives STATUS ANSWER    a JSON answer         (may_give: or none; sends: not described; streams: events)
//!     or STATUS "condition"  another success, without a body
//!     by ACCESS: "Summary.";
//! ```

/// Declares endpoints, [`EndpointName`](super::EndpointName) and [`ENDPOINTS`](super::ENDPOINTS).
macro_rules! endpoints {
    ($(
        $method:ident $path:literal $name:ident { $($param:ident: $param_type:ty),* }
        $(asks $query:ident)?
        $(takes $body:ident)? $(accepts $free:ident)? $(uploads $bytes:ident)?
        $(on_seen $seen:ident)?
        $(gives $status:literal $answer:ident)? $(may_give $maybe:ident)? $(sends $sent:ident)? $(streams $stream:ident)?
        $(or $other:literal $when:literal)?
        by $access:tt: $summary:literal;
    )*) => {
        $(
            #[doc = $summary]
            #[derive(Debug, Clone)]
            pub struct $name {
                $(pub $param: $param_type,)*
                $(pub query: $query,)?
            }

            impl $crate::endpoint::Endpoint for $name {
                type Params = $crate::endpoint::declare::params!($($param_type),*);
                type Query = $crate::endpoint::declare::first!($($query,)? ());
                type Body = $crate::endpoint::declare::first!($($body,)? $($free,)? $($bytes,)? ());
                type Seen = $crate::endpoint::declare::first!($($seen,)? ());
                type Answer = $crate::endpoint::declare::first!($($answer,)? $(Option<$maybe>,)? $($sent,)? $($stream,)? ());

                const PATH: &'static str = $path;
                const ROW: $crate::endpoint::EndpointRow = $crate::endpoint::EndpointRow {
                    name: $crate::endpoint::EndpointName::$name,
                    method: reqwest::Method::$method,
                    path: $path,
                    access: $crate::endpoint::declare::access!($access),
                    summary: $summary,
                    query: $crate::endpoint::declare::some!($(<$query as utoipa::IntoParams>::into_params)?),
                    body: $crate::endpoint::declare::body!($(json $body)? $(free $free)? $(bytes $bytes)?),
                    on_seen: $crate::endpoint::declare::has!($($seen)?),
                    status: $crate::endpoint::declare::status!($($status)?),
                    answer: $crate::endpoint::declare::some!($($crate::endpoint::NamedSchema::of::<$answer>)? $($crate::endpoint::NamedSchema::of::<$maybe>)?),
                    resumable: $crate::endpoint::declare::has!($($stream)?),
                    instead: $crate::endpoint::declare::some!($(($other, $when))?),
                };

                fn path(&self) -> String {
                    $crate::endpoint::fill_path(Self::PATH, &[$((stringify!($param), &self.$param)),*])
                }

                fn query(&self) -> String {
                    $crate::endpoint::declare::query!(self $($query)?)
                }
            }
        )*

        /// The name of each endpoint.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum EndpointName {
            $(#[doc = $summary] $name,)*
        }

        /// Every endpoint of the API, in the order of the table.
        pub static ENDPOINTS: &[$crate::endpoint::EndpointRow] = &[$(<$name as $crate::endpoint::Endpoint>::ROW),*];
    };
}

/// The first type of a list.
macro_rules! first {
    ($first:ty $(, $rest:ty)*) => {
        $first
    };
}

/// One type as it is, or a tuple.
macro_rules! params {
    ($only:ty) => { $only };
    ($($type:ty),*) => { ($($type),*) };
}

/// `Some` of what is given, or `None`.
macro_rules! some {
    () => {
        None
    };
    ($given:expr) => {
        Some($given)
    };
}

/// Whether anything is given.
macro_rules! has {
    () => {
        false
    };
    ($given:ident) => {
        true
    };
}

/// The status of a success; 200 unless the row says otherwise.
macro_rules! status {
    () => {
        200
    };
    ($status:literal) => {
        $status
    };
}

/// A list of roles in brackets, or a named [`Access`](crate::Access).
macro_rules! access {
    ([$($role:ident)*]) => { Access::Roles(&[$($role),*]) };
    ($access:ident) => { $access };
}

/// The form of a body.
macro_rules! body {
    () => {
        None
    };
    (json $body:ident) => {
        Some($crate::endpoint::BodyForm::Json($crate::endpoint::NamedSchema::of::<$body>))
    };
    (free $body:ident) => {
        Some($crate::endpoint::BodyForm::Undescribed)
    };
    (bytes $body:ident) => {
        Some($crate::endpoint::BodyForm::Bytes)
    };
}

/// The query of an endpoint as text, empty where it has none.
macro_rules! query {
    ($endpoint:ident) => {
        String::new()
    };
    ($endpoint:ident $query:ident) => {
        serde_urlencoded::to_string(&$endpoint.query).expect("a query is a flat list of names and values")
    };
}

pub(super) use {access, body, endpoints, first, has, params, query, some, status};
