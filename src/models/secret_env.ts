/** Environment names that must never reach a child process (core.md C.12): they unlock or redirect something. */
import { PROVIDERS } from "./provider_table.ts";

const MORE = [
  // Endpoints and headers of model providers.
  "CUSTOM_BASE_URL",
  "OPENAI_ADMIN_KEY",
  "OPENAI_CUSTOM_HEADERS",
  "OPENAI_WEBHOOK_SECRET",
  "OPENAI_ORG_ID",
  "OPENAI_PROJECT_ID",
  "OPENAI_ORGANIZATION",
  "AZURE_OPENAI_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "GROQ_API_KEY",
  "MISTRAL_API_KEY",
  "TOGETHER_API_KEY",
  "CEREBRAS_API_KEY",
  "PERPLEXITY_API_KEY",
  "COHERE_API_KEY",
  "REPLICATE_API_TOKEN",
  // Web and tool keys.
  "FIRECRAWL_API_KEY",
  "FIRECRAWL_API_URL",
  "TAVILY_API_KEY",
  "EXA_API_KEY",
  "PARALLEL_API_KEY",
  "BRAVE_API_KEY",
  "BRAVE_SEARCH_API_KEY",
  "SERPAPI_API_KEY",
  "SERPER_API_KEY",
  "JINA_API_KEY",
  "FAL_KEY",
  "ELEVENLABS_API_KEY",
  "DEEPGRAM_API_KEY",
  "BROWSERBASE_API_KEY",
  "BROWSERBASE_PROJECT_ID",
  "BROWSER_USE_API_KEY",
  "MEM0_API_KEY",
  "HONCHO_API_KEY",
  "TINKER_API_KEY",
  "WANDB_API_KEY",
  "VOICE_TOOLS_OPENAI_KEY",
  // Messaging.
  "TELEGRAM_BOT_TOKEN",
  "DISCORD_BOT_TOKEN",
  "SLACK_BOT_TOKEN",
  "SLACK_APP_TOKEN",
  "SLACK_SIGNING_SECRET",
  "MATRIX_ACCESS_TOKEN",
  "WHATSAPP_ACCESS_TOKEN",
  "SIGNAL_ACCOUNT",
  "HASS_TOKEN",
  "EMAIL_PASSWORD",
  "TWILIO_AUTH_TOKEN",
  "MATTERMOST_TOKEN",
  // Code hosts.
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "GITHUB_APP_PRIVATE_KEY",
  // Ours.
  "API_SERVER_KEY",
  "API_SERVER_CALLBACK_SECRET",
  "SUDO_PASSWORD",
];

export function secretEnvNames(userNames: readonly string[]): readonly string[] {
  const names = PROVIDERS.flatMap((row) => [...row.keyEnv, ...row.urlEnv]);
  return [...new Set([...names, ...MORE, ...userNames])];
}
