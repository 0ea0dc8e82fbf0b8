import { apiModeByUrl, isLocalEndpoint, vendorKeyName } from "@/models/endpoints.ts";
import { newestOfFamily } from "@/models/families.ts";
import { normaliseModel, splitModelName } from "@/models/names.ts";
import { PROVIDERS } from "@/models/provider_table.ts";
import { parseSwitchArgs } from "@/models/switch_args.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";

Deno.test("core 57: normaliseModel() writes a name as its provider wants it", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["openrouter", "claude-sonnet-4.6", "anthropic/claude-sonnet-4.6"],
    ["anthropic", "claude-sonnet-4.6", "claude-sonnet-4-6"],
    ["anthropic", "anthropic/claude-opus-4.6", "claude-opus-4-6"],
    ["openrouter", "openai:gpt-5.5", "openai/gpt-5.5"],
    ["openrouter", "x/y:free", "x/y:free"],
    ["openrouter", "unknown-model", "unknown-model"],
    ["deepseek", "deepseek-r1", "deepseek-reasoner"],
    ["deepseek", "deepseek-v4-flash", "deepseek-v4-flash"],
    ["deepseek", "something", "deepseek-chat"],
    ["gemini", "google/gemini-2.5-pro", "gemini-2.5-pro"],
    ["gemini", "other/x", "other/x"],
    ["xiaomi", "Xiaomi/MiMo-V2", "mimo-v2"],
    ["custom:box", "org/Model", "org/Model"],
    ["opencode-zen", "anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"],
    ["fireworks", "accounts/f/models/x", "accounts/f/models/x"],
  ];
  for (const [provider, name, wanted] of cases) {
    assertEquals(normaliseModel(provider, name), wanted, `${provider} ${name}`);
  }
});

Deno.test("splitModelName() takes a prefix only when it is a provider", () => {
  const split = (text: string) => splitModelName(text, (name) => name === "box");
  assertEquals(split("openrouter:a/b"), { provider: "openrouter", model: "a/b" });
  assertEquals(split("custom:box:m:7b"), { provider: "custom:box", model: "m:7b" });
  assertEquals(split("custom:m"), { provider: "custom", model: "m" });
  assertEquals(split("builtin:script:C:/x.jsonc"), { provider: "builtin", model: "script:C:/x.jsonc" });
  for (const bare of ["llama3:8b", "a/b:free", ":x", "plain"]) assertEquals(split(bare), { model: bare });
});

Deno.test("parseSwitchArgs() reads flags in any place and with long dashes", () => {
  const wanted = { name: "m", provider: "p", global: true, refresh: false };
  for (
    const text of [
      "m --provider p --global",
      "--global m --provider=p",
      "m —provider p –global",
      "--provider p m ―global",
    ]
  ) {
    assertEquals(parseSwitchArgs(text), wanted, text);
  }
  assertEquals(parseSwitchArgs("--provider p --session"), {
    name: "",
    provider: "p",
    global: false,
    refresh: false,
  });
  for (const bad of ["", "a b", "m --nope", "m --provider"]) {
    assertThrows(() => parseSwitchArgs(bad), /Usage: \/model/);
  }
});

Deno.test("core 58: newestOfFamily() takes the highest version", () => {
  const ids = [
    "anthropic/claude-sonnet-4.5",
    "anthropic/claude-sonnet-4.6",
    "anthropic/claude-sonnet-4-20250514",
    "anthropic/claude-opus-4.6",
  ];
  assertEquals(newestOfFamily("sonnet", ids), "anthropic/claude-sonnet-4.6");
  assertEquals(newestOfFamily("Opus", ids), "anthropic/claude-opus-4.6");
  assertEquals(newestOfFamily("gpt", ids), null);
});

Deno.test("isLocalEndpoint() and vendorKeyName() judge hosts, not texts", () => {
  for (
    const url of [
      "http://localhost:1",
      "http://127.0.0.1",
      "http://[::1]:1",
      "http://10.1.2.3",
      "http://172.16.0.1",
      "http://192.168.1.1",
      "http://169.254.1.1",
      "http://100.64.0.1",
      "http://box:80",
      "http://host.docker.internal",
      "http://0.0.0.0",
    ]
  ) {
    assert(isLocalEndpoint(url), url);
  }
  for (
    const url of [
      "https://api.openai.com",
      "http://8.8.8.8",
      "http://172.32.0.1",
      "http://100.128.0.1",
      "https://localhost.evil.com",
      "nonsense",
    ]
  ) {
    assert(!isLocalEndpoint(url), url);
  }
  assertEquals(
    ["api.groq.com", "x.co.uk", "api.foo.co.uk", "1.2.3.4", "localhost", "my-llm.io"].map(vendorKeyName),
    ["GROQ_API_KEY", "X_API_KEY", "FOO_API_KEY", null, null, "MY_LLM_API_KEY"],
  );
  assertEquals(apiModeByUrl("https://x.io/anthropic/"), "anthropic_messages");
  assertEquals(apiModeByUrl("https://x.io/v1?u=/anthropic"), "chat_completions");
});

Deno.test("the provider table has unique ids and aliases", () => {
  const names = PROVIDERS.flatMap((p) => [p.id, ...p.aliases]);
  assertEquals(names.length, new Set(names).size);
});
