//! One row of the route table.

use std::borrow::Cow;
use std::fmt;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use placet_domain::identity::{Identity, Role};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr, Required, Type};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;

/// Who may call a route.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// Nobody needs a token: only for reading what tells nothing.
    Public,
    /// Whoever signed the request with the secret of its webhook, as the agent that the webhook stands for.
    Signed,
    /// Everybody with a valid token.
    Anyone,
    /// Holders of one of these roles.
    Roles(&'static [Role]),
}

impl Access {
    pub(crate) fn admits(self, identity: &Identity) -> bool {
        match self {
            Self::Public | Self::Anyone => true,
            Self::Signed => identity.has(Role::Agent),
            Self::Roles(roles) => roles.iter().any(|role| identity.has(*role)),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Signed => f.write_str("signed"),
            Self::Anyone => f.write_str("anyone"),
            Self::Roles(roles) => {
                let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
                f.write_str(&names.join(" "))
            }
        }
    }
}

/// A named schema with those it refers to.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) schemas: Vec<(String, RefOr<Schema>)>,
}

impl Shape {
    fn of<T: ToSchema>() -> Self {
        let name = T::name().into_owned();
        let mut schemas = vec![(name.clone(), T::schema())];
        T::schemas(&mut schemas);
        Self { name, schemas }
    }
}

/// What a route takes.
#[derive(Clone)]
pub(crate) enum Takes {
    Nothing,
    Shape(Shape),
    /// A body whose form the description tells.
    Free,
}

#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: Cow<'static, str>,
    pub(crate) access: Access,
    pub(crate) about: &'static str,
    /// Query and headers; those in the path speak for themselves.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) takes: Takes,
    pub(crate) gives: Option<(u16, Shape)>,
    /// Alternative status codes without a body, each with its condition.
    pub(crate) instead: Vec<(u16, &'static str)>,
    pub(crate) handler: MethodRouter<App>,
}

/// A route that still lacks its access rule, so it is none yet.
pub(crate) struct Unguarded {
    method: Method,
    path: &'static str,
    handler: MethodRouter<App>,
}

impl Unguarded {
    fn new<H, T>(method: Method, filter: MethodFilter, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        Self { method, path, handler: on(filter, handler) }
    }

    pub(crate) fn access(self, access: Access) -> Route {
        let Self { method, path, handler } = self;
        let parameters = Vec::new();
        let path = Cow::Borrowed(path);
        Route {
            method,
            path,
            access,
            about: "",
            parameters,
            takes: Takes::Nothing,
            gives: None,
            instead: Vec::new(),
            handler,
        }
    }
}

impl Route {
    /// The same route under another name, if what it is about has one: `("/runs", "/executions")`.
    pub(crate) fn alias(&self, (name, other): (&str, &str)) -> Option<Self> {
        let rest = self.path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some(Self { path: Cow::Owned(format!("{other}{rest}")), ..self.clone() })
    }

    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// What may stand behind the `?`.
    pub(crate) fn asks<Q: IntoParams>(self) -> Self {
        Self { parameters: Q::into_params(|| Some(ParameterIn::Query)), ..self }
    }

    /// A yes to something that may have changed meanwhile.
    pub(crate) fn on_what_was_seen(self) -> Self {
        let about = "The digest of what you were shown and decide on, in quotes.";
        self.header("If-Match", Required::True, about)
    }

    /// A stream that goes on where it was left.
    pub(crate) fn resumable(self) -> Self {
        self.header("Last-Event-ID", Required::False, "The number of the last event you got; the next one follows it.")
    }

    pub(crate) fn header(mut self, name: &str, required: Required, about: &str) -> Self {
        self.parameters.push(parameter(name, ParameterIn::Header, required).description(Some(about)).build());
        self
    }

    pub(crate) fn takes<T: ToSchema>(self) -> Self {
        Self { takes: Takes::Shape(Shape::of::<T>()), ..self }
    }

    pub(crate) fn takes_any(self) -> Self {
        Self { takes: Takes::Free, ..self }
    }

    /// Adds an alternative success response without a body.
    pub(crate) fn or(mut self, status: u16, when: &'static str) -> Self {
        self.instead.push((status, when));
        self
    }

    pub(crate) fn gives<T: ToSchema>(self, status: u16) -> Self {
        Self { gives: Some((status, Shape::of::<T>())), ..self }
    }
}

/// A parameter that is text.
pub(crate) fn parameter(name: &str, place: ParameterIn, required: Required) -> ParameterBuilder {
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    ParameterBuilder::new().name(name).parameter_in(place).required(required).schema(Some(text))
}

macro_rules! verbs {
    ($($verb:ident = $method:ident;)*) => {$(
        pub(crate) fn $verb<H, T>(path: &'static str, handler: H) -> Unguarded
        where
            H: Handler<T, App>,
            T: 'static,
        {
            Unguarded::new(Method::$method, MethodFilter::$method, path, handler)
        }
    )*};
}

verbs! { get = GET; post = POST; put = PUT; delete = DELETE; }
