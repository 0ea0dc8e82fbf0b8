/**
 * The providers we know, as data (core.md F.1): where they are, which variables carry their key, how they are
 * spelled. A new plain Chat Completions provider is one line here. Nothing here reads settings or environment.
 */

/** The wire of a provider at its own address; other addresses may speak another. */
export type Flavour =
  | "chat_completions"
  | "codex_responses"
  | "anthropic_messages"
  /** Known by name, but its wire or its login is not spoken yet. */
  | "unsupported";

export interface ProviderRow {
  readonly id: string;
  readonly label: string;
  readonly baseUrl: string;
  /** Environment names that override `baseUrl`. */
  readonly urlEnv: readonly string[];
  /** Environment names of the key; the first that is set wins. */
  readonly keyEnv: readonly string[];
  readonly flavour: Flavour;
  /** Model ids are `vendor/model`. */
  readonly isAggregator: boolean;
  /** Works without a key (servers on the user's own machine). */
  readonly keyOptional: boolean;
  /** Left out of the automatic choice (ambient or optional credentials). */
  readonly notAutomatic: boolean;
  readonly aliases: readonly string[];
  /** Models worth offering; the first is the one taken when none is named. */
  readonly models: readonly string[];
}

interface Extra {
  readonly label?: string;
  readonly urlEnv?: string;
  readonly aliases?: string;
  readonly models?: string;
  readonly flags?:
    readonly ("aggregator" | "keyless" | "ambient" | "unsupported" | "responses" | "messages")[];
}

function words(text: string | undefined): readonly string[] {
  return text ? text.split(" ") : [];
}

function flavourOf(flags: NonNullable<Extra["flags"]>): Flavour {
  if (flags.includes("unsupported")) return "unsupported";
  if (flags.includes("responses")) return "codex_responses";
  return flags.includes("messages") ? "anthropic_messages" : "chat_completions";
}

function row(id: string, label: string, baseUrl: string, keyEnv: string, extra: Extra = {}): ProviderRow {
  const flags = extra.flags ?? [];
  return {
    id,
    label,
    baseUrl,
    urlEnv: words(extra.urlEnv),
    keyEnv: words(keyEnv),
    flavour: flavourOf(flags),
    isAggregator: flags.includes("aggregator"),
    keyOptional: flags.includes("keyless"),
    notAutomatic: flags.includes("ambient") || flags.includes("keyless"),
    aliases: words(extra.aliases),
    models: words(extra.models),
  };
}

