import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { createCommands } from "../../src/commands/mod.ts";
import { type CommandHost, type Commands, HermesError, type Session } from "../../src/core/mod.ts";

const commands: Commands = createCommands({
  version: "1.2.3",
  tools: [],
  models: {} as never,
  config: { reloadEnv: () => 2, path: "/c", shown: () => ({ a: 1 }), warnings: () => ["careful"] } as never,
});

const session = {
  running: false,
  headId: "s1",
  history: () => [],
  toolNames: () => [],
} as unknown as Session;

/** A host that tells what it was asked for. */
function recording(): { host: CommandHost; calls: string[] } {
  const calls: string[] = [];
  const opened = (name: string) => (title: string) => {
    calls.push(`${name} ${title}`);
    return Promise.resolve({ sessionId: "live", storedId: "stored", title: title || null });
  };
  const host: CommandHost = {
    create: opened("create"),
    branch: opened("branch"),
    resume: opened("resume"),
    stored: () => [],
    compress: (focus) => Promise.resolve(`compressed ${focus}`),
    background: (prompt) => Promise.resolve(`bg ${prompt}`),
    save: () => Promise.resolve("/f.json"),
    stopProcesses: () => Promise.resolve(1),
    skills: () => Promise.resolve([{ name: "deploy", description: "Ships it." }]),
    configureTools: (action, names) => Promise.resolve(`${action} ${names.join("+")}`),
    reloadMcp: (wish) => Promise.resolve(JSON.stringify(wish)),
    setting: (key, value) => Promise.resolve(`${key}=${value}`),
  };
  return { host, calls };
}

async function run(name: string, args = ""): Promise<unknown> {
  const { host } = recording();
  const result = await commands.run(name, args, { session, surface: "gateway", host });
  return result.type === "text" ? result.text : result;
}

Deno.test("names and aliases of a surface are unique, and every command has words for people", () => {
  for (const surface of ["acp", "gateway", "cli"] as const) {
    const list = commands.list(surface);
    const names = list.flatMap((command) => [command.name, ...command.aliases]);
    assertEquals(names.length, new Set(names).size, surface);
    for (const command of list) {
      assert(command.description.length > 5 && command.category !== "", command.name);
      assertEquals(command.name, command.name.toLowerCase());
    }
  }
});

Deno.test("acp.md C9: the ACP list has its commands in its order, and none that needs a host", () => {
  assertEquals(commands.list("acp").map((command) => command.name), [
    "help",
    "model",
    "tools",
    "context",
    "reset",
    "compact",
    "steer",
    "queue",
    "version",
  ]);
});

Deno.test("run() hands to the host what only the host can do", async () => {
  assertEquals(await run("new", "A"), 'New session "A" (stored)');
  assertEquals(await run("reset"), "New session (stored)");
  assertEquals(await run("fork", "B"), 'Branched into "B" (stored)');
  assertEquals(await run("resume", "C"), 'Resumed "C" (stored)');
  assertEquals(await run("sessions"), "No session is stored yet.");
  assertEquals(await run("compact", "x"), "compressed x");
  assertEquals(await run("btw", "y"), "Started in the background: bg y");
  assertEquals(await run("save"), "Saved to /f.json");
  assertEquals(await run("stop"), "Ended 1 background process.");
  assertEquals(await run("busy", "queue"), "While a turn runs: busy=queue");
  assertEquals(await run("skills"), "1 skill:\n/deploy: Ships it.");
  assertEquals(await run("tools"), "0 tools:");
  assertEquals(await run("tools", "disable a b"), "disable a+b");
  assertEquals(await run("reload_mcp", "NOW"), '{"confirmed":true,"always":false}');
  assertEquals(await run("reload"), "2 values have changed.");
  assertEquals(await run("config"), '/c\n{\n  "a": 1\n}\ncareful');
});

Deno.test("a command that has opened a session names it for the host", async () => {
  const { host } = recording();
  assertEquals(await commands.run("branch", "B", { session, surface: "gateway", host }), {
    type: "text",
    text: 'Branched into "B" (stored)',
    opened: { sessionId: "live", storedId: "stored", title: "B" },
  });
});

Deno.test("run() refuses what is unknown, incomplete, or has to wait", async () => {
  const refused = async (name: string, args = "", running = false) => {
    try {
      await commands.run(name, args, {
        session: { ...session, running } as Session,
        surface: "gateway",
        host: recording().host,
      });
    } catch (error) {
      return error instanceof HermesError ? error.code : String(error);
    }
    return "accepted";
  };
  assertEquals(await refused("nothing"), "invalid_argument");
  assertEquals(await refused("background"), "invalid_argument");
  assertEquals(await refused("undo", "0"), "invalid_argument");
  for (const name of ["undo", "retry", "compress"]) {
    assertEquals(await refused(name, "", true), "session_busy");
  }
  assertEquals(await refused("background", "x", true), "accepted");
  await assertRejects(() => commands.run("save", "", { session, surface: "gateway" }));
});
