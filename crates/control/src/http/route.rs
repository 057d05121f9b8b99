//! One row of a route table: a path with its handler and who may call it.

use std::borrow::Cow;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
pub(crate) use placet_wire::Access;

use crate::app::App;

pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: Cow<'static, str>,
    pub(crate) access: Access,
    pub(crate) handler: MethodRouter<App>,
}

/// A route without its access rule. It cannot be served.
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
        Route { method, path: Cow::Borrowed(path), access, handler }
    }
}

impl Route {
    /// Says in the table what the route is for. Nothing reads it but people.
    #[must_use]
    pub(crate) fn about(self, _summary: &'static str) -> Self {
        self
    }
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

verbs! { get = GET; post = POST; }
