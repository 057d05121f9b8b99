//! CONTROL PLANE: decides by policy, holds the keys, serves the API. It executes nothing and runs no agent.
//!
//! ```text
//! http/   one page of routes, who may call them, and the types they take and give
//! http/pages/ the same for people with a browser
//! flow/   the steps of the one flow, each a few sentences: load, decide, commit
//! models/ calls of language models, with the tokens of agents as keys and the budgets of runs as purses
//! notify/ what people are told of, when, and how: chats and mail
//! pumps/  the clockwork: what ran out of time is ended, heads are signed, receivers of webhooks and people are told
//! ```

mod accept;
mod app;
mod connections;
mod declared;
mod door;
mod facts;
mod flow;
mod http;
mod kit;
mod logs;
mod models;
mod names;
mod notify;
mod oidc;
mod otel;
mod peer;
mod previews;
mod public_url;
mod pumps;
mod server;
mod stop_socket;
mod telemetry;
mod uploads;
mod webhook;

pub use app::{App, Limits, MetricsEvery, Rules, Settings};
pub use flow::{No, bootstrap, end_passkeys};
pub use http::{api_document, page_table, route_table};
pub use kit::{KitFile, Kits};
pub use names::fresh_token;
pub use notify::{
    BadAddress, BadHours, BadRoute, Channel, Chat, Login, Mail, MailAddress, Pace, QuietHours, Route, RouteParts,
    Routes, Schedule, Security, Server, SignedHook, Trial, harmless,
};
pub use oidc::{BadProvider, Provider, ProviderSettings};
pub use otel::{Collector, NotLocal};
pub use placet_lang::Lang;
pub use public_url::{BadPublicUrl, PublicUrl};
pub use server::{Serving, serve, serve_briefly};
pub use stop_socket::{StopError, stop_by_socket};
pub use webhook::{
    Backoff, BadHooks, BadSecret, EventPattern, HookName, HookSecret, Hooks, IncomingHook, OutgoingHook, TargetUrl,
    TargetUrlError,
};
