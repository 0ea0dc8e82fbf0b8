/** Reading: defaults, aliases, templates, environment, wrong types, broken files. */
import { setImmediate } from "node:timers";
import { createConfig } from "@/config/mod.ts";
import { listKeys } from "@/config/keys.ts";
import { loadSettings } from "@/config/load.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "../support/assert.ts";
import { withConfig } from "./config_support.ts";

Deno.test("settings() of an empty home are the defaults, and nothing is written", async () => {
  await withConfig(({ config, home }) => {
    const settings = config.settings();
    assertEquals(settings.agent.max_turns, 90);
    assertEquals(settings.approvals.timeout, 300);
    assertEquals(settings.approvals.mode, "manual");
    assertEquals(settings.model.provider, "auto");
    assertEquals(settings.model.persist_switch_by_default, false);
    assertEquals(settings.compression.in_place, false);
    assertEquals(settings.gateway.api_server.port, 8642);
    assertEquals(settings.gateway.api_server.show_reasoning, false);
    assertEquals(settings.security.redact_secrets, true);
    assertEquals(config.warnings(), []);
    assertThrows(() => Deno.statSync(home));
  });
});

Deno.test("settings() has every key of the table at its place", () => {
  const { settings, warnings } = loadSettings({}, () => undefined);
  assertEquals(warnings, []);
  for (const spec of listKeys()) {
    const value = spec.path.reduce<unknown>(
      (here, name) => (here as Record<string, unknown>)[name],
      settings,
    );
    assertEquals(value, spec.fallback, spec.key);
  }
});

Deno.test("settings() takes comments, trailing commas and old spellings", async () => {
  const files = {
    "config.jsonc":
      `// mine\n{ "provider": "openrouter", "max_turns": "unlimited", /* old */ "model": "gpt-x",
      "context_length": 1000, "approvals": { "mode": false, }, }`,
  };
  await withConfig(({ config }) => {
    const { model, agent, approvals } = config.settings();
    assertEquals([model.default, model.provider, model.context_length], ["gpt-x", "openrouter", 1000]);
    assertEquals(agent.max_turns, null);
    assertEquals(approvals.mode, "off");
    assertEquals(config.warnings(), []);
  }, { files });
});

Deno.test("settings() reads every spelling of no cap on turns", () => {
  for (const value of [null, "none", "unlimited", "UNLIMITED", 0, -1]) {
    assertEquals(
      loadSettings({ agent: { max_turns: value } }, () => undefined).settings.agent.max_turns,
      null,
    );
  }
  assertEquals(loadSettings({ agent: { max_turns: 7 } }, () => undefined).settings.agent.max_turns, 7);
});

Deno.test("settings() uses the default for a value of the wrong type and names key, value and wanted type", () => {
  const { settings, warnings } = loadSettings({
    approvals: { timeout: "soon", mode: "maybe" },
    agent: { max_turns: 1.5 },
    gateway: { api_server: { port: 70000, key: 5 } },
    terminal: "bash",
    auxiliary: { compression: "x" },
  }, () => undefined);
  assertEquals(settings.approvals.timeout, 300);
  assertEquals(settings.approvals.mode, "manual");
  assertEquals(settings.agent.max_turns, 90);
  assertEquals(settings.gateway.api_server.port, 8642);
  assertEquals(settings.terminal.timeout, 180);
  assertEquals(settings.auxiliary, {});
  assertEquals(warnings.length, 7);
  assert(
    warnings.includes(
      'config.jsonc: approvals.timeout is "soon", wanted an integer of at least 1; using 300',
    ),
  );
  assert(warnings.includes("config.jsonc: terminal must be an object; ignored"));
  assert(!warnings.some((warning) => warning.includes("key is 5")), "the value of a secret is not shown");
});

