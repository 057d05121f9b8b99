//! Payments and exchanges.

use crate::rule::{Shipped, named, token};

const UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

pub(super) const RULES: &[Shipped] = &[
    token(
        "stripe-key",
        "Stripe secret or restricted key",
        &[
            "sk_live_[A-Za-z0-9]{10,250}",
            "sk_test_[A-Za-z0-9]{10,250}",
            "sk_prod_[A-Za-z0-9]{10,250}",
            "rk_live_[A-Za-z0-9]{10,250}",
            "rk_test_[A-Za-z0-9]{10,250}",
            "rk_prod_[A-Za-z0-9]{10,250}",
        ],
    )
    .bits(2.8)
    .unlike(&["sk_test_xxxxxxxxxxxxxxxx", "sk_live_"]),
    token("stripe-webhook-secret", "Stripe webhook secret", &["whsec_[A-Za-z0-9+/=]{24,80}"]).bits(3.3),
    token(
        "square-token",
        "Square token or secret",
        &[
            "EAAA[A-Za-z0-9_-]{60}",
            "sq0atp-[A-Za-z0-9_-]{22}",
            "sq0csp-[A-Za-z0-9_-]{43}",
            "sandbox-sq0csb-[A-Za-z0-9_-]{43}",
        ],
    )
    .bits(3.3),
    token(
        "paypal-braintree-token",
        "PayPal Braintree access token",
        &["access_token$production$[0-9a-z]{16}$[0-9a-f]{32}", "access_token$sandbox$[0-9a-z]{16}$[0-9a-f]{32}"],
    )
    .bits(3.0),
    named("paypal-secret", "PayPal secret", &["paypal"], &["E[A-Za-z0-9_-]{79}", "[A-Za-z0-9_-]{80}"]).bits(4.0),
    token(
        "adyen-key",
        "Adyen API key",
        &["AQE[A-Za-z0-9]{5,12}[A-Za-z0-9+/=]{70,}-[A-Za-z0-9+/=]{30,}-[A-Za-z0-9+/=]{8,16}"],
    )
    .bits(4.0),
    token(
        "flutterwave-key",
        "Flutterwave key",
        &[
            "FLWSECK_TEST-[a-hA-H0-9]{12,32}-X",
            "FLWSECK-[a-h0-9]{32}-X",
            "FLWSECK_TEST[a-hA-H0-9]{12}",
            "FLWSECK_TEST-[a-hA-H0-9]{32}-X",
            "FLWPUBK_TEST-[a-hA-H0-9]{32}-X",
        ],
    )
    .bits(2.5),
    token("razorpay-key", "Razorpay key id", &["rzp_live_[A-Za-z0-9]{14}", "rzp_test_[A-Za-z0-9]{14}"]).bits(3.0),
    token("gocardless-token", "GoCardless token", &["live_[A-Za-z0-9_=-]{40}"]).bits(3.8),
    token(
        "plaid-token",
        "Plaid access token",
        &[
            "access-sandbox-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "access-development-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "access-production-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ],
    )
    .bits(3.0),
    named("plaid-secret", "Plaid client id or secret", &["plaid"], &["[a-f0-9]{30}", "[a-z0-9]{24}"]).bits(3.0),
    token(
        "shopify-token",
        "Shopify token or secret",
        &[
            "shpat_[a-fA-F0-9]{32}",
            "shpca_[a-fA-F0-9]{32}",
            "shppa_[a-fA-F0-9]{32}",
            "shpss_[a-fA-F0-9]{32}",
            "shptka_[a-fA-F0-9]{32}",
            "shpua_[a-fA-F0-9]{32}",
        ],
    )
    .bits(3.0),
    token("coinbase-key", "Coinbase key", &["organizations/<[0-9a-f-]{36}/apiKeys/[0-9a-f-]{36}>"]).bits(3.0),
    named("coinbase-secret", "Coinbase token", &["coinbase"], &["[A-Za-z0-9_-]{64}", "[A-Za-z0-9]{32}"]).bits(3.5),
    named(
        "kraken-secret",
        "key of an exchange",
        &["kraken", "bittrex", "kucoin", "binance", "bybit", "okx"],
        &["[A-Za-z0-9/=_+-]{80,90}", "[a-z0-9]{32}", "[a-f0-9]{24}", "[A-Za-z0-9]{64}", UUID],
    )
    .bits(3.0),
    named(
        "finicity-key",
        "key of a provider of financial data",
        &["finicity", "finnhub", "quandl", "alphavantage"],
        &["[a-f0-9]{32}", "[A-Za-z0-9]{20}"],
    )
    .bits(3.0),
    token("duffel-token", "Duffel token", &["duffel_test_[A-Za-z0-9_=-]{43}", "duffel_live_[A-Za-z0-9_=-]{43}"])
        .bits(3.5),
    token("easypost-token", "EasyPost key", &["EZAK[A-Za-z0-9]{54}", "EZTK[A-Za-z0-9]{54}"]).bits(3.5),
    token("shippo-token", "Shippo token", &["shippo_live_[a-fA-F0-9]{40}", "shippo_test_[a-fA-F0-9]{40}"]).bits(3.0),
    token(
        "lob-key",
        "Lob key",
        &["live_[a-f0-9]{35}", "test_[a-f0-9]{35}", "test_pub_[a-f0-9]{31}", "live_pub_[a-f0-9]{31}"],
    )
    .bits(3.0),
    token("mollie-key", "Mollie key", &["live_[A-Za-z0-9]{30}", "test_[A-Za-z0-9]{30}"]).bits(3.5),
];
