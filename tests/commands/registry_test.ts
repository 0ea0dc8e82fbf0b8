import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { createCommands } from "../../src/commands/mod.ts";
import { type CommandHost, type Commands, HermesError, type Session } from "../../src/core/mod.ts";

const commands: Commands = createCommands({
  version: "1.2.3",
  tools: [],
  models: {} as never,
  config: {
    reloadEnv: () => 2,
    home: "/h/profiles/work",
    path: "/c",
    shown: () => ({ a: 1 }),
    warnings: () => ["careful"],
  } as never,
});

const session = {
  running: false,
  headId: "s1",
  history: () => [],
  toolNames: () => ["terminal", "process", "todo"],
  tools: () =>
    [["terminal", "terminal"], ["todo", "todo"], ["process", "terminal"], ["web_search", "web"]].map((
      [name, toolset],
    ) => ({ name, toolset })),
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
    compress: (wish) => Promise.resolve(`compressed ${JSON.stringify(wish)}`),
    transcript: () =>
      Promise.resolve([
        { role: "user", content: "before" },
        { role: "user", content: "a summary", displayKind: "compaction_summary" },
        { role: "assistant", content: "after" },
      ]),
    background: (prompt) => Promise.resolve(`bg ${prompt}`),
    save: () => Promise.resolve("/f.json"),
    stopProcesses: () => Promise.resolve(1),
    skills: () => Promise.resolve([{ name: "deploy", description: "Ships it." }]),
    manageSkills: (action, query) => Promise.resolve(`${action} ${query}`),
    reloadSkills: () => Promise.resolve("1 skill."),
    atWork: () => ["sa-0-1 (running, 2 tool calls): look"],
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
  assertEquals(await run("compact", "x"), 'compressed {"preview":false,"focus":"x"}');
  assertEquals(await run("history"), "You: before\nHermes: after");
  assertEquals(await run("btw", "y"), "Started in the background: bg y");
  assertEquals(await run("save"), "Saved to /f.json");
  assertEquals(await run("stop"), "Ended 1 background process.");
  assertEquals(await run("busy", "queue"), "While a turn runs: busy=queue");
  assertEquals(await run("skills"), "1 skill:\n/deploy: Ships it.");
  assertEquals(await run("tools"), "0 tools:");
  assertEquals(await run("tools", "disable a b"), "disable a+b");
  assertEquals(await run("reload_mcp", "NOW"), '{"confirmed":true,"always":false}');
  assertEquals(await run("reload"), "2 values have changed.");
  assertEquals(await run("skills", "search deploy keys"), "search deploy keys");
  assertEquals(await run("reload-skills"), "1 skill.");
  assertEquals(await run("tasks"), "sa-0-1 (running, 2 tool calls): look");
  assertEquals(await run("clear"), "New session (stored)");
  assertEquals(await run("config"), '/c\n{\n  "a": 1\n}\ncareful');
});

Deno.test("core H.2: /toolsets groups what is offered, /profile names the home, /learn sends a prompt", async () => {
  assertEquals(await run("toolsets"), "2 toolsets:\nterminal: terminal, process\ntodo: todo");
  assertEquals(await run("profile"), "Profile: work\nData home: /h/profiles/work");
  const sent = await run("learn", "to release") as { type: string; message: string };
  assertEquals([sent.type, sent.message.includes("skill_manage"), sent.message.endsWith(": to release")], [
    "send",
    true,
    true,
  ]);
  await assertRejects(() => run("learn"), /Usage: \/learn/);
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
  assertEquals(await refused("compress", "--dry-run"), "invalid_argument");
  for (const name of ["undo", "retry", "compress"]) {
    assertEquals(await refused(name, "", true), "session_busy");
  }
  assertEquals(await refused("background", "x", true), "accepted");
  await assertRejects(() => commands.run("save", "", { session, surface: "gateway" }));
});

Deno.test("core H.2: /memory and /skills decide on what waits, each on its own kind, and say whether it has to", async () => {
  const calls: unknown[] = [];
  const written: unknown[] = [];
  const settings = { memory: { write_approval: false }, skills: { write_approval: true } };
  const own = createCommands({
    version: "1",
    tools: [],
    models: {} as never,
    config: {
      settings: () => settings,
      write: (path: string[], value: unknown) => Promise.resolve(void written.push([path, value])),
    } as never,
    pending: {
      list: (kind) =>
        Promise.resolve(kind === "skill" ? [{ id: "skill-1", createdAt: 1, summary: "create x" }] : []),
      approve: (id) => Promise.resolve(void calls.push(id)).then(() => "Saved."),
      reject: (id) => Promise.resolve(id === "skill-1"),
    },
  });
  const told = async (name: string, args: string) => {
    const result = await own.run(name, args, { session, surface: "gateway", host: recording().host });
    return result.type === "text" ? result.text : result;
  };
  assertEquals(await told("memory", ""), "No change waits for you.");
  assertEquals(await told("skills", "pending"), "1 change waits for you:\nskill-1: create x");
  assertEquals(await told("skills", "approve skill-1"), "Saved.");
  assertEquals(await told("skills", "reject skill-1"), "Dropped skill-1.");
  assertEquals(await told("memory", "approval"), "Changes are made at once.");
  assertEquals(await told("skills", "approval"), "Changes wait for your word.");
  assertEquals(await told("memory", "approval on"), "Changes wait for your word.");
  assertEquals([calls, written], [["skill-1"], [[["memory", "write_approval"], true]]]);
  for (const args of ["approve", "approve skill-1", "approve memory-1 x", "approval maybe", "what"]) {
    await assertRejects(() => told("memory", args), /Usage: \/memory/);
  }
  await assertRejects(() => told("skills", "reject skill-2"), /no change "skill-2"/);
});
