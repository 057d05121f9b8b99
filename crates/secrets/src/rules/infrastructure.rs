//! What holds infrastructure together: vaults, provisioning, clusters, networks, encryption.

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "vault-token",
        "HashiCorp Vault token",
        &[
            "hvs.[A-Za-z0-9_-]{90,120}",
            "hvs.[A-Za-z0-9_-]{24,80}",
            "hvb.[A-Za-z0-9_-]{138,300}",
            "hvr.[A-Za-z0-9_-]{90,120}",
        ],
    )
    .bits(3.3),
    token(
        "vault-old-token",
        "HashiCorp Vault token",
        &[
            "Token: <s.[A-Za-z0-9]{24}>",
            "TOKEN=<s.[A-Za-z0-9]{24}>",
            "token=<s.[A-Za-z0-9]{24}>",
            "token: <s.[A-Za-z0-9]{24}>",
        ],
    )
    .bits(3.5),
    token("terraform-token", "HCP Terraform token", &["[A-Za-z0-9]{14}.atlasv1.[A-Za-z0-9_=-]{60,70}"]).bits(3.8),
    token("pulumi-token", "Pulumi token", &["pul-[a-f0-9]{40}"]).bits(3.0),
    token(
        "doppler-token",
        "Doppler token",
        &[
            "dp.pt.[A-Za-z0-9]{43}",
            "dp.st.[A-Za-z0-9_.-]{40,60}",
            "dp.ct.[A-Za-z0-9]{40,44}",
            "dp.sa.[A-Za-z0-9]{40,44}",
            "dp.scim.[A-Za-z0-9]{40,44}",
            "dp.audit.[A-Za-z0-9]{40,44}",
        ],
    )
    .bits(3.5),
    token("infisical-token", "Infisical token", &["st.[a-f0-9]{24}.[a-f0-9]{32}.[a-f0-9]{32}"]).bits(3.0),
    token(
        "1password-token",
        "1Password service account or secret key",
        &[
            "ops_eyJ[A-Za-z0-9+/=_-]{250,}",
            "A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
            "A3-[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
        ],
    )
    .bits(3.3),
    token(
        "age-key",
        "age secret key",
        &[
            "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
            "AGE-SECRET-KEY-PQ-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
        ],
    )
    .bits(3.5),
    token(
        "tailscale-key",
        "Tailscale key",
        &[
            "tskey-auth-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}",
            "tskey-api-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}",
            "tskey-client-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}",
            "tskey-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,40}",
        ],
    )
    .bits(3.3),
    token("ngrok-token", "ngrok token", &["cr_[A-Za-z0-9]{28,32}", "ak_[A-Za-z0-9]{27,29}"]).bits(3.8),
    named(
        "ngrok-auth",
        "ngrok auth token",
        &["ngrok"],
        &["[0-9][A-Za-z0-9]{26}_[A-Za-z0-9]{20,24}", "[A-Za-z0-9]{48,50}"],
    )
    .bits(3.5),
    token("defined-networking-token", "Defined Networking token", &["dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"])
        .bits(3.3),
    token(
        "wireguard-key",
        "WireGuard private key",
        &[
            "PrivateKey = <[A-Za-z0-9+/]{43}=>",
            "PrivateKey=<[A-Za-z0-9+/]{43}=>",
            "PresharedKey = <[A-Za-z0-9+/]{43}=>",
        ],
    )
    .bits(3.8),
    token(
        "kubernetes-bootstrap-token",
        "Kubernetes bootstrap or kubeadm token",
        &["--token <[a-z0-9]{6}.[a-z0-9]{16}>", "--token=<[a-z0-9]{6}.[a-z0-9]{16}>"],
    )
    .bits(3.0),
    token(
        "kubeconfig-key",
        "client key in a kubeconfig",
        &["client-key-data: <[A-Za-z0-9+/=]{100,}>", "client-key-data: \"<[A-Za-z0-9+/=]{100,}>"],
    )
    .bits(4.0),
    token("openshift-token", "OpenShift token", &["sha256~[A-Za-z0-9_-]{43}"]).bits(3.8),
    token(
        "rancher-token",
        "Rancher token",
        &["token-[a-z0-9]{5}:[a-z0-9]{54}", "K10[a-f0-9]{64}::server:[a-f0-9]{32}"],
    )
    .bits(3.5),
    token(
        "hashicorp-acl-token",
        "Nomad or Consul token",
        &[
            "X-Nomad-Token: <[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}>",
            "X-Consul-Token: <[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}>",
        ],
    )
    .bits(3.0),
    token(
        "notion-token",
        "Notion or Linear token",
        &["secret_[A-Za-z0-9]{43}", "ntn_[A-Za-z0-9]{46}", "lin_api_[A-Za-z0-9]{40}", "lin_oauth_[a-f0-9]{64}"],
    )
    .bits(3.3),
    token("placet-token", "Placet token", &["plc_[A-Za-z0-9_-]{32,64}"]).bits(3.3),
];
