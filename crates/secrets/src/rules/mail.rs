//! Mail, text messages and telephony: whoever has one of these can write to customers.

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token("twilio-key", "Twilio API key", &["SK[0-9a-f]{32}"])
        .bits(3.0)
        .unlike(&["SK00000000000000000000000000000000"]),
    named("twilio-auth-token", "Twilio auth token", &["twilio"], &["[0-9a-f]{32}", "[A-Za-z0-9]{32}"]).bits(3.0),
    token("sendgrid-key", "SendGrid API key", &["SG.[A-Za-z0-9_-]{22}.[A-Za-z0-9_-]{43}", "SG.[A-Za-z0-9=_.-]{66}"])
        .bits(3.5),
    token("mailgun-key", "Mailgun key", &["key-[a-f0-9]{32}", "pubkey-[a-f0-9]{32}"]).bits(3.0),
    named(
        "mailgun-secret",
        "Mailgun key",
        &["mailgun"],
        &["[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}", "[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}"],
    )
    .bits(3.0),
    token("mailchimp-key", "Mailchimp API key", &["[0-9a-f]{32}-us[0-9]{1,2}"]).bits(3.0),
    token("mandrill-key", "Mandrill key", &["md-[A-Za-z0-9_-]{22}"]).bits(3.5),
    token(
        "brevo-key",
        "Brevo API key",
        &["xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", "xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}"],
    )
    .bits(3.0),
    token("resend-key", "Resend API key", &["re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "re_[A-Za-z0-9]{32,36}"]).bits(3.3),
    token("mailersend-token", "MailerSend token", &["mlsn.[a-f0-9]{64}"]).bits(3.0),
    token("klaviyo-key", "Klaviyo private key", &["pk_[a-f0-9]{34}"]).bits(3.0),
    named(
        "postmark-token",
        "Postmark token",
        &["postmark"],
        &["[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    ),
    named(
        "sparkpost-key",
        "SparkPost, Mailjet or Nexmo key",
        &["sparkpost", "mailjet", "nexmo", "vonage", "plivo", "messagebird", "clickatell"],
        &["[a-f0-9]{40}", "[a-f0-9]{32}", "[A-Za-z0-9]{16}", "[A-Za-z0-9]{25}"],
    )
    .bits(3.0),
    named(
        "sendbird-secret",
        "key of a messaging service",
        &["sendbird", "pusher", "ably", "pubnub", "onesignal"],
        &["[a-f0-9]{40}", "[a-f0-9]{20}", "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    )
    .bits(3.0),
    token(
        "pubnub-key",
        "PubNub key",
        &[
            "sub-c-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "sec-c-[A-Za-z0-9]{48}",
            "pub-c-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ],
    )
    .bits(3.0),
];
