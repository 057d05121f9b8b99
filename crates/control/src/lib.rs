//! CONTROL PLANE: decides by policy, holds the keys, serves the API. It executes nothing and runs no agent.
//!
//! ```text
//! http/   one page of routes, who may call them, and the types they take and give
//! flow/   the steps of the one flow, each a few sentences: load, decide, commit
//! read/   what people and programs are shown, as plain data
//! models/ calls of language models, with the tokens of agents as keys and the budgets of runs as purses
//! notify/ what people are told of, when, and how: chats and mail
//! pumps/  the clockwork: what ran out of time is ended, heads are signed, receivers of webhooks and people are told
//! ```

mod absences;
mod accept;
mod app;
mod connections;
mod declared;
mod door;
mod error;
mod facts;
pub mod flow;
pub mod http;
mod kit;
mod logs;
mod models;
mod name_cache;
mod names;
mod notify;
mod oidc;
mod otel;
mod peer;
mod previews;
mod public_url;
mod pumps;
pub mod read;
mod server;
mod stop_socket;
mod telemetry;
mod turns;
mod uploads;
mod webhook;

pub use app::{App, Limits, MetricsEvery, Rules, Settings, StreamPlace};
pub use error::No;
pub use flow::{bootstrap, end_passkeys};
pub use http::{Mount, api_document, route_table};
pub use kit::{KitFile, Kits};
pub use logs::Speaker;
pub use names::{fresh_token, token_digest};
pub use notify::{
    BadAddress, BadHours, BadRoute, Channel, Chat, Health, Login, Mail, MailAddress, Pace, QuietHours, Route,
    RouteParts, Routes, Schedule, Security, Server, SignedHook, Standing as RouteStanding, Trial, harmless,
};
pub use oidc::{BadProvider, NotSignedOn, Provider, ProviderSettings, SignOn, Trip, Trips};
pub use otel::{Collector, NotLocal};
pub use placet_lang::Lang;
pub use public_url::{BadPublicUrl, PublicUrl};
pub use server::{ServeError, Serving, serve, serve_briefly, serve_with};
pub use stop_socket::{StopError, stop_by_socket};
pub use webhook::{
    Backoff, BadHooks, BadSecret, EventPattern, HookName, HookSecret, Hooks, IncomingHook, OutgoingHook, TargetUrl,
    TargetUrlError,
};
