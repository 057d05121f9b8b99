//! One row of the table of pages.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use placet_control::http::Access;

use super::state::Web;

/// A page or a form, and who may use it.
pub(super) struct PageRoute {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
    pub(super) handler: MethodRouter<Web>,
}

/// A route that still lacks its access rule.
pub(super) struct Unguarded {
    method: Method,
    path: &'static str,
    handler: MethodRouter<Web>,
}

impl Unguarded {
    pub(super) fn access(self, access: Access) -> PageRoute {
        let Self { method, path, handler } = self;
        PageRoute { method, path, access, handler }
    }
}

pub(super) fn get<H: Handler<T, Web>, T: 'static>(path: &'static str, handler: H) -> Unguarded {
    Unguarded { method: Method::GET, path, handler: on(MethodFilter::GET, handler) }
}

pub(super) fn post<H: Handler<T, Web>, T: 'static>(path: &'static str, handler: H) -> Unguarded {
    Unguarded { method: Method::POST, path, handler: on(MethodFilter::POST, handler) }
}
