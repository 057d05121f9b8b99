//! The way out of a cage by hand: a proxy behind a door, for the hosts that were named and nobody else.
//!
//! Programs find it by the variables that libraries look for. What was refused is told when the command has ended, with
//! what to write to allow it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use placet_domain::scope::{Network, Target, TargetRule};
use placet_gateway::egress::rules::Speaks;
use placet_gateway::egress::{Decision, Egress, EgressRecord, Live, NotKept, Rule, Rules, Sink, Wish, serve};
use placet_sandbox::Running;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::error::CliError;
use crate::out::{DIM, Out, styled};

/// Where the proxy is inside of the cage: the usual port of one.
pub(super) const PORT: u16 = 3128;

/// Both spellings: some programs look for one, some for the other. The same for every protocol: whatever is asked for
/// there is judged in the same way.
pub(super) fn variables() -> Vec<(String, String)> {
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    names.map(|name| (name.to_owned(), format!("http://127.0.0.1:{PORT}"))).to_vec()
}

/// `HOST[:PORT]`, for TLS and for plain HTTP. A name is not allowed to lead to a network that is not public; an address
/// or a network is, because it was named.
pub(super) fn rules_for(text: &str) -> Result<Vec<Rule>, CliError> {
    let bad = |why: String| {
        CliError::usage(format!("--allow-host `{text}`: {why}"))
            .hint("like example.org, *.example.org, 10.0.0.7:8080 or [::1]:8080")
    };
    let (host, port) = split(text);
    let port: Option<u16> = port.map(str::parse).transpose().map_err(|_| bad("the port is no number".to_owned()))?;
    if port == Some(0) {
        return Err(bad("port 0 is nobody's".to_owned()));
    }
    let target: TargetRule = host.parse().map_err(|error: placet_domain::scope::BadTarget| bad(error.to_string()))?;
    if matches!(target, TargetRule::Within(Target::Url(_))) {
        return Err(bad("write the host alone, without scheme and path".to_owned()));
    }
    let rule =
        |speaks| port.map_or(Rule::new(target.clone(), speaks), |port| Rule::new(target.clone(), speaks).at_port(port));
    Ok(vec![rule(Speaks::Https), rule(Speaks::Http)])
}

/// The host and the port after it. An IPv6 address with a port is in brackets.
fn split(text: &str) -> (&str, Option<&str>) {
    if text.parse::<Network>().is_ok() || text.contains("://") {
        return (text, None);
    }
    if let Some((inner, port)) = text.strip_prefix('[').and_then(|text| text.split_once("]:")) {
        return (inner, Some(port));
    }
    text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port)))
}

/// A way out that is open.
pub(super) struct WayOut {
    seen: Arc<Seen>,
    /// Connections that are open.
    open: watch::Receiver<usize>,
}

/// What a command left open ends with it; so long it may take until that is written down.
const SETTLES: Duration = Duration::from_secs(2);

/// Everything that was asked.
#[derive(Default)]
struct Seen(Mutex<Vec<EgressRecord>>);

impl Sink for Seen {
    fn before(&self, _record: &EgressRecord) -> Result<(), NotKept> {
        Ok(())
    }

    fn after(&self, record: &EgressRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
    }

    // What could be allowed is told with what was refused.
    fn wish(&self, _wish: &Wish) {}
}

impl WayOut {
    /// Serves the door until the process ends. Must be called in the runtime.
    pub(super) fn open(running: &mut Running, rules: Rules) -> Result<Self, CliError> {
        let seen = Arc::<Seen>::default();
        let egress = Arc::new(Egress::new(Live::new(rules), Arc::<Seen>::clone(&seen)));
        let (count, open) = watch::channel(0);
        if let Some(listener) = running.take_door(PORT) {
            listener.set_nonblocking(true)?;
            tokio::spawn(accept(TcpListener::from_std(listener)?, egress, Arc::new(count)));
        }
        Ok(Self { seen, open })
    }

    /// Everything that was asked, once the command has ended.
    pub(super) async fn requests(&mut self) -> Vec<EgressRecord> {
        let _ = tokio::time::timeout(SETTLES, self.open.wait_for(|open| *open == 0)).await;
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells what was refused, each thing once.
    pub(super) async fn tell(&mut self, out: &Out) {
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for record in self.requests().await {
            if let Decision::Refused(why) = &record.decision {
                let to = record.to.as_ref().map_or_else(|| "a request".to_owned(), ToString::to_string);
                *refused.entry(format!("refused {to}: {} (E{})", why.text, why.number)).or_default() += 1;
            }
        }
        for (line, count) in refused {
            let times = if count == 1 { String::new() } else { format!(", {count} times") };
            out.note(&styled(DIM, format!("{line}{times}")));
        }
    }
}

async fn accept(listener: TcpListener, egress: Arc<Egress>, open: Arc<watch::Sender<usize>>) {
    while let Ok((inside, _)) = listener.accept().await {
        let (egress, open) = (Arc::clone(&egress), Arc::clone(&open));
        open.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            serve(inside, &egress).await;
            open.send_modify(|open| *open -= 1);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<String> {
        rules_for(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_host_is_allowed_at_the_ports_of_the_web_or_at_its_own() {
        assert_eq!(rules("example.org"), ["https example.org port 443", "http example.org port 80"]);
        assert_eq!(rules("*.example.org:8080"), ["https *.example.org port 8080", "http *.example.org port 8080"]);
        assert_eq!(rules("10.0.0.0/24")[0], "https 10.0.0.0/24 port 443");
        assert_eq!(rules("10.0.0.0/24:81")[0], "https 10.0.0.0/24 port 81");
        assert_eq!(
            (rules("::1")[0].as_str(), rules("[::1]:81")[0].as_str()),
            ("https ::1 port 443", "https ::1 port 81")
        );
    }

    #[test]
    fn what_is_no_host_is_refused_with_an_example() {
        for bad in
            ["", "exa mple.org", "https://example.org", "example.org:x", "example.org:0", "user@example.org", "127.1"]
        {
            assert!(rules_for(bad).is_err(), "{bad}");
        }
    }
}
