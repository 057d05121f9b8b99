//! A receiver of signed messages (standard-webhooks): whatever reads them knows from whom they are, and by their id which it has seen.
//!
//! It gets what a chat gets, in words that were made harmless, and nothing that a chat does not get.

use placet_dial::{Dialer, TargetUrl};
use placet_domain::canonical;
use serde_json::json;

use super::channel::Told;
use super::{Message, plain, words};
use crate::webhook::{Attempt, Delivered, HookSecret, post_signed};

/// Where messages are sent, and the secret that both sides share.
#[derive(Debug, Clone)]
pub struct SignedHook {
    url: TargetUrl,
    secret: HookSecret,
    dialer: Dialer,
}

impl SignedHook {
    pub const fn new(url: TargetUrl, secret: HookSecret, dialer: Dialer) -> Self {
        Self { url, secret, dialer }
    }

    /// Without the path, which is a secret with some receivers.
    pub fn address(&self) -> String {
        self.url.to_string()
    }

    pub(super) async fn send(&self, message: &Message, unix_ms: i64) -> Told {
        let (id, body) = (message.plain_id(), body(message, unix_ms));
        let attempt = Attempt { id: &id, unix_s: unix_ms.div_euclid(1_000), body: &body };
        match post_signed(&self.dialer, &self.url, &self.secret, attempt).await {
            Delivered::Yes => Told::Yes,
            Delivered::NotYet(why) => Told::NotYet(why),
            Delivered::Gone => Told::NotYet("the receiver says that there is nobody any more (410)".to_owned()),
        }
    }
}

fn body(message: &Message, unix_ms: i64) -> Vec<u8> {
    let clean = |text: &String| plain::without_secrets(text);
    let lines: Vec<_> = message
        .lines
        .iter()
        .map(|line| {
            let details: Vec<String> = line.details.iter().map(clean).collect();
            json!({ "text": clean(&line.text), "details": details, "link": line.link })
        })
        .collect();
    let data = json!({ "subject": clean(&message.subject), "lines": lines });
    canonical::to_bytes(&json!({ "type": "notice", "timestamp": words::instant(unix_ms), "data": data }))
}

#[cfg(test)]
mod tests {
    use placet_lang::Lang;
    use serde_json::Value;

    use super::super::NoticeKind;
    use super::super::message::tests::{framing, hostile, item};
    use super::*;

    fn told(message: &Message) -> Value {
        serde_json::from_slice(&body(message, 1_769_851_800_000)).unwrap()
    }

    #[test]
    fn b4_a_receiver_gets_what_waits_and_the_link_to_the_decision() {
        let told = told(&Message::of(&[item(1, NoticeKind::Action)], &[], framing(Lang::En)));
        assert_eq!((&told["type"], &told["timestamp"]), (&json!("notice"), &json!("2026-01-31T09:30:00Z")));
        assert_eq!(told["data"]["subject"], "Placet: 1 decision waits");
        assert_eq!(told["data"]["lines"][0]["link"], "http://127.0.0.1:7070/actions/act_1");
    }

    #[test]
    fn r5_words_of_others_are_as_harmless_in_a_signed_message() {
        let whole = told(&Message::of(&hostile(), &[], framing(Lang::Fr))).to_string();
        for obeyed in ["<!", "<@", "@channel", "](", "http://evil", "https://evil", "<script", "\u{202e}"] {
            assert!(!whole.contains(obeyed), "`{obeyed}` in {whole}");
        }
    }

    #[test]
    fn b12_neither_the_path_nor_the_secret_of_a_receiver_is_shown() {
        let url = "https://hooks.example/services/canary".parse().unwrap();
        let secret = ["whsec_", "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw"].concat().parse().unwrap();
        let hook = SignedHook::new(url, secret, Dialer::new(None, vec![]).unwrap());
        let shown = format!("{hook:?} {}", hook.address());
        assert!(!shown.contains("canary") && !shown.contains("MfKQ"), "{shown}");
    }
}
