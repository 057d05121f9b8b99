//! Providers of language models and of what surrounds them.

use crate::rule::{Shipped, named, token};

pub(super) const RULES: &[Shipped] = &[
    token(
        "anthropic-key",
        "Anthropic API key",
        &["sk-ant-api03-[A-Za-z0-9_-]{93}AA", "sk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{80,120}"],
    )
    .bits(3.5)
    .unlike(&["sk-ant-api03-...", "sk-ant-xxxxxxxx"]),
    token(
        "anthropic-admin-key",
        "Anthropic admin or OAuth key",
        &[
            "sk-ant-admin01-[A-Za-z0-9_-]{93}AA",
            "sk-ant-oat01-[A-Za-z0-9_-]{80,120}",
            "sk-ant-ort01-[A-Za-z0-9_-]{80,120}",
            "sk-ant-sid01-[A-Za-z0-9_-]{80,120}",
        ],
    )
    .bits(3.5),
    token("openai-key", "OpenAI API key", &["sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"]).bits(3.5),
    token(
        "openai-project-key",
        "OpenAI project, service or admin key",
        &[
            "sk-proj-[A-Za-z0-9_-]{48,200}",
            "sk-svcacct-[A-Za-z0-9_-]{48,200}",
            "sk-admin-[A-Za-z0-9_-]{48,200}",
            "sk-None-[A-Za-z0-9_-]{48,200}",
        ],
    )
    .bits(3.8)
    .unlike(&["sk-proj-your-key-goes-here-and-it-is-rather-long-placeholder-text-x"]),
    token(
        "secret-key-sk",
        "API key in the `sk-` form that several model providers use",
        &["sk-[A-Za-z0-9]{48}", "sk-[a-f0-9]{32}"],
    )
    .bits(3.3),
    token("openrouter-key", "OpenRouter API key", &["sk-or-v1-[a-f0-9]{64}"]).bits(3.0),
    token(
        "huggingface-token",
        "Hugging Face token",
        &["hf_[A-Za-z]{34}", "hf_[A-Za-z0-9]{34,40}", "api_org_[A-Za-z]{34}"],
    )
    .bits(3.3),
    token("groq-key", "Groq API key", &["gsk_[A-Za-z0-9]{52}"]).bits(3.5),
    token("xai-key", "xAI API key", &["xai-[A-Za-z0-9]{80}"]).bits(3.8),
    token("perplexity-key", "Perplexity API key", &["pplx-[A-Za-z0-9]{48}", "pplx-[a-f0-9]{48}"]).bits(3.0),
    token("replicate-token", "Replicate token", &["r8_[A-Za-z0-9]{37}"]).bits(3.5),
    token(
        "langsmith-key",
        "LangSmith key",
        &["lsv2_pt_[a-f0-9]{32}_[a-f0-9]{10}", "lsv2_sk_[a-f0-9]{32}_[a-f0-9]{10}"],
    )
    .bits(3.0),
    token(
        "langfuse-key",
        "Langfuse secret key",
        &["sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"],
    )
    .bits(3.0),
    token("nvidia-key", "NVIDIA API key", &["nvapi-[A-Za-z0-9_-]{64}"]).bits(3.8),
    token("pinecone-key", "Pinecone API key", &["pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}"]).bits(3.5),
    token(
        "tavily-key",
        "Tavily API key",
        &["tvly-[A-Za-z0-9]{32}", "tvly-dev-[A-Za-z0-9]{32}", "tvly-prod-[A-Za-z0-9]{32}"],
    )
    .bits(3.3),
    token("firecrawl-key", "Firecrawl API key", &["fc-[a-f0-9]{32}"]).bits(3.0),
    token("fireworks-key", "Fireworks API key", &["fw_[A-Za-z0-9]{22,24}"]).bits(3.3),
    token("cerebras-key", "Cerebras API key", &["csk-[a-z0-9]{48}"]).bits(3.5),
    token("elevenlabs-key", "ElevenLabs API key", &["sk_[a-f0-9]{48}"]).bits(3.0),
    token("weights-and-biases-key", "Weights & Biases key", &["wandb_v1_[A-Za-z0-9_]{60,100}"]).bits(3.5),
    named("wandb-key", "Weights & Biases key", &["wandb"], &["[a-f0-9]{40}"]).bits(3.0),
    named("mistral-key", "Mistral API key", &["mistral"], &["[A-Za-z0-9]{32}"]).bits(3.5),
    named("cohere-key", "Cohere API key", &["cohere", "co_api_key"], &["[A-Za-z0-9]{40}"]).bits(3.5),
    named("together-key", "Together API key", &["together"], &["[a-f0-9]{64}"]).bits(3.0),
    named("deepseek-key", "DeepSeek API key", &["deepseek"], &["sk-[a-f0-9]{32}"]).bits(3.0),
    named(
        "ai21-key",
        "AI21 or AssemblyAI key",
        &["ai21", "assemblyai", "deepgram", "stability"],
        &["[A-Za-z0-9]{32,40}", "sk-[A-Za-z0-9]{48}"],
    )
    .bits(3.3),
    token("cursor-key", "key of a coding assistant", &["crsr_[a-f0-9]{64}", "key_[a-f0-9]{64}"]).bits(3.0),
];