Deno.test("settings(): the environment outranks .env, .env the file, the file the default", async () => {
  const files = {
    "config.jsonc":
      `{ "agent": { "max_turns": 10 }, "gateway": { "api_server": { "port": 1111, "host": "a" } } }`,
    ".env": "API_SERVER_PORT=2222\nAPI_SERVER_HOST=b\nAPI_SERVER_CORS_ORIGINS=x, y\nTERMINAL_TIMEOUT=\n",
  };
  const env = { API_SERVER_PORT: "3333", HERMES_MAX_ITERATIONS: "none", HERMES_REDACT_SECRETS: "no" };
  await withConfig(({ config }) => {
    const { agent, gateway, security, terminal } = config.settings();
    assertEquals(agent.max_turns, null);
    assertEquals(gateway.api_server.port, 3333);
    assertEquals(gateway.api_server.host, "b");
    assertEquals(gateway.api_server.cors_origins, ["x", "y"]);
    assertEquals(security.redact_secrets, false);
    assertEquals(terminal.timeout, 180);
    assertEquals(config.env("API_SERVER_PORT"), "3333");
    assertEquals(config.env("TERMINAL_TIMEOUT"), undefined);
    assert(!config.envNames().includes("TERMINAL_TIMEOUT") && config.envNames().includes("API_SERVER_HOST"));
  }, { files, env });
});

Deno.test("api A1: a malformed port in the environment keeps the value below it and warns", async () => {
  await withConfig(({ config }) => {
    assertEquals(config.settings().gateway.api_server.port, 8642);
    assertMatch(
      config.warnings().join("\n"),
      /environment API_SERVER_PORT: .* is "http", wanted an integer from 0 to 65535/,
    );
  }, { env: { API_SERVER_PORT: "http" } });
});

Deno.test("settings() expands ${VAR} in texts, numbers and lists; unknown names stay", async () => {
  const files = {
    "config.jsonc": '{ "model": { "api_key": "${MY_KEY}", "base_url": "https://${HOST}/${NOPE}" },' +
      ' "approvals": { "timeout": "${SECONDS}", "deny": ["${HOST}*"] } }',
  };
  await withConfig(({ config }) => {
    const { model, approvals } = config.settings();
    assertEquals(model.api_key, "abc12345");
    assertEquals(model.base_url, "https://h/${NOPE}");
    assertEquals(approvals.timeout, 20);
    assertEquals(approvals.deny, ["h*"]);
  }, { files, env: { MY_KEY: "abc12345", HOST: "h", SECONDS: "20" } });
});

Deno.test("settings() brings endpoints and routes into one form and drops what cannot be used", () => {
  const { settings, warnings } = loadSettings({
    providers: { box: { url: "http://b", apiKeyEnv: "K", contextLength: 5, models: ["m"] }, bad: 3 },
    custom_providers: [{ name: "old", api: "http://o" }, { api: "http://n" }],
    gateway: { platforms: { api_server: { model_routes: { a: { model: "m" }, b: {} } } } },
  }, () => undefined);
  assertEquals(settings.providers, {
    box: { base_url: "http://b", key_env: "K", context_length: 5, models: ["m"] },
  });
  assertEquals(settings.custom_providers, [{ name: "old", base_url: "http://o" }]);
  assertEquals(settings.gateway.api_server.model_routes, { a: { model: "m" } });
  assertEquals(warnings.length, 3);
});

Deno.test("api D5: the API shows reasoning only where the file says so", () => {
  const shown = (file: Record<string, unknown>) =>
    loadSettings(file, () => undefined).settings.gateway.api_server.show_reasoning;
  assertEquals(shown({}), false);
  assertEquals(shown({ display: { show_reasoning: true } }), true);
  assertEquals(
    shown({ display: { show_reasoning: true, platforms: { api_server: { show_reasoning: false } } } }),
    false,
  );
  assertEquals(shown({ gateway: { api_server: { show_reasoning: true } } }), true);
});

