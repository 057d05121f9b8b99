//! The calls of a container engine that a cage needs, with typed answers. Decides nothing.
//!
//! Paths carry no version: both engines then speak their newest one, and the fields used here have been there in all of
//! them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::EngineError;
use super::http::{Body, Call, Client, Upgraded};
use super::stats::Stats;

/// Engines under load take seconds to start a container; longer than this, they hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than any answer of an engine to a cage.
const MAX_ANSWER_BYTES: u64 = 16 << 20;

/// An engine, by its socket.
#[derive(Debug)]
pub(super) struct Api {
    client: Client,
}

/// The end of a container, or that there is none yet.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct State {
    pub(super) running: bool,
    pub(super) status: String,
    #[serde(rename = "OOMKilled")]
    pub(super) out_of_memory: bool,
    pub(super) exit_code: i32,
}

impl State {
    /// A container that was created and never started is not running either.
    pub(super) fn ended(&self) -> bool {
        !self.running && matches!(self.status.as_str(), "exited" | "dead" | "stopped")
    }
}

/// A container that carries our label.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Labelled {
    pub(super) id: String,
    pub(super) labels: BTreeMap<String, String>,
}

impl Api {
    pub(super) fn new(socket: &Path) -> Self {
        Self { client: Client::new(socket) }
    }

    pub(super) fn version(&self) -> Result<Value, EngineError> {
        self.get("/version", "tell its version")
    }

    pub(super) fn info(&self) -> Result<Value, EngineError> {
        self.get("/info", "describe itself")
    }

    pub(super) fn image(&self, name: &str) -> Result<Value, EngineError> {
        self.get(&format!("/images/{}/json", encoded(name)), "show the image")
    }

    /// Returns the id of the new container.
    pub(super) fn create(&self, name: &str, config: &Value) -> Result<String, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Created {
            id: String,
        }
        let (target, doing) = (format!("/containers/create?name={}", encoded(name)), "create the container");
        let body = self.send("POST", &target, Some(&config.to_string()), doing)?;
        parsed::<Created>(body, doing).map(|created| created.id)
    }

    /// Input and both outputs, from the first byte on if it is called before the start.
    pub(super) fn attach(&self, id: &str) -> Result<Upgraded, EngineError> {
        let target = format!("/containers/{id}/attach?stream=1&stdin=1&stdout=1&stderr=1");
        self.client.upgrade(&call("POST", &target, None, "attach to the container"))
    }

    pub(super) fn start(&self, id: &str) -> Result<(), EngineError> {
        self.send("POST", &format!("/containers/{id}/start"), None, "start the container").map(drop)
    }

    pub(super) fn state(&self, id: &str) -> Result<State, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Inspected {
            state: State,
        }
        let inspected: Inspected = self.get(&format!("/containers/{id}/json"), "show the container")?;
        Ok(inspected.state)
    }

    /// What the container uses at this moment.
    pub(super) fn stats(&self, id: &str) -> Result<Stats, EngineError> {
        self.get(&format!("/containers/{id}/stats?stream=false&one-shot=true"), "count what the container uses")
    }

    pub(super) fn kill(&self, id: &str) -> Result<(), EngineError> {
        self.send("POST", &format!("/containers/{id}/kill?signal=KILL"), None, "kill the container").map(drop)
    }

    /// Ends it first, if it still runs. One that is gone already is no error.
    pub(super) fn remove(&self, id: &str) -> Result<(), EngineError> {
        match self.send("DELETE", &format!("/containers/{id}?force=1&v=1"), None, "remove the container") {
            Ok(_) => Ok(()),
            Err(error) if error.is_absence() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Every container with this label, running or not.
    pub(super) fn labelled(&self, label: &str) -> Result<Vec<Labelled>, EngineError> {
        let filters = encoded(&serde_json::json!({"label": [label]}).to_string());
        self.get(&format!("/containers/json?all=1&filters={filters}"), "list containers")
    }

    /// A file of the container as an archive; `None` where there is nothing.
    pub(super) fn archive(&self, id: &str, path: &str) -> Result<Option<Body>, EngineError> {
        let target = format!("/containers/{id}/archive?path={}", encoded(path));
        match self.send("GET", &target, None, "read the program") {
            Ok(body) => Ok(Some(body)),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn get<T: DeserializeOwned>(&self, target: &str, doing: &'static str) -> Result<T, EngineError> {
        parsed(self.send("GET", target, None, doing)?, doing)
    }

    fn send(
        &self,
        method: &'static str,
        target: &str,
        json: Option<&str>,
        doing: &'static str,
    ) -> Result<Body, EngineError> {
        self.client.send(&call(method, target, json, doing))
    }
}

fn call<'a>(method: &'static str, target: &'a str, json: Option<&'a str>, doing: &'static str) -> Call<'a> {
    Call { method, target, json, doing, patience: PATIENCE }
}

fn parsed<T: DeserializeOwned>(body: Body, doing: &'static str) -> Result<T, EngineError> {
    let bytes = body.read_all(MAX_ANSWER_BYTES).map_err(EngineError::lost(doing))?;
    serde_json::from_slice(&bytes).map_err(|error| EngineError::answer(doing, error))
}

/// As part of a path or query: everything but letters, digits and a few signs by its number.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_can_change_the_path_or_the_query() {
        assert_eq!(encoded("a-b_c.d~1"), "a-b_c.d~1");
        assert_eq!(encoded("/x?y=1&z#\r\n é"), "%2Fx%3Fy%3D1%26z%23%0D%0A%20%C3%A9");
    }

    #[test]
    fn only_a_container_that_ran_has_ended() {
        let state =
            |running: bool, status: &str| State { running, status: status.into(), out_of_memory: false, exit_code: 0 };
        assert!(state(false, "exited").ended());
        assert!(!state(false, "created").ended());
        assert!(!state(true, "running").ended());
    }
}
