//! GRANTS: while an action with a way out is under way, its wishes go to the control plane, and what a person grants or takes
//! back is open or closed at once. It decides nothing, and opens nothing that was not signed for this very attempt.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use placet_domain::id::ActionId;
use placet_domain::permit::{PermitVerifier, Slip};
use placet_domain::proposal::{Method, Opening};
use placet_domain::time::Timestamp;
use placet_egress::rules::{Rule, Speaks};
use placet_egress::{Rules, Wish};
use placet_wire::ClientError;
use placet_wire::api::NetworkQuery;
use placet_wire::endpoint::UpdateNetwork;

use crate::lease::{POLL, RETRY, Worker};
use crate::report;
use crate::way_out::{WayOut, Wishes};

/// One attempt at an action, which slips must be for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) action: ActionId,
    pub(crate) number: u32,
}

/// Until it is dropped, or the attempt is over.
pub(crate) async fn follow(worker: Worker, attempt: Attempt, way_out: WayOut, mut wishes: Wishes) {
    let mut known = Known::default();
    loop {
        let query = NetworkQuery {
            attempt: attempt.number,
            seen: known.seen,
            wishes: known.untold.clone(),
            wait_ms: u64::try_from(POLL.as_millis()).unwrap_or(u64::MAX),
        };
        let answer = tokio::select! {
            answer = worker.config.client.post(UpdateNetwork { action: attempt.action }, &query) => answer,
            // Asked again with it: what was told already is not asked about twice.
            Some(wish) = wishes.recv() => {
                known.untold.extend(opening_for(&wish));
                continue;
            }
        };
        match answer {
            Ok(view) => {
                (known.seen, known.untold) = (Some(view.seen), Vec::new());
                if let Some(slip) = known.newer(&worker.config.verifier, attempt, &view.slip) {
                    way_out.open_also(rules(&slip, now()));
                }
            }
            Err(ClientError::Refused(problem)) if !report::is_temporary(&problem) => {
                // Nobody would say any more when it is taken back.
                way_out.open_also(Rules::default());
                return;
            }
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}

#[derive(Debug, Default)]
struct Known {
    seen: Option<placet_domain::digest::Digest>,
    issued_at: Option<Timestamp>,
    untold: Vec<Opening>,
}

impl Known {
    /// The slip, if it is ours, for this attempt, and not older than what counts already.
    fn newer(&mut self, verifier: &PermitVerifier, attempt: Attempt, token: &str) -> Option<Slip> {
        let slip = match verifier.check_slip(token) {
            Ok(slip) => slip,
            Err(flaw) => {
                tracing::warn!(action = %attempt.action, %flaw, "what is granted was not signed as it should be; ignored");
                return None;
            }
        };
        let fits = slip.action == attempt.action && slip.attempt == attempt.number;
        if !fits || self.issued_at.is_some_and(|last| slip.issued_at < last) {
            return None;
        }
        self.issued_at = Some(slip.issued_at);
        Some(slip)
    }
}

/// Where hardly anybody speaks TLS.
const PLAIN_PORTS: [u16; 5] = [80, 3000, 8000, 8008, 8080];

/// What a person would have to open: the address itself in the language that was spoken, and of requests that were seen the method.
///
/// A tunnel that was refused before anything was said is taken for what its port is usual for. Where that was wrong, what is said in
/// it once it is open is the next wish. TLS of a host that the cage was not prepared for can be opened as a tunnel only.
fn opening_for(wish: &Wish) -> Option<Opening> {
    let usual = if PLAIN_PORTS.contains(&wish.to.port()) { Speaks::Http } else { Speaks::Https };
    let at = |scheme: &str| format!("{scheme}://{}/", wish.to).parse().ok();
    let methods: BTreeSet<Method> = wish.method.iter().cloned().collect();
    match wish.spoken.unwrap_or(usual) {
        Speaks::Http => Opening::new(at("http")?, methods).ok(),
        Speaks::Https if methods.is_empty() => Opening::unseen(at("https")?).ok(),
        Speaks::Https => Opening::new(at("https")?, methods).ok(),
        // No opening says it.
        Speaks::Tcp => None,
    }
}

/// Each until its own end, by this clock, and cut then.
fn rules(slip: &Slip, now: Timestamp) -> Rules {
    let granted = slip.grants.iter().flat_map(|granted| {
        let until = now.plus_ms(granted.left_ms);
        Rules::for_openings([&granted.opening]).allow.into_iter().map(move |rule: Rule| rule.cut_at(until))
    });
    Rules { allow: granted.collect() }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use placet_domain::permit::{Granted, PermitSigner};

    use super::*;

    fn attempt() -> Attempt {
        Attempt { action: ActionId::from_uuid(uuid::Uuid::from_u128(1)), number: 2 }
    }

    fn slip(issued_at: i64) -> Slip {
        let grants = vec![Granted { opening: "GET http://example.org/".parse().unwrap(), left_ms: 500 }];
        let (action, attempt) = (attempt().action, attempt().number);
        Slip { action, attempt, issued_at: Timestamp::from_unix_ms(issued_at), grants }
    }

    #[test]
    fn a_slip_that_is_forged_of_another_attempt_or_older_opens_nothing() {
        let (ours, other) = (PermitSigner::from_seed(&[1; 32]), PermitSigner::from_seed(&[2; 32]));
        let (mut known, verifier) = (Known::default(), ours.verifier());
        assert!(known.newer(&verifier, attempt(), &other.sign_slip(&slip(5))).is_none());
        let elsewhere = Slip { attempt: 1, ..slip(5) };
        assert!(known.newer(&verifier, attempt(), &ours.sign_slip(&elsewhere)).is_none());
        assert!(known.newer(&verifier, attempt(), &ours.sign_slip(&slip(5))).is_some());
        assert!(known.newer(&verifier, attempt(), &ours.sign_slip(&slip(4))).is_none(), "taken back meanwhile");
    }

    #[test]
    fn a_grant_is_one_address_with_its_method_and_its_end() {
        let rules = rules(&slip(5), Timestamp::from_unix_ms(1_000));
        let lines: Vec<String> = rules.allow.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["http example.org port 80 methods GET until 1500 then cut"]);
    }

    #[test]
    fn c5_a_wish_is_for_what_was_really_spoken_so_that_a_yes_helps() {
        let opening = |to: &str, spoken, method: Option<&str>| {
            let (to, method) = (to.parse().unwrap(), method.map(|method| method.parse().unwrap()));
            opening_for(&Wish { to, method, spoken }).map_or_else(String::new, |opening| opening.to_string())
        };
        let (http, https) = (Some(Speaks::Http), Some(Speaks::Https));
        assert_eq!(opening("a.test:80", http, Some("POST")), "POST http://a.test:80/");
        assert_eq!(opening("a.test:9000", http, None), "http://a.test:9000/", "plain, in a tunnel");
        assert_eq!(opening("a.test:443", https, Some("POST")), "POST https://a.test:443/", "seen inside of TLS");
        assert_eq!(opening("a.test:80", https, None), "unseen https://a.test:80/");
        assert_eq!(opening("a.test:80", None, None), "http://a.test:80/", "by its port, before anything was said");
        assert_eq!(opening("a.test:443", None, None), "unseen https://a.test:443/");
        assert_eq!(opening("a.test:22", Some(Speaks::Tcp), None), "");
    }
}
