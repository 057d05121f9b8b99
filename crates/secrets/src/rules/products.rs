//! Products of all kinds.

use crate::rule::{Shipped, named, token};

const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

pub(super) const RULES: &[Shipped] = &[
    token("adobe-secret", "Adobe client secret", &["p8e-[A-Za-z0-9_-]{32}", "p8e-[A-Za-z0-9]{32}"]).bits(3.3),
    named("adobe-client-id", "Adobe or Adafruit key", &["adobe", "adafruit"], &["[a-f0-9]{32}", "[a-z0-9_-]{32}"])
        .bits(3.0),
    token("adafruit-key", "Adafruit IO key", &["aio_[A-Za-z0-9]{28}"]).bits(3.3),
    token("beamer-token", "Beamer token", &["b_[A-Za-z0-9=_-]{44}"]).bits(4.0),
    token(
        "dropbox-token",
        "Dropbox token",
        &["sl.[A-Za-z0-9_=-]{130,160}", "sl.u.[A-Za-z0-9_-]{130,1500}", "sl.B[A-Za-z0-9_-]{130,1500}"],
    )
    .bits(4.0),
    named(
        "dropbox-secret",
        "Dropbox secret",
        &["dropbox"],
        &["[a-z0-9]{15}", "[a-z0-9]{11}AAAAAAAAAA[A-Za-z0-9_=-]{43}", "sl.[A-Za-z0-9_=-]{135}"],
    )
    .bits(3.0),
    token("frameio-token", "Frame.io token", &["fio-u-[A-Za-z0-9=_-]{64}"]).bits(3.8),
    token("typeform-token", "Typeform token", &["tfp_[A-Za-z0-9_.=-]{40,64}"]).bits(3.5),
    token(
        "mapbox-token",
        "Mapbox token",
        &["sk.eyJ1[A-Za-z0-9_-]{60,120}.[A-Za-z0-9_-]{22}", "pk.[A-Za-z0-9]{60}.[A-Za-z0-9]{22}"],
    )
    .bits(3.5),
    named("asana-secret", "Asana secret", &["asana"], &["[a-z0-9]{32}", "[0-9]{16}"]).bits(2.8),
    token("trello-token", "Trello token", &["ATTA[a-f0-9]{72}"]).bits(3.0),
    named("trello-key", "Trello key", &["trello"], &["[A-Za-z0-9]{32}", "[a-f0-9]{64}"]).bits(3.0),
    token("clickup-token", "ClickUp token", &["pk_[0-9]{6,9}_[A-Z0-9]{32}"]).bits(3.3),
    token("shortcut-token", "Shortcut token", &["sct_rw_[A-Za-z0-9]{30,50}_[A-Za-z0-9]{30,50}"]).bits(3.5),
    token(
        "zapier-webhook",
        "Zapier or IFTTT webhook address",
        &["hooks.zapier.com/hooks/catch/<[0-9]{4,10}/[a-z0-9]{5,10}>", "maker.ifttt.com/use/<[A-Za-z0-9_-]{20,45}>"],
    )
    .bits(2.8),
    named(
        "zendesk-token",
        "Zendesk or Freshdesk token",
        &["zendesk", "freshdesk", "freshbooks", "intercom"],
        &["[A-Za-z0-9]{40}", "[A-Za-z0-9=_-]{60}", "[a-z0-9]{64}", "[A-Za-z0-9]{20}"],
    )
    .bits(3.0),
    named(
        "squarespace-token",
        "key of a shop or site builder",
        &["squarespace", "etsy", "flickr", "nytimes", "bigcommerce", "wix"],
        &[UUID, "[a-z0-9]{24}", "[a-z0-9]{32}", "[A-Za-z0-9=_-]{32}"],
    )
    .bits(3.0),
    token("rapidapi-key", "RapidAPI key", &["[a-f0-9]{10}msh[a-f0-9]{15}p1[a-f0-9]{5}jsn[a-f0-9]{12}"]).bits(3.0),
    token("maxmind-key", "MaxMind licence key", &["[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"]).bits(3.5),
    token("lichess-token", "Lichess token", &["lip_[A-Za-z0-9]{20,24}"]).bits(3.3),
    token("intra42-secret", "42 intra secret", &["s-s4t2ud-[a-f0-9]{64}", "s-s4t2af-[a-f0-9]{64}"]).bits(3.0),
    token(
        "sidekiq-secret",
        "Sidekiq credentials",
        &[
            "BUNDLE_ENTERPRISE__CONTRIBSYS__COM=<[a-f0-9]{8}:[a-f0-9]{8}>",
            "BUNDLE_GEMS__CONTRIBSYS__COM=<[a-f0-9]{8}:[a-f0-9]{8}>",
        ],
    )
    .bits(2.5),
    token(
        "private-jwk",
        "private part of a JSON web key",
        &["\"d\":\"<[A-Za-z0-9_-]{40,}>", "\"d\": \"<[A-Za-z0-9_-]{40,}>"],
    )
    .bits(4.0),
    token(
        "paddle-key",
        "Paddle or Polar key",
        &["polar_oat_[A-Za-z0-9]{30,50}", "pdl_live_apikey_[A-Za-z0-9_]{40,80}", "pdl_sdbx_apikey_[A-Za-z0-9_]{40,80}"],
    )
    .bits(3.3),
    token("sanity-token", "Sanity token", &["skR[A-Za-z0-9]{100,200}"]).bits(4.0),
    token(
        "tines-webhook",
        "Tines or Make webhook address",
        &[
            "tines.com/webhook/<[a-z0-9]{32}/[a-z0-9]{32}>",
            "hook.eu1.make.com/<[a-z0-9]{32}>",
            "hook.us1.make.com/<[a-z0-9]{32}>",
            "hook.integromat.com/<[a-z0-9]{32}>",
        ],
    )
    .bits(3.0),
];
