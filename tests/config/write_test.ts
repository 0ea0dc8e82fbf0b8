/** Writing: `config set`, comments and order kept, secrets to `.env`, nothing half-done. */
import { HermesError } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { withConfig } from "./config_support.ts";

const COMMENTED = `{
  // how to ask
  "approvals": {
    "timeout": 60, // seconds
    /* mode is below */
    "mode": "manual"
  },
  "unknown_to_us": { "keep": [1, 2, 3] },
  "model": "gpt-x", // the model
  "command_allowlist": ["a"], // allowed
}
`;

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "no error";
  } catch (error) {
    return error instanceof HermesError ? error.code : String(error);
  }
}

Deno.test("core 54: set approvals.mode off stores the text and keeps comments, order and unknown keys", async () => {
  await withConfig(async ({ config, read, mode, names }) => {
    const done = await config.set("approvals.mode", "off");
    assertEquals([done.key, done.shown], ["approvals.mode", "off"]);
    assertEquals(read("config.jsonc"), COMMENTED.replace('"mode": "manual"', '"mode": "off"'));
    assertEquals(config.settings().approvals.mode, "off");
    assertEquals(mode("config.jsonc"), 0o600);
    assertEquals(names(), ["config.jsonc"]);
  }, { files: { "config.jsonc": COMMENTED } });
});

Deno.test("set() adds keys beside the others, without touching them", async () => {
  await withConfig(async ({ config, read }) => {
    await config.set("approvals.cron_mode", "deny");
    await config.set("agent.max_turns", "12");
    const text = read("config.jsonc");
    assertMatch(text, /"mode": "manual",\n {4}"cron_mode": "deny"\n {2}\},/);
    assertMatch(
      text,
      /"command_allowlist": \["a"\], \/\/ allowed\n {2}"agent": \{\n {4}"max_turns": 12\n {2}\},\n\}\n$/,
    );
    for (const comment of ["// how to ask", "// seconds", "/* mode is below */", "// the model"]) {
      assert(text.includes(comment));
    }
    assertEquals(config.settings().agent.max_turns, 12);
  }, { files: { "config.jsonc": COMMENTED } });
});

Deno.test("set() beside a model that is one text keeps its name; set model changes it", async () => {
  await withConfig(async ({ config, read }) => {
    await config.set("model.provider", "openrouter");
    assertEquals([config.settings().model.default, config.settings().model.provider], [
      "gpt-x",
      "openrouter",
    ]);
    await config.set("model", "other");
    assertEquals(config.settings().model.default, "other");
    assertMatch(read("config.jsonc"), /\}, \/\/ the model/);
  }, { files: { "config.jsonc": COMMENTED } });
});

Deno.test("set() coerces by the type of the key", async () => {
  await withConfig(async ({ config }) => {
    await config.set("security.allow_private_urls", "yes");
    await config.set("compression.threshold", "0.75");
    await config.set("max_turns", "none");
    await config.set("model.default", "123");
    await config.set("gateway.api_server.cors_origins", "a, b");
    await config.set("approvals.deny", '["x*"]');
    await config.set("gateway.api_server.direct_model_requests", "true");
    await config.set("my_plugin.count", "5");
    await config.set("my_plugin.name", "five");
    const settings = config.settings();
    assertEquals(settings.security.allow_private_urls, true);
    assertEquals(settings.compression.threshold, 0.75);
    assertEquals(settings.agent.max_turns, null);
    assertEquals(settings.model.default, "123");
    assertEquals(settings.gateway.api_server.cors_origins, ["a", "b"]);
    assertEquals(settings.approvals.deny, ["x*"]);
    assertEquals(settings.gateway.api_server.direct_model_requests, true);
    assertEquals([config.get("my_plugin.count"), config.get("my_plugin.name")], [5, "five"]);
  });
});

Deno.test("set() refuses what does not fit, in words that name key, wanted type and value, and writes nothing", async () => {
  await withConfig(async ({ config, read }) => {
    const wrong: [string, string][] = [
      ["approvals.mode", "sometimes"],
      ["approvals.timeout", "soon"],
      ["security.redact_secrets", "perhaps"],
      ["command_allowlist", "rm"],
      ["command_allowlist.5", "rm"],
      ["command_allowlist.first", "rm"],
      ["unknown_to_us.keep", "x"],
      ["approvals", "x"],
      ["gateway.api_server.port", "99999"],
    ];
    for (const [key, text] of wrong) assertEquals(await codeOf(config.set(key, text)), "config_invalid", key);
    for (const key of ["", "a..b", ".a", "__proto__.x"]) {
      assertEquals(await codeOf(config.set(key, "1")), "config_unknown_key", key);
    }
    assertEquals(read("config.jsonc"), COMMENTED);
    await assertRejects(
      () => config.set("approvals.timeout", "soon"),
      /Cannot set approvals\.timeout: wanted an integer of at least 1, got "soon"/,
    );
  }, { files: { "config.jsonc": COMMENTED } });
});

