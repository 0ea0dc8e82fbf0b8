/** What is a secret, and that it is never shown; the schema; the import of an existing install. */
import { assert, assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { withConfig } from "./config_support.ts";

Deno.test("FC-26: knownSecrets() has every configured key, token and password, and no placeholder", async () => {
  const files = {
    "config.jsonc": `{
      "model": { "api_key": "from-config-1", "default_headers": { "X-Api-Key": "from-header-1", "Authorization": "Bearer from-bearer-1" } },
      "providers": { "box": { "apiKey": "from-provider-1", "key_env": "NOT_A_SECRET_NAME", "base_url": "https://u:from-url-1@h" } },
      "gateway": { "api_server": { "key": "\${SERVE_KEY}" } }, "delegation": { "api_key": "short" } }`,
    ".env":
      "FOO_TOKEN=from-dotenv-1\nPLAIN=not-a-secret-1\nBAD_API_KEY=your-key-here\nSERVE_KEY=from-template-1\n",
    "auth.json": `{ "providers": { "x": { "access_token": "from-auth-1" } } }`,
  };
  const env = {
    ZZ_API_KEY: "zz-UNIQUE-0123456789abcdef",
    DB_PASSWORD: "from-process-1",
    DATABASE_URL: "postgres://u:from-db-url-1@h/d",
    SSH_KEY: "/home/a/.ssh/id",
    STAR_SECRET: "********",
    HOME: "/home/a",
  };
  await withConfig(({ config }) => {
    assertEquals([...config.knownSecrets()].sort(), [
      "Bearer from-bearer-1",
      "from-auth-1",
      "from-bearer-1",
      "from-config-1",
      "from-db-url-1",
      "from-dotenv-1",
      "from-header-1",
      "from-process-1",
      "from-provider-1",
      "from-template-1",
      "from-url-1",
      "zz-UNIQUE-0123456789abcdef",
    ]);
    assertEquals(config.knownSecrets(), config.knownSecrets());
  }, { files, env });
});

Deno.test("knownSecrets() follows a change of the config and of .env", async () => {
  await withConfig(async ({ config }) => {
    assertEquals(config.knownSecrets(), []);
    await config.setEnv("NEW_API_KEY", "brand-new-key-1");
    assertEquals(config.knownSecrets(), ["brand-new-key-1"]);
  });
});

Deno.test("get() and shown() mask secrets and nothing else", async () => {
  const files = {
    "config.jsonc":
      `{ "model": { "api_key": "sk-0123456789abcdefgh", "max_tokens": 100, "base_url": "https://u:pass@h" },
      "providers": { "p": { "api_key": "\${P_KEY}", "key_env": "P_KEY" } } }`,
  };
  await withConfig(({ config }) => {
    assertEquals(config.get("model.api_key"), "sk-012...efgh");
    assertEquals(config.get("model.max_tokens"), 100);
    assertEquals(config.get("model.base_url"), "https://u:***@h");
    assertEquals(config.get("model.context_length"), null);
    assertEquals(config.get("approvals.timeout"), 300);
    assertEquals(config.get("max_turns"), 90);
    assertEquals(config.get("providers.p"), { api_key: "***", key_env: "P_KEY" });
    assertEquals((config.get("model") as Record<string, unknown>)["api_key"], "sk-012...efgh");
    assertEquals(config.shown(), {
      model: { api_key: "sk-012...efgh", max_tokens: 100, base_url: "https://u:***@h" },
      providers: { p: { api_key: "${P_KEY}", key_env: "P_KEY" } },
    });
    for (const key of ["nope", "approvals.nope", "model.api_key.x", "constructor", ""]) {
      assertThrows(() => config.get(key), /Unknown key/);
    }
  }, { files, env: { P_KEY: "secret-value" } });
});

Deno.test("schema() describes every setting and names the environment", async () => {
  await withConfig(({ config }) => {
    const schema = JSON.parse(JSON.stringify(config.schema()));
    const approvals = schema.properties.approvals.properties;
    assertEquals(approvals.mode.enum, ["manual", "smart", "off"]);
    assertEquals(approvals.timeout.default, 300);
    assertMatch(approvals.timeout.description, /Seconds an approval waits/);
    assertMatch(
      schema.properties.gateway.properties.api_server.properties.port.description,
      /API_SERVER_PORT/,
    );
    assertEquals(schema.properties.model.anyOf[0], { type: "string" });
  });
});

Deno.test("importLegacy() turns config.yaml into config.jsonc once and leaves it alone", async () => {
  const yaml =
    "# mine\nmodel:\n  default: gpt-x\napprovals:\n  mode: off\nagent: {max_turns: 5}\nwhen: 2024-01-01\n";
  await withConfig(async ({ config, read, open }) => {
    assertEquals(config.settings().model.default, "");
    assertMatch(config.warnings().join("\n"), /config\.yaml is there but not imported yet/);
    assertEquals(await config.importLegacy(), true);
    assertEquals(config.settings().model.default, "gpt-x");
    assertEquals(config.settings().agent.max_turns, 5);
    assertEquals(config.settings().approvals.mode, "off");
    assertMatch(config.warnings().join("\n"), /config\.yaml was imported into/);
    assertEquals(read("config.yaml"), yaml);
    assertMatch(read("config.jsonc"), /Imported from config\.yaml[^]*"\$schema"/);
    assertEquals(await config.importLegacy(), false);
    assertEquals(open().settings().model.default, "gpt-x");
  }, { files: { "config.yaml": yaml } });
});

Deno.test("the first write imports config.yaml before it writes", async () => {
  await withConfig(async ({ config }) => {
    await config.set("approvals.timeout", "5");
    assertEquals([config.settings().model.default, config.settings().approvals.timeout], ["gpt-x", 5]);
  }, { files: { "config.yaml": "model: gpt-x\n" } });
});

Deno.test("a config.yaml that cannot be parsed is an error and writes nothing", async () => {
  await withConfig(async ({ config, names }) => {
    let message = "";
    try {
      await config.importLegacy();
    } catch (error) {
      message = String(error);
    }
    assertMatch(message, /Cannot import .*config\.yaml/);
    assertEquals(names(), ["config.yaml"]);
  }, { files: { "config.yaml": "a: [1, 2\nb: }" } });
});

Deno.test("importLegacy() does nothing beside an existing config.jsonc", async () => {
  await withConfig(async ({ config, read }) => {
    assertEquals(await config.importLegacy(), false);
    assertEquals(read("config.jsonc"), "{}");
    assert(!config.warnings().some((warning) => warning.includes("yaml")));
  }, { files: { "config.yaml": "model: a\n", "config.jsonc": "{}" } });
});