/** The file is looked at once per step of the program. */
async function nextStep(): Promise<void> {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

Deno.test("core 55: a broken file gives the defaults and a warning with the place; a fixed one is read again", async () => {
  await withConfig(async ({ config, write }) => {
    assertEquals(config.settings().approvals.timeout, 300);
    assertMatch(
      config.warnings().join("\n"),
      /config\.jsonc cannot be read \(line 2, column \d+: .*the defaults until it is mended/,
    );
    await nextStep();
    write("config.jsonc", `{ "approvals": { "timeout": 5 } }`);
    assertEquals(config.settings().approvals.timeout, 5);
    assertEquals(config.warnings(), []);
    await nextStep();
    write("config.jsonc", `{ "approvals": `);
    assertEquals(config.settings().approvals.timeout, 5);
    assertMatch(config.warnings().join("\n"), /the last good settings until it is mended/);
  }, { files: { "config.jsonc": `{ // x\n  "approvals": { "timeout": oops } }` } });
});

Deno.test("settings(): a file that is empty or gone for a moment leaves the last good ones, with a warning", async () => {
  await withConfig(async ({ config, write, read, home }) => {
    const good = read("config.jsonc");
    for (const text of ["", " \n", "\uFEFF", null]) {
      assertEquals(config.settings().model.default, "m");
      await nextStep();
      if (text === null) Deno.removeSync(`${home}/config.jsonc`);
      else write("config.jsonc", text);
      assertEquals(config.settings().model.default, "m");
      assertMatch(config.warnings().join("\n"), /\(it is (empty|gone)\); using the last good settings/);
      const refused = await config.set("approvals.timeout", "7").catch((error) => error);
      assertEquals(refused.code, "config_invalid");
      assertEquals(await Deno.readTextFile(`${home}/config.jsonc`).catch(() => null), text);
      write("config.jsonc", good);
      assertEquals(config.warnings(), []);
    }
    await nextStep();
    write("config.jsonc", "{}");
    assertEquals(config.settings().model.default, "");
    await nextStep();
    write("config.jsonc", "");
    assertEquals(config.warnings(), []);
  }, { files: { "config.jsonc": `{ "model": { "default": "m", "provider": "custom" } }` } });
});

Deno.test("settings(): a list, a text or a folder where the file should be is a warning", async () => {
  for (const text of ["[1]", '"x"', "3"]) {
    await withConfig(({ config }) => {
      assertEquals(config.settings().agent.max_turns, 90);
      assertMatch(config.warnings().join("\n"), /must hold an object/);
    }, { files: { "config.jsonc": text } });
  }
  await withConfig(({ config, home }) => {
    Deno.mkdirSync(`${home}/config.jsonc`, { recursive: true });
    assertEquals(config.settings().agent.max_turns, 90);
    assertEquals(config.warnings().length, 1);
  });
});

Deno.test("settings() ignores null over a map, and names like __proto__", () => {
  const file = JSON.parse(
    '{ "approvals": null, "model": null, "__proto__": { "polluted": 1 }, "providers": { "__proto__": {} } }',
  );
  const { settings } = loadSettings(file, () => undefined);
  assertEquals(settings.approvals.timeout, 300);
  assertEquals(settings.model.provider, "auto");
  assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("warnings() suggests the key that was meant", async () => {
  await withConfig(({ config }) => {
    assertEquals(config.warnings(), [
      "config.jsonc: unknown key approvals.tiemout; did you mean approvals.timeout?",
      "config.jsonc: unknown key max_turn; did you mean max_turns?",
    ]);
  }, {
    files: { "config.jsonc": `{ "approvals": { "tiemout": 3 }, "my_plugin": { "x": 1 }, "max_turn": 3 }` },
  });
});

Deno.test("HERMES_IGNORE_USER_CONFIG leaves the file out", async () => {
  await withConfig(({ config }) => assertEquals(config.settings().agent.max_turns, 90), {
    files: { "config.jsonc": `{ "max_turns": 3 }` },
    env: { HERMES_IGNORE_USER_CONFIG: "1" },
  });
});

Deno.test("core E.5: HERMES_SAFE_MODE leaves out the file and the rules that users have written", async () => {
  await withConfig(({ config }) => {
    assertEquals([config.settings().agent.max_turns, config.settings().agent.ignore_rules], [90, true]);
  }, { files: { "config.jsonc": `{ "max_turns": 3 }` }, env: { HERMES_SAFE_MODE: "1" } });
});

Deno.test("core E.1: the administrator's file is over the user's and the environment, map by map", async () => {
  await withConfig(({ config }) => {
    const { approvals, agent, security, terminal } = config.settings();
    assertEquals([approvals.mode, approvals.timeout, approvals.deny], ["manual", 60, ["git push *"]]);
    assertEquals([agent.max_turns, agent.api_max_retries], [5, 2]);
    assertEquals([security.redact_secrets, terminal.timeout], [true, 9]);
    assertEquals(config.get("approvals.mode"), "manual");
    assertEquals(config.warnings(), [
      "config.jsonc: unknown key approvals.mod; did you mean approvals.mode?",
    ]);
  }, {
    admin: `{
      // of the machine
      "approvals": { "mode": "manual", "deny": ["git push *"], "mod": 1 },
      "max_turns": 5, "security": { "redact_secrets": true }, "terminal": null
    }`,
    files: {
      "config.jsonc": `{
        "approvals": { "mode": "off", "timeout": 60, "deny": ["x", "y"] },
        "agent": { "max_turns": 10, "api_max_retries": 2 }, "terminal": { "timeout": 9 }
      }`,
    },
    env: { HERMES_MAX_ITERATIONS: "20", HERMES_REDACT_SECRETS: "no" },
  });
});

Deno.test("core E.1: what the administrator has settled is not written over, and says who has settled it", async () => {
  await withConfig(async ({ config, names, read }) => {
    await assertRejects(
      () => config.set("approvals.mode", "off"),
      /approvals\.mode is settled by the administrator/,
    );
    await assertRejects(
      () => config.set("max_turns", "7"),
      /agent\.max_turns is settled by the administrator/,
    );
    await assertRejects(() => config.write(["approvals", "mode"], "off"), /settled/);
    await assertRejects(() => config.append(["command_allowlist"], "ls"), /settled/);
    assertEquals(names(), ["config.jsonc"]);
    await config.set("approvals.timeout", "7");
    assertEquals([config.settings().approvals.timeout, config.settings().approvals.mode], [7, "manual"]);
    assert(!read("config.jsonc").includes("manual"));
  }, {
    admin: `{ "approvals": { "mode": "manual" }, "max_turns": 5, "command_allowlist": [] }`,
    files: { "config.jsonc": "{}" },
  });
});

Deno.test("core E.1: an administrator's file that cannot be read is told, and the user's counts", async () => {
  await withConfig(({ config }) => {
    assertEquals(config.settings().agent.max_turns, 3);
    assert(config.warnings().some((text) => /machine\.jsonc cannot be read \(line 1/.test(text)));
  }, { admin: `{ "max_turns": `, files: { "config.jsonc": `{ "max_turns": 3 }` } });
});

Deno.test("createConfig() finds the home: explicit, HERMES_HOME, ~/.hermes, %LOCALAPPDATA%", () => {
  const real = createDenoPlatform();
  const homeOf = (env: Record<string, string>, os: "linux" | "windows", home?: string) =>
    createConfig({
      platform: {
        ...real,
        os,
        env: () => env,
        homeDir: () => os === "windows" ? "C:\\u" : "/u",
        cwd: () => "/w",
      },
      ...(home === undefined ? {} : { home }),
    }).home;
  assertEquals(homeOf({}, "linux"), "/u/.hermes");
  assertEquals(homeOf({ HERMES_HOME: "/x/" }, "linux"), "/x");
  assertEquals(homeOf({ HERMES_HOME: "~/y" }, "linux"), "/u/y");
  assertEquals(homeOf({ HERMES_HOME: "rel" }, "linux"), "/w/rel");
  assertEquals(homeOf({ HERMES_HOME: "  " }, "linux"), "/u/.hermes");
  assertEquals(homeOf({ HERMES_HOME: "/x" }, "linux", "/given"), "/given");
  assertEquals(homeOf({ LOCALAPPDATA: "C:\\u\\Local" }, "windows"), "C:\\u\\Local\\hermes");
  assertEquals(homeOf({}, "windows"), "C:\\u\\AppData\\Local\\hermes");
});
