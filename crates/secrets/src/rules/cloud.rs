//! Clouds: whoever has one of these can spend money and read data.

use crate::rule::{Check, Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "aws-access-key",
        "AWS access key id",
        &["AKIA[A-Z2-7]{16}", "ASIA[A-Z2-7]{16}", "ABIA[A-Z2-7]{16}", "ACCA[A-Z2-7]{16}", "A3T[A-Z0-9][A-Z2-7]{16}"],
    )
    .bits(3.0)
    .unlike(&["AKIAIOSFODNN7EXAMPLE", "AKIASHORT", "XAKIAABCDEFGHIJKLMNOP"]),
    named(
        "aws-secret-key",
        "AWS secret access key",
        &[
            "secretaccesskey",
            "secret_access_key",
            "aws_secret",
            "awssecret",
            "secret_key",
            "secretkey",
            "aws_key",
            "aws.secret",
            "secret-access-key",
        ],
        &["[A-Za-z0-9+/]{40}"],
    )
    .bits(4.2)
    .unlike(&["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]),
    named(
        "aws-session-token",
        "AWS session token",
        &["session_token", "sessiontoken", "security_token"],
        &["[A-Za-z0-9+/]{100,1500}", "[A-Za-z0-9+/]{100,1500}=", "[A-Za-z0-9+/]{100,1500}=="],
    )
    .bits(4.5),
    token(
        "aws-mws-token",
        "Amazon marketplace token",
        &["amzn.mws.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    ),
    token(
        "aws-bedrock-key",
        "Amazon Bedrock API key",
        &[
            "ABSK[A-Za-z0-9+/]{109,269}",
            "ABSK[A-Za-z0-9+/]{109,269}=",
            "ABSK[A-Za-z0-9+/]{109,269}==",
            "bedrock-api-key-[A-Za-z0-9+/=]{60,}",
        ],
    )
    .bits(3.5),
    token("google-api-key", "Google API key", &["AIza[A-Za-z0-9_-]{35}"])
        .bits(3.2)
        .unlike(&["AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", "AIzaTooShort"]),
    token("google-oauth-secret", "Google OAuth client secret", &["GOCSPX-[A-Za-z0-9_-]{28}"]),
    token("google-oauth-token", "Google OAuth access token", &["ya29.[A-Za-z0-9_-]{30,}", "ya29.a0[A-Za-z0-9_-]{28,}"])
        .bits(3.5),
    token("google-refresh-token", "Google OAuth refresh token", &["1//0[A-Za-z0-9_-]{40,120}"]).bits(3.5),
    token(
        "azure-storage-key",
        "key of an Azure storage, Cosmos or Batch account",
        &["AccountKey=<[A-Za-z0-9+/]{86}==>", "accountKey=<[A-Za-z0-9+/]{86}==>"],
    )
    .bits(4.0),
    token("azure-client-secret", "Azure application secret", &["[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"])
        .bits(3.3),
    token("azure-shared-key", "shared access key of an Azure service", &["SharedAccessKey=<[A-Za-z0-9+/]{43}=>"])
        .bits(3.8),
    token(
        "azure-sas-signature",
        "signature of an Azure shared access address",
        &["&sig=<[A-Za-z0-9]{20,44}%[A-Za-z0-9%]{2,40}>", "&sig=<[A-Za-z0-9/+]{43}=>"],
    )
    .bits(3.8),
    token("azure-devops-token", "Azure DevOps personal access token", &["[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"]).bits(3.8),
    token(
        "azure-function-key",
        "key of an Azure function, search or container registry",
        &[
            "[A-Za-z0-9_-]{42,44}AzFu[A-Za-z0-9_=-]{6,10}",
            "[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{5,6}",
            "[A-Za-z0-9+/]{42}\\+ACR[A-Za-z0-9]{6}",
        ],
    )
    .bits(3.6),
    token(
        "digitalocean-token",
        "DigitalOcean token",
        &["dop_v1_[a-f0-9]{64}", "doo_v1_[a-f0-9]{64}", "dor_v1_[a-f0-9]{64}"],
    )
    .unlike(&["dop_v1_0000000000000000000000000000000000000000000000000000000000000000"]),
    token("digitalocean-spaces-key", "DigitalOcean Spaces access key", &["DO00[A-Z0-9]{16}", "DO801[A-Z0-9]{15}"])
        .bits(3.0),
    token(
        "alibaba-access-key",
        "Alibaba Cloud access key id",
        &["LTAI[A-Za-z0-9]{20}", "LTAI[A-Za-z0-9]{16}", "LTAI[A-Za-z0-9]{12}"],
    )
    .bits(3.0),
    named("alibaba-secret", "Alibaba Cloud secret", &["alibaba", "aliyun"], &["[A-Za-z0-9]{30}"]).bits(3.5),
    token("tencent-secret-id", "Tencent Cloud secret id", &["AKID[A-Za-z0-9]{32}"]).bits(3.5),
    token("ibm-api-key", "IBM Cloud API key", &["ibm_[A-Za-z0-9_-]{44}"]).bits(3.8),
    named("ibm-cloud-key", "IBM Cloud API key", &["ibm", "bluemix"], &["[A-Za-z0-9_-]{44}"]).bits(4.0),
    token(
        "yandex-key",
        "Yandex Cloud key",
        &[
            "AQVN[A-Za-z0-9_-]{35,38}",
            "YCAJE[A-Za-z0-9_-]{20}",
            "YC[a-zA-Z0-9]{2}_[A-Za-z0-9_-]{34}",
            "y0_[A-Za-z0-9_-]{55}",
        ],
    )
    .bits(3.3),
    token("scaleway-key", "Scaleway access key", &["SCW[A-Z][A-Z0-9]{16}"]).bits(3.0),
    named(
        "scaleway-secret",
        "Scaleway secret key",
        &["scaleway", "scw_"],
        &["[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    ),
    named(
        "cloudflare-token",
        "Cloudflare API token or key",
        &["cloudflare", "cf_api", "cf_token"],
        &["[A-Za-z0-9_-]{40}", "[a-f0-9]{37}"],
    )
    .bits(3.2),
    token(
        "cloudflare-new-token",
        "Cloudflare API token",
        &["cfut_[A-Za-z0-9]{40,60}", "cfat_[A-Za-z0-9]{40,60}", "cfk_[A-Za-z0-9]{40,60}"],
    )
    .bits(3.5),
    token("cloudflare-origin-key", "Cloudflare origin CA key", &["v1.0-[a-f0-9]{24}-[a-f0-9]{146}"]).bits(3.0),
    named("fastly-token", "Fastly API token", &["fastly"], &["[A-Za-z0-9_-]{32}"]).bits(3.5),
    named(
        "heroku-key",
        "Heroku API key",
        &["heroku"],
        &["[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"],
    ),
    token(
        "heroku-token",
        "Heroku API token",
        &["HRKU-AA[A-Za-z0-9_-]{58}", "HRKU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    )
    .bits(3.0),
    named("linode-token", "Linode token", &["linode"], &["[a-f0-9]{64}"]),
    named("vultr-key", "Vultr API key", &["vultr"], &["[A-Z0-9]{36}"]),
    named("hetzner-token", "Hetzner Cloud token", &["hetzner", "hcloud"], &["[A-Za-z0-9]{64}"]).bits(3.8),
    token(
        "flyio-token",
        "Fly.io access token",
        &[
            "fo1_[A-Za-z0-9_-]{43}",
            "FlyV1 fm2_[A-Za-z0-9+/=]{40,}",
            "fm1r_[A-Za-z0-9+/=]{60,}",
            "fm2_[A-Za-z0-9+/=]{60,}",
            "fm1a_[A-Za-z0-9+/=]{60,}",
        ],
    )
    .bits(3.5),
    token("akamai-token", "Akamai client or access token", &["akab-[a-z0-9]{16}-[a-z0-9]{16}"]).bits(3.0),
    token("render-key", "Render API key", &["rnd_[A-Za-z0-9]{24,40}"]).bits(3.3),
    named("netlify-token", "Netlify access token", &["netlify"], &["[A-Za-z0-9=_-]{40,46}"]).bits(3.5),
    token("netlify-new-token", "Netlify access token", &["nfp_[A-Za-z0-9]{36}", "nfc_[A-Za-z0-9]{36}"]).bits(3.3),
    named("vercel-token", "Vercel token", &["vercel"], &["[A-Za-z0-9]{24}"]).bits(3.5),
    token(
        "vercel-blob-token",
        "Vercel blob or API token",
        &["vercel_blob_rw_[A-Za-z0-9_]{30,60}", "vcp_[A-Za-z0-9]{50,60}"],
    )
    .bits(3.5),
    named(
        "openstack-secret",
        "OpenStack application credential",
        &["application_credential_secret", "os_password"],
        &["[A-Za-z0-9_-]{86}"],
    )
    .bits(4.0)
    .check(Check::Random),
];