/** In the order of pickers (core.md F.5). */
export const PROVIDERS: readonly ProviderRow[] = [
  row("nous", "Nous Portal", "https://inference-api.nousresearch.com/v1", "NOUS_API_KEY", {
    urlEnv: "NOUS_INFERENCE_BASE_URL",
    flags: ["aggregator"],
    models: "z-ai/glm-5.2",
  }),
  row("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", {
    urlEnv: "OPENROUTER_BASE_URL",
    aliases: "or",
    flags: ["aggregator"],
    models: "z-ai/glm-5.2 anthropic/claude-sonnet-4.6 openai/gpt-5.5 google/gemini-3.1-pro-preview " +
      "deepseek/deepseek-chat moonshotai/kimi-k2.6 qwen/qwen3-coder",
  }),
  row("novita", "NovitaAI", "https://api.novita.ai/openai/v1", "NOVITA_API_KEY", {
    urlEnv: "NOVITA_BASE_URL",
    aliases: "novita-ai",
    flags: ["aggregator"],
    models: "z-ai/glm-5.2",
  }),
  row("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", "LM_API_KEY", {
    urlEnv: "LM_BASE_URL",
    aliases: "lm-studio lm_studio",
    flags: ["keyless"],
  }),
  row(
    "anthropic",
    "Anthropic",
    "https://api.anthropic.com",
    "ANTHROPIC_API_KEY ANTHROPIC_TOKEN CLAUDE_CODE_OAUTH_TOKEN",
    {
      urlEnv: "ANTHROPIC_BASE_URL",
      aliases: "claude claude-code",
      flags: ["messages"],
      models: "claude-sonnet-4-6 claude-opus-4-6 claude-haiku-4-5",
    },
  ),
  row("openai-codex", "OpenAI Codex", "https://chatgpt.com/backend-api/codex", "", {
    flags: ["unsupported"],
  }),
  row("openai-api", "OpenAI API", "https://api.openai.com/v1", "OPENAI_API_KEY", {
    urlEnv: "OPENAI_BASE_URL",
    flags: ["responses"],
    models: "gpt-5.4-mini gpt-5.5 gpt-5.4 gpt-4.1",
  }),
  row(
    "alibaba",
    "Qwen Cloud",
    "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_API_KEY",
    { urlEnv: "DASHSCOPE_BASE_URL", aliases: "dashscope aliyun qwen", models: "qwen3-coder-plus qwen-max" },
  ),
  row(
    "alibaba-coding-plan",
    "Qwen Cloud coding plan",
    "https://coding-intl.dashscope.aliyuncs.com/v1",
    "ALIBABA_CODING_PLAN_API_KEY DASHSCOPE_API_KEY",
    { urlEnv: "ALIBABA_CODING_PLAN_BASE_URL", aliases: "alibaba-coding", models: "qwen3-coder-plus" },
  ),
  row("xai-oauth", "xAI (login)", "https://api.x.ai/v1", "", {
    aliases: "grok-oauth",
    flags: ["unsupported"],
  }),
  row("xiaomi", "Xiaomi MiMo", "https://api.xiaomimimo.com/v1", "XIAOMI_API_KEY", {
    urlEnv: "XIAOMI_BASE_URL",
    aliases: "mimo",
    models: "mimo-v2.5",
  }),
  row("tencent-tokenhub", "Tencent TokenHub", "https://tokenhub.tencentmaas.com/v1", "TOKENHUB_API_KEY", {
    urlEnv: "TOKENHUB_BASE_URL",
    aliases: "tokenhub",
    models: "hy3",
  }),
  row("nvidia", "NVIDIA NIM", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", {
    urlEnv: "NVIDIA_BASE_URL",
    aliases: "nim nemotron",
  }),
  row(
    "copilot",
    "GitHub Copilot",
    "https://api.githubcopilot.com",
    "COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN",
    {
      urlEnv: "COPILOT_API_BASE_URL",
      aliases: "github github-copilot",
      flags: ["ambient", "unsupported"],
    },
  ),
  row("copilot-acp", "GitHub Copilot (process)", "acp://copilot", "", { flags: ["unsupported"] }),
  row("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN", {
    urlEnv: "HF_BASE_URL",
    aliases: "hf",
    flags: ["aggregator"],
  }),
  row(
    "gemini",
    "Google AI Studio",
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "GOOGLE_API_KEY GEMINI_API_KEY",
    {
      urlEnv: "GEMINI_BASE_URL",
      aliases: "google google-gemini",
      models: "gemini-3.8-flash gemini-3.1-pro-preview",
    },
  ),
  row("vertex", "Google Vertex AI", "", "", { aliases: "google-vertex", flags: ["unsupported"] }),
  row("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", {
    urlEnv: "DEEPSEEK_BASE_URL",
    aliases: "deep-seek",
    models: "deepseek-chat deepseek-reasoner",
  }),
  row("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", {
    urlEnv: "XAI_BASE_URL",
    aliases: "grok x-ai",
    flags: ["responses"],
    models: "grok-4.7 grok-4.20",
  }),
  row("zai", "Z.AI / GLM", "https://api.z.ai/api/paas/v4", "GLM_API_KEY ZAI_API_KEY Z_AI_API_KEY", {
    urlEnv: "GLM_BASE_URL",
    aliases: "glm z-ai zhipu",
    models: "glm-5.2",
  }),
  row("kimi-coding", "Kimi / Moonshot", "https://api.moonshot.ai/v1", "KIMI_API_KEY KIMI_CODING_API_KEY", {
    urlEnv: "KIMI_BASE_URL",
    aliases: "kimi moonshot",
    models: "kimi-k2.6 kimi-k3",
  }),
  row("kimi-coding-cn", "Kimi / Moonshot (China)", "https://api.moonshot.cn/v1", "KIMI_CN_API_KEY", {
    urlEnv: "KIMI_CN_BASE_URL",
    aliases: "kimi-cn",
    models: "kimi-k2.6 kimi-k3",
  }),
  row("stepfun", "StepFun", "https://api.stepfun.ai/step_plan/v1", "STEPFUN_API_KEY", {
    urlEnv: "STEPFUN_BASE_URL",
    aliases: "step",
  }),
  row("minimax", "MiniMax", "https://api.minimax.io/anthropic", "MINIMAX_API_KEY", {
    urlEnv: "MINIMAX_BASE_URL",
    flags: ["messages"],
    models: "MiniMax-M2.5 MiniMax-M3",
  }),
  row("minimax-oauth", "MiniMax (login)", "https://api.minimax.io/anthropic", "", {
    aliases: "minimax-portal",
    flags: ["unsupported"],
  }),
  row("minimax-cn", "MiniMax (China)", "https://api.minimaxi.com/anthropic", "MINIMAX_CN_API_KEY", {
    urlEnv: "MINIMAX_CN_BASE_URL",
    aliases: "minimax-china",
    flags: ["messages"],
    models: "MiniMax-M2.5 MiniMax-M3",
  }),
  row("ollama-cloud", "Ollama Cloud", "https://ollama.com/v1", "OLLAMA_API_KEY", {
    urlEnv: "OLLAMA_BASE_URL",
  }),
  row("arcee", "Arcee", "https://api.arcee.ai/api/v1", "ARCEEAI_API_KEY", {
    urlEnv: "ARCEE_BASE_URL",
    models: "trinity-large",
  }),
  row("gmi", "GMI Cloud", "https://api.gmi-serving.com/v1", "GMI_API_KEY", { urlEnv: "GMI_BASE_URL" }),
  row("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", {
    urlEnv: "FIREWORKS_BASE_URL",
    aliases: "fw",
  }),
  row("upstage", "Upstage", "https://api.upstage.ai/v1", "UPSTAGE_API_KEY", {
    urlEnv: "UPSTAGE_BASE_URL",
    aliases: "solar",
  }),
  row("kilocode", "Kilo Code", "https://api.kilo.ai/api/gateway", "KILOCODE_API_KEY", {
    urlEnv: "KILOCODE_BASE_URL",
    aliases: "kilo",
    flags: ["aggregator"],
    models: "z-ai/glm-5.2",
  }),
  row("opencode-zen", "OpenCode Zen", "https://opencode.ai/zen/v1", "OPENCODE_ZEN_API_KEY", {
    urlEnv: "OPENCODE_ZEN_BASE_URL",
    aliases: "zen",
  }),
  row("opencode-go", "OpenCode Go", "https://opencode.ai/zen/go/v1", "OPENCODE_GO_API_KEY", {
    urlEnv: "OPENCODE_GO_BASE_URL",
    aliases: "go",
  }),
  row("bedrock", "AWS Bedrock", "", "", { aliases: "aws", flags: ["unsupported"] }),
  row("azure-foundry", "Azure Foundry", "", "AZURE_FOUNDRY_API_KEY", { urlEnv: "AZURE_FOUNDRY_BASE_URL" }),
  row("qwen-oauth", "Qwen (login)", "https://portal.qwen.ai/v1", "", {
    aliases: "qwen-portal",
    flags: ["unsupported"],
  }),
];

/** Other spellings of `custom`. */
export const CUSTOM_ALIASES: readonly string[] = [
  "custom",
  "ollama",
  "vllm",
  "llamacpp",
  "llama.cpp",
  "local",
];

/** A row by id or alias, any case. */
export function findProvider(name: string): ProviderRow | null {
  const wanted = name.trim().toLowerCase();
  return PROVIDERS.find((p) => p.id === wanted) ?? PROVIDERS.find((p) => p.aliases.includes(wanted)) ?? null;
}

/** Where a server of that kind listens when nobody says otherwise. */
export const LOCAL_DEFAULTS: Readonly<Record<string, string>> = {
  ollama: "http://127.0.0.1:11434/v1",
  vllm: "http://127.0.0.1:8000/v1",
  llamacpp: "http://127.0.0.1:8080/v1",
  "llama.cpp": "http://127.0.0.1:8080/v1",
};
