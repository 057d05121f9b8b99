//! Chat: whoever has one of these can read along and speak for somebody.

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "slack-token",
        "Slack token",
        &[
            "xoxb-[0-9]{8,14}-[0-9]{8,14}-[A-Za-z0-9]{18,26}", "xoxb-[0-9]{8,14}-[A-Za-z0-9]{18,26}", "xoxp-[0-9]{8,14}-[0-9]{8,14}-[0-9]{8,14}-[A-Za-z0-9]{28,34}", "xoxp-[0-9]{8,14}-[0-9]{8,14}-[A-Za-z0-9]{20,34}", "xoxe.xoxp-1-[A-Za-z0-9]{140,180}", "xoxe.xoxb-1-[A-Za-z0-9]{140,180}", "xoxe-1-[A-Za-z0-9]{140,180}",
            "xoxa-2-[A-Za-z0-9-]{10,120}", "xoxa-[0-9]{8,14}-[A-Za-z0-9-]{10,100}", "xoxr-[0-9]{8,14}-[A-Za-z0-9-]{10,100}", "xoxo-[0-9]{8,14}-[A-Za-z0-9-]{10,100}", "xoxs-[0-9]{8,14}-[0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{10,64}", "xoxc-[0-9]{8,14}-[0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{64}", "xoxd-[A-Za-z0-9%+/=]{40,250}",
        ],
    )
    .bits(2.8)
    .unlike(&["xoxb-not-a-token", "xoxb-xxxxxxxxxxx-xxxxxxxx"]),
    token("slack-app-token", "Slack app token", &["xapp-[0-9]-[A-Z0-9]{8,13}-[0-9]{8,14}-[a-f0-9]{32,64}"]).bits(3.0),
    token("slack-webhook", "Slack webhook address", &["hooks.slack.com/services/<T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{20,26}>", "hooks.slack.com/workflows/<T[A-Z0-9]{6,12}/A[A-Z0-9]{6,12}/[0-9]{15,20}/[A-Za-z0-9]{20,26}>", "hooks.slack.com/triggers/<[TE][A-Z0-9]{6,12}/[0-9]{10,16}/[a-f0-9]{32}>"])
        .bits(3.0)
        .unlike(&["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"]),
    token("discord-webhook", "Discord webhook address", &["discord.com/api/webhooks/<[0-9]{17,20}/[A-Za-z0-9_-]{60,72}>", "discordapp.com/api/webhooks/<[0-9]{17,20}/[A-Za-z0-9_-]{60,72}>"]).bits(3.5),
    token("discord-bot-token", "Discord bot token", &["mfa.[A-Za-z0-9_-]{84}", "Bot <[MNO][A-Za-z0-9_-]{23,27}.[A-Za-z0-9_-]{6}.[A-Za-z0-9_-]{27,38}>"]).bits(4.0),
    named("discord-secret", "Discord token or secret", &["discord"], &["[MNO][A-Za-z0-9_-]{23,27}.[A-Za-z0-9_-]{6}.[A-Za-z0-9_-]{27,38}", "[A-Za-z0-9_-]{32}", "[a-f0-9]{64}"]).bits(3.3),
    token("telegram-bot-token", "Telegram bot token", &["[0-9]{7,11}:AA[A-Za-z0-9_-]{32,33}"]).bits(3.5),
    token("teams-webhook", "Microsoft Teams webhook address", &[".webhook.office.com/webhookb2/<[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[a-zA-Z0-9]{32}/[0-9a-f-]{36}>", "outlook.office.com/webhook/<[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[a-zA-Z0-9]{32}/[0-9a-f-]{36}>"]).bits(3.0),
    token("google-chat-webhook", "Google Chat webhook address", &["chat.googleapis.com/v1/spaces/<[A-Za-z0-9_-]{8,16}/messages?key=[A-Za-z0-9_-]{39}&token=[A-Za-z0-9_%-]{40,60}>"]).bits(3.5),
    named("mattermost-token", "Mattermost token", &["mattermost"], &["[a-z0-9]{26}"]).bits(3.3),
    named("rocketchat-token", "Rocket.Chat or Gitter token", &["rocketchat", "gitter"], &["[A-Za-z0-9_-]{40,43}"]).bits(3.5),
    named("zoom-secret", "Zoom secret or JWT key", &["zoom"], &["[A-Za-z0-9_-]{32}", "[A-Za-z0-9_-]{36}"]).bits(3.5),
    named("twitter-secret", "X (Twitter) key or secret", &["twitter"], &["[A-Za-z0-9]{25}", "[A-Za-z0-9]{35,50}", "[0-9]{15,25}-[A-Za-z0-9]{20,40}", "[A-Za-z0-9%]{80,120}"]).bits(3.0),
    token("twitter-bearer", "X (Twitter) bearer token", &["AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{60,100}"]).bits(3.0),
    token("facebook-token", "Facebook access token", &["EAACEdEose0cBA[A-Za-z0-9]{20,}", "EAAB[A-Za-z0-9]{80,}", "EAAC[A-Za-z0-9]{80,}", "EAAG[A-Za-z0-9]{80,}", "EAAM[A-Za-z0-9]{80,}", "EAAE[A-Za-z0-9]{80,}", "EAAD[A-Za-z0-9]{80,}"]).bits(3.8),
    token("facebook-app-token", "Facebook app token", &["[0-9]{15,16}%7C[A-Za-z0-9_-]{27,40}", "EAAA[A-Z]{2}[A-Za-z0-9]{90,}"]).bits(3.3),
    named("facebook-secret", "Facebook app secret", &["facebook", "fb_app", "fbapp", "fb_secret", "instagram"], &["[a-f0-9]{32}"]).bits(3.0),
    named("linkedin-secret", "LinkedIn secret", &["linkedin", "linked_in"], &["[A-Za-z0-9]{14,16}"]).bits(3.0),
    named("line-token", "LINE channel token", &["line_channel", "linebot", "line_token"], &["[A-Za-z0-9+/=]{150,200}", "[a-f0-9]{32}"]).bits(3.0),
];
