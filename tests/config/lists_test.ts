/** Lists are never silently replaced (core.md E.3); fields of endpoints (core.md E.4). */
import { loadSettings } from "@/config/load.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { withConfig } from "./config_support.ts";

const FILE = `{
  "fallback_providers": [{ "provider": "custom", "model": "spare" }],
  "agent": { "coding_instructions": ["a", "b"], "disabled_toolsets": ["web", "memory"] },
  "toolsets": [],
  "mine": { "list": [1, 2] }
}
`;

Deno.test("core E.3: set() of a text refuses to replace a list that has items, and writes nothing", async () => {
  await withConfig(async ({ config, read }) => {
    const lost: [string, string, RegExp][] = [
      [
        "fallback_providers",
        "zz",
        /Cannot set fallback_providers: it is a list of 1; .*\(fallback_providers\.0\)/,
      ],
      ["agent.coding_instructions", "z", /it is a list of 2; .*; got "z"/],
      ["agent.disabled_toolsets", "browser", /it is a list of 2/],
      ["agent.disabled_toolsets", "browser,web", /it is a list of 2/],
      ["agent.coding_instructions", '{"a": 1}', /it is a list of 2/],
      ["agent.coding_instructions", "[1, 2", /it is a list of 2/],
      ["mine.list", "3", /it is a list of 2/],
    ];
    for (const [key, text, why] of lost) await assertRejects(() => config.set(key, text), why);
    assertEquals(read("config.jsonc"), FILE);
  }, { files: { "config.jsonc": FILE } });
});

Deno.test("core E.3: JSON of a list replaces a list, an item is set by its number, and where there is none a text will do", async () => {
  await withConfig(async ({ config }) => {
    await config.set("agent.disabled_toolsets", '["browser"]');
    await config.set("agent.coding_instructions", '["c"]');
    await config.set("fallback_providers", '[{"provider": "openrouter", "model": "m"}]');
    await config.set("mine.list", "[]");
    await config.set("toolsets", '["web"]');
    const { agent, fallback_providers } = config.settings();
    assertEquals(agent.disabled_toolsets, ["browser"]);
    assertEquals(agent.coding_instructions, ["c"]);
    assertEquals(fallback_providers, [{ provider: "openrouter", model: "m" }]);
    assertEquals([config.get("toolsets"), config.get("mine.list")], [["web"], []]);
    await config.set("agent.disabled_toolsets.0", "memory");
    assertEquals(config.settings().agent.disabled_toolsets, ["memory"]);
    await config.set("mine.list", "[1]");
    assertEquals(config.get("mine.list"), [1]);
  }, { files: { "config.jsonc": FILE } });
  await withConfig(async ({ config }) => {
    await config.set("agent.disabled_toolsets", "browser, web");
    await config.set("agent.coding_instructions", "be brief");
    assertEquals(config.settings().agent.disabled_toolsets, ["browser", "web"]);
    assertEquals(config.settings().agent.coding_instructions, "be brief");
    await config.set("fallback_model", '{"provider": "custom", "model": "spare"}');
    assertEquals(config.settings().fallback_model, { provider: "custom", model: "spare" });
  });
});

Deno.test("core E.3, E.4: fallback_providers is a list: a text is refused, and in a file it is warned of", async () => {
  await withConfig(async ({ config, names }) => {
    await assertRejects(
      () => config.set("fallback_providers", "zz"),
      /Cannot set fallback_providers: wanted a list of objects with provider and model, got "zz"/,
    );
    assertEquals(names(), []);
  });
  const { settings, warnings } = loadSettings({ fallback_providers: "zz" }, () => undefined);
  assertEquals(settings.fallback_providers, []);
  assertEquals(warnings, [
    'config.jsonc: fallback_providers is "zz", wanted a list of objects with provider and model; using []',
  ]);
});

Deno.test("core E.4: fields about certificates and pace are known, other names of an entry are warned of", () => {
  const { settings, warnings } = loadSettings({
    providers: {
      box: {
        base_url: "http://b",
        sslCaCert: "/ca.pem",
        ssl_verify: false,
        rateLimitDelay: 1.5,
        base_ulr: "x",
      },
      bad: { base_url: "http://c", ssl_verify: 3, rate_limit_delay: -1 },
    },
    custom_providers: [{ name: "old", api: "http://o", ssl_verify: "/ca.pem", colour: "red" }],
  }, () => undefined);
  assertEquals(settings.providers["box"], {
    base_url: "http://b",
    ssl_ca_cert: "/ca.pem",
    ssl_verify: false,
    rate_limit_delay: 1.5,
    base_ulr: "x",
  } as never);
  assertEquals(settings.custom_providers[0]!.ssl_verify, "/ca.pem");
  assertEquals(warnings, [
    "config.jsonc: providers.box.base_ulr is no setting of an endpoint; it has no effect",
    "config.jsonc: providers.bad.ssl_verify has the wrong type; ignored",
    "config.jsonc: providers.bad.rate_limit_delay has the wrong type; ignored",
    "config.jsonc: custom_providers.0.colour is no setting of an endpoint; it has no effect",
  ]);
});
