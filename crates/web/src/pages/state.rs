//! What all page handlers share: the control plane, and what pages remember between requests.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use placet_control::{App, Trips};

use super::live::News;
use super::marks::Marks;
use super::password::Passwords;
use super::question::Questions;

/// The control plane with the memory of its pages; cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Web {
    app: App,
    memory: Arc<Memory>,
}

/// What pages remember between requests. All of it is bounded, and all of it may be forgotten.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) passwords: Passwords,
    pub(super) questions: Questions,
    pub(super) trips: Trips,
    pub(super) news: News,
    pub(super) marks: Marks,
}

impl Web {
    pub(super) fn new(app: App) -> Self {
        Self { app, memory: Arc::default() }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl Deref for Web {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl FromRef<Web> for App {
    fn from_ref(web: &Web) -> Self {
        web.app.clone()
    }
}
