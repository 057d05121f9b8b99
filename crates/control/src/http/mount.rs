//! A further front on the listener of the API, such as pages for people. It shares the limits, the host check and the measurement of the
//! API; without one, the API is served whole.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::Request;

use crate::app::App;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Wrap = Box<dyn FnOnce(Router<App>) -> Router<App> + Send>;

/// Routes beside those of the API, each behind an access check of its own.
#[derive(Default)]
pub struct Mount {
    routes: Router<App>,
    wrap: Option<Wrap>,
    tasks: Vec<Task>,
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount").finish_non_exhaustive()
    }
}

impl Mount {
    pub fn new(routes: Router<App>) -> Self {
        Self { routes, ..Self::default() }
    }

    /// Adds a layer around the whole server. It sees every answer that a limit, the host check or a fallback gives.
    #[must_use]
    pub fn wrapped_by(self, wrap: impl FnOnce(Router<App>) -> Router<App> + Send + 'static) -> Self {
        Self { wrap: Some(Box::new(wrap)), ..self }
    }

    /// Adds a task that runs as long as the control plane does.
    #[must_use]
    pub fn with_task(mut self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        self.tasks.push(Box::pin(task));
        self
    }

    pub(crate) fn take_tasks(&mut self) -> Vec<Task> {
        std::mem::take(&mut self.tasks)
    }

    pub(super) fn into_parts(self) -> (Router<App>, Wrap) {
        (self.routes, self.wrap.unwrap_or_else(|| Box::new(|router| router)))
    }
}

/// A request that was turned away before its body was read. The answer carries it, so that a layer around the server can show again what
/// somebody wrote.
#[derive(Debug, Clone)]
pub struct UnreadRequest(Arc<Mutex<Option<Request>>>);

impl UnreadRequest {
    pub(super) fn new(request: Request) -> Self {
        Self(Arc::new(Mutex::new(Some(request))))
    }

    /// Takes the request; the first caller gets it.
    pub fn take(&self) -> Option<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
