//! A chat that takes Slack's incoming webhooks: Slack itself, Mattermost and others. The address is the secret.
//!
//! `text` is what Mattermost and previews show, `blocks` what Slack does. In blocks everything is plain text, where nothing is markup; in
//! `text` there is no character left in words of others that would be. There is no button that decides: a link leads to the page.

use placet_dial::{Dialer, TargetUrl};
use serde_json::{Value, json};

use super::channel::Told;
use super::{Message, plain};
use crate::webhook::{Delivered, judged};

/// What Slack takes for one section is 3000 characters; a line of ours is far below.
const LONGEST_SECTION: usize = 2_900;

/// A channel of a chat.
#[derive(Debug, Clone)]
pub struct Chat {
    url: TargetUrl,
    dialer: Dialer,
}

impl Chat {
    pub const fn new(url: TargetUrl, dialer: Dialer) -> Self {
        Self { url, dialer }
    }

    /// Without the path, which is a secret.
    pub fn address(&self) -> String {
        self.url.to_string()
    }

    pub(super) async fn send(&self, message: &Message) -> Told {
        let body = body(message).to_string().into_bytes();
        match self.dialer.post(&self.url, &[("content-type", "application/json")], body).await {
            Ok(status) => match judged(status) {
                Delivered::Yes => Told::Yes,
                Delivered::NotYet(why) => Told::NotYet(why),
                Delivered::Gone => {
                    Told::NotYet("the chat says that there is no such webhook any more (410)".to_owned())
                }
            },
            Err(error) => Told::NotYet(error.to_string()),
        }
    }
}

fn body(message: &Message) -> Value {
    let mut blocks = vec![json!({ "type": "header", "text": plain_text(&message.subject) })];
    blocks.extend(message.lines.iter().map(|line| {
        let all: Vec<&str> =
            std::iter::once(&line.text).chain(&line.details).map(String::as_str).chain(line.link.as_deref()).collect();
        json!({ "type": "section", "text": plain_text(&all.join("\n")) })
    }));
    blocks.push(json!({ "type": "context", "elements": [plain_text(message.farewell)] }));
    // No mention is made of a name, and no picture of an address.
    json!({ "text": text(message), "blocks": blocks, "mrkdwn": false, "link_names": 0, "unfurl_links": false, "unfurl_media": false })
}

fn plain_text(text: &str) -> Value {
    let text: String = plain::without_secrets(text).chars().take(LONGEST_SECTION).collect();
    json!({ "type": "plain_text", "text": text, "emoji": false })
}

fn text(message: &Message) -> String {
    let mut lines = vec![message.subject.clone()];
    for line in &message.lines {
        lines.push(format!("• {}", line.text));
        lines.extend(line.details.iter().map(|detail| format!("   {detail}")));
        lines.extend(line.link.iter().map(|link| format!("   {link}")));
    }
    lines.push(message.farewell.to_owned());
    plain::without_secrets(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use placet_lang::Lang;

    use super::super::message::tests::{framing, hostile, item};
    use super::super::{Message, NoticeKind};
    use super::*;

    #[test]
    fn b4_a_chat_gets_text_and_blocks_with_the_link() {
        let told = body(&Message::of(&[item(1, NoticeKind::Action)], &[], framing(Lang::En)));
        let text = told["text"].as_str().unwrap();
        assert!(text.contains("nmap waits") && text.contains("http://127.0.0.1:7070/actions/act_1"), "{text}");
        assert_eq!(told["blocks"][0]["type"], "header");
        assert_eq!(told["blocks"][1]["text"]["type"], "plain_text");
    }

    #[test]
    fn r5_no_words_of_others_mention_anybody_or_become_markup_in_a_chat() {
        let told = body(&Message::of(&hostile(), &[], framing(Lang::Fr)));
        let whole = told.to_string();
        for obeyed in ["<!", "<@", "@channel", "@here", "](", "evil.example|", "http://evil", "https://evil", "```"] {
            assert!(!whole.contains(obeyed), "`{obeyed}` in {whole}");
        }
        let sections = told["blocks"].as_array().unwrap();
        assert!(sections.iter().all(|block| block["text"]["type"] != "mrkdwn"), "{whole}");
    }

    #[test]
    fn b12_the_address_of_a_chat_is_never_shown() {
        let url = "https://hooks.example/services/T0/canary".parse().unwrap();
        let chat = Chat::new(url, Dialer::new(None, vec![]).unwrap());
        assert!(!format!("{chat:?} {}", chat.address()).contains("canary"));
    }
}