Deno.test("set() by number changes one item of a list", async () => {
  await withConfig(async ({ config }) => {
    await config.set("command_allowlist.0", "b");
    assertEquals(config.settings().command_allowlist, ["b"]);
    await config.set("unknown_to_us.keep.1", "9");
    assertEquals(config.get("unknown_to_us.keep"), [1, 9, 3]);
  }, { files: { "config.jsonc": COMMENTED } });
});

Deno.test("core 55: set() refuses to write over a broken file and leaves a copy of it", async () => {
  const broken = `{ "approvals": { `;
  await withConfig(async ({ config, read, names }) => {
    await assertRejects(
      () => config.set("approvals.mode", "off"),
      /cannot be read .*Mend it first; a copy is in/,
    );
    assertEquals(await codeOf(config.append(["command_allowlist"], "x")), "config_invalid");
    assertEquals(read("config.jsonc"), broken);
    assertEquals(read("config.jsonc.broken"), broken);
    assertEquals(names(), ["config.jsonc", "config.jsonc.broken"]);
  }, { files: { "config.jsonc": broken } });
});

Deno.test("core 56: set of a key name goes to .env with mode 0600, masked in the echo", async () => {
  await withConfig(async ({ config, home, read, mode, names }) => {
    const done = await config.set("OPENROUTER_API_KEY", "sk-or-0123456789abcdef\n");
    assertEquals(done, { key: "OPENROUTER_API_KEY", shown: "sk-or-...cdef", file: `${home}/.env` });
    assertEquals(read(".env"), "OPENROUTER_API_KEY=sk-or-0123456789abcdef\n");
    assertEquals(mode(".env"), 0o600);
    assertEquals((Deno.statSync(home).mode ?? 0) & 0o777, 0o700);
    assertEquals(names(), [".env"]);
    assertEquals(config.env("OPENROUTER_API_KEY"), "sk-or-0123456789abcdef");
    assertEquals((await config.set("sudo_password", "short")).shown, "***");
    assertEquals(config.get("OPENROUTER_API_KEY"), "sk-or-...cdef");
  });
});

Deno.test("setEnv() keeps comments and order, quotes when needed, and refuses names that change how programs load", async () => {
  const before = "\uFEFF# keys\nexport A_KEY='old' # mine\nB=2\n\nA_KEY=\"newer\"\n";
  await withConfig(async ({ config, read, open }) => {
    assertEquals(config.env("A_KEY"), "newer");
    await config.setEnv("A_KEY", "n€w");
    await config.setEnv("TEXT", "two words $x 'q'");
    assertEquals(read(".env"), "\uFEFF# keys\nB=2\n\nA_KEY=nw\nTEXT=\"two words \\$x 'q'\"\n");
    assertEquals(open().env("TEXT"), "two words $x 'q'");
    await config.setEnv("TEXT", "");
    assertEquals([read(".env"), open().env("TEXT")], ["\uFEFF# keys\nB=2\n\nA_KEY=nw\n", undefined]);
    for (
      const name of [
        "PATH",
        "LD_PRELOAD",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "HERMES_HOME",
        "GIT_SSH_COMMAND",
        "EDITOR",
        "shell",
        "A-B",
        "1A",
        "",
      ]
    ) {
      assertEquals(await codeOf(config.setEnv(name, "x")), "invalid_argument", name);
    }
    assertEquals(await codeOf(config.set("PATH", "/x")), "invalid_argument");
  }, { files: { ".env": before } });
});

Deno.test("reloadEnv() counts the values that changed", async () => {
  await withConfig(({ config, write }) => {
    write(".env", "A=1\nB=3\nC=4\n");
    assertEquals(config.reloadEnv(), 2);
    assertEquals(config.reloadEnv(), 0);
    assertEquals(config.env("B"), "3");
  }, { files: { ".env": "A=1\nB=2\n" } });
});

Deno.test("write() makes a fresh file with its schema beside it; undefined removes", async () => {
  await withConfig(async ({ config, read, names, mode }) => {
    await config.write(["model", "default"], "m");
    assertEquals(
      read("config.jsonc"),
      `{\n  "$schema": "./config.schema.json",\n  "model": {\n    "default": "m"\n  }\n}\n`,
    );
    assertEquals(names(), ["config.jsonc", "config.schema.json"]);
    assertEquals(mode("config.jsonc"), 0o600);
    await config.write(["model", "default"], undefined);
    assertEquals(JSON.parse(read("config.jsonc")).model, {});
    await config.write(["model", "nothing"], undefined);
  });
});

