//! One row of a route table: a path with its handler and who may call it.

use std::borrow::Cow;

use axum::http::Method;
use axum::routing::MethodRouter;
pub use placet_wire::Access;

use crate::app::App;

pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: Cow<'static, str>,
    pub(crate) access: Access,
    pub(crate) handler: MethodRouter<App>,
}