Deno.test("write() takes the only member of an object away together with the comma behind it", async () => {
  const file = '{\n  "model": {\n    "default": "m", // chosen by hand\n  },\n}\n';
  await withConfig(async ({ config, read }) => {
    await config.write(["model", "default"], undefined);
    assertEquals(read("config.jsonc"), '{\n  "model": { // chosen by hand\n  },\n}\n');
    assertEquals(config.warnings(), []);
  }, { files: { "config.jsonc": file } });
});

Deno.test("templates survive a save", async () => {
  const file = '{ "model": { "api_key": "${K}" } }\n';
  await withConfig(async ({ config, read }) => {
    await config.set("model.default", "m");
    assertEquals(read("config.jsonc"), '{ "model": { "api_key": "${K}", "default": "m" } }\n');
    assertEquals(config.settings().model.api_key, "real-key-123");
  }, { files: { "config.jsonc": file }, env: { K: "real-key-123" } });
});

Deno.test("append() adds once, in any style of list", async () => {
  for (
    const [before, after] of [
      ["{}", { command_allowlist: ["x", "y"] }],
      ['{ "command_allowlist": [] }', { command_allowlist: ["x", "y"] }],
      ['{ "command_allowlist": [\n    "a", // first\n    "b" // second\n  ] }', {
        command_allowlist: ["a", "b", "x", "y"],
      }],
      ['{ "command_allowlist": ["a",], }', { command_allowlist: ["a", "x", "y"] }],
    ] as const
  ) {
    await withConfig(async ({ config, read }) => {
      for (const value of ["x", "y", "x"]) await config.append(["command_allowlist"], value);
      assertEquals([...config.settings().command_allowlist], [...after.command_allowlist]);
      for (const comment of before.match(/\/\/.*/g) ?? []) {
        assert(read("config.jsonc").includes(comment), comment);
      }
    }, { files: { "config.jsonc": before } });
  }
});

Deno.test("two writers at once lose nothing and leave no lock behind", async () => {
  await withConfig(async ({ open, names }) => {
    const writers = [open(), open(), open()];
    await Promise.all(
      writers.flatMap((writer, at) =>
        [0, 1, 2, 3].map((step) => writer.append(["command_allowlist"], `entry ${at}.${step}`))
      ),
    );
    assertEquals(open().settings().command_allowlist.length, 12);
    assertEquals(names(), ["config.jsonc", "config.schema.json"]);
  });
});

Deno.test("a lock whose holder died is passed over", async () => {
  await withConfig(async ({ config, write, names }) => {
    write("config.jsonc.lock", `99999:deadbeef:${Date.now() - 60_000}\n`);
    await config.set("approvals.timeout", "5");
    assertEquals(config.settings().approvals.timeout, 5);
    assertEquals(names(), ["config.jsonc"]);
  }, { files: { "config.jsonc": "{}" } });
});

Deno.test("a config that is a link stays one", async () => {
  await withConfig(async ({ config, home }) => {
    Deno.renameSync(`${home}/config.jsonc`, `${home}/real.jsonc`);
    Deno.symlinkSync(`${home}/real.jsonc`, `${home}/config.jsonc`);
    await config.set("approvals.timeout", "7");
    assert(Deno.lstatSync(`${home}/config.jsonc`).isSymlink);
    assertMatch(Deno.readTextFileSync(`${home}/real.jsonc`), /"timeout": 7/);
  }, { files: { "config.jsonc": "{}" } });
});

Deno.test("init() writes a commented starter once, that parses and changes nothing", async () => {
  await withConfig(async ({ config, read, names, home }) => {
    assertEquals(await config.init(), true);
    assertEquals(await config.init(), false);
    assertEquals(names(), ["config.jsonc", "config.schema.json"]);
    assertMatch(read("config.jsonc"), /\/\/ The model of new sessions/);
    assertEquals(config.shown(), { $schema: "./config.schema.json" });
    assertEquals(config.warnings(), []);
    assertEquals((Deno.statSync(home).mode ?? 0) & 0o777, 0o700);
    assertEquals(JSON.parse(read("config.schema.json")), JSON.parse(JSON.stringify(config.schema())));
    await config.set("approvals.timeout", "9");
    assertMatch(
      read("config.jsonc"),
      /"\$schema": "\.\/config\.schema\.json",[^]*"timeout": 9[^]*\/\/ manual asks/,
    );
  });
});
