/** Slash commands against the real program: gateway rows 62, 63, the catalogue of D.2, completion, the user's own. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";

/** What D.2 says v1 must offer. */
const OFFERED = [
  "help new model status usage title branch compress retry undo queue steer stop background reasoning fast busy",
  "verbose yolo personality tools skills reload reload-mcp sessions resume config history save version quit",
].join(" ").split(" ");

async function exec(host: GatewayHost, sid: string, command: string): Promise<Json> {
  return await host.request("slash.exec", { session_id: sid, command });
}

Deno.test("D.2: the catalogue offers every command, with aliases, words and categories that hang together", async () => {
  const quick_commands = {
    ping: { type: "exec", command: "echo pong" },
    m: { type: "alias", target: "/model" },
    nonsense: { type: "exec" },
  };
  await withGateway({ config: { quick_commands } }, async ({ host }) => {
    const catalog = await host.request("commands.catalog");
    const names = catalog.pairs.map(([name]: string[]) => name);
    for (const name of OFFERED) assert(names.includes(`/${name}`), name);
    assertEquals(new Set(names).size, names.length);
    assertEquals([catalog.skill_count, catalog.warning], [0, ""]);
    const aliases = {
      "/reset": "/new",
      "/fork": "/branch",
      "/compact": "/compress",
      "/q": "/queue",
      "/bg": "/background",
      "/btw": "/background",
      "/v": "/version",
      "/exit": "/quit",
    };
    for (const [alias, name] of Object.entries(aliases)) assertEquals(catalog.canon[alias], name);
    assertEquals(catalog.sub["/busy"], ["queue", "steer", "interrupt", "status"]);
    assertEquals(catalog.sub["/fast"], ["normal", "fast", "status"]);
    const grouped = catalog.categories.flatMap((category: Json) => category.pairs);
    assertEquals(grouped.map(([name]: string[]) => name).sort(), [...names].sort());
    const users = catalog.categories.find((category: Json) => category.name === "User commands");
    assertEquals(users.pairs, [["/ping", "exec: echo pong"], ["/m", "alias → model"]]);
    const queue = catalog.pairs.find(([name]: string[]) => name === "/queue");
    assertEquals(queue[1], "Run a prompt after the current turn (usage: /queue <text>)");
  });
});

Deno.test("gateway 62: command.resolve knows aliases in any case", async () => {
  await withGateway({}, async ({ host }) => {
    for (const name of ["/BG", "bg", "background", "/Btw"]) {
      const resolved = await host.request("command.resolve", { name });
      assertEquals([resolved.canonical, resolved.category], ["background", "Session"], name);
    }
    assertEquals((await host.refused("command.resolve", { name: "nope" })).code, 4011);
    assertEquals((await host.refused("command.resolve")).code, 4011);
  });
});

Deno.test("gateway 63: both forms of command.dispatch do the same, and command wins over name", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const dispatch = (params: Json) => host.request("command.dispatch", { session_id: sid, ...params });
    const wanted = { type: "send", message: "later on" };
    assertEquals(await dispatch({ command: "/queue later on" }), wanted);
    assertEquals(await dispatch({ name: "q", arg: "later on" }), wanted);
    assertEquals(await dispatch({ name: "/Queue", arg: " later on " }), wanted);
    assertEquals(await dispatch({ command: "queue later on", name: "help" }), wanted);
    const refused = async (params: Json) => (await host.refused("command.dispatch", params)).code;
    assertEquals(await refused({ session_id: sid }), 4018);
    assertEquals(await refused({ session_id: sid, name: "nope" }), 4018);
    assertEquals(await refused({ session_id: sid, name: "queue" }), 4004);
    assertEquals(await refused({ name: "queue", arg: "x" }), 4001);
    const slash = async (command: string) =>
      (await host.refused("slash.exec", { session_id: sid, command })).code;
    assertEquals([await slash(""), await slash("/"), await slash("/nope"), await slash("/queue")], [
      4004,
      4004,
      4018,
      4004,
    ]);
  });
});

Deno.test("/new, /branch and /resume open a session beside this one and name it", async () => {
  await withGateway({ model: { turns: ["A", "B"] } }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "a");
    const fresh = await host.request("command.dispatch", { session_id: sid, command: "/new Fresh start" });
    assertEquals(fresh.output, `New session "Fresh start" (${fresh.stored_session_id})`);
    assertEquals((await host.event("session.info", fresh.session_id)).cwd, rig.workspace);
    const branch = await exec(host, sid, "/branch Side");
    assertEquals(branch.output, `Branched into "Side" (${branch.stored_session_id})`);
    assertEquals((await host.event("session.info", branch.session_id)).title, "Side");
    assertEquals(
      (await host.refused("command.dispatch", { session_id: fresh.session_id, name: "branch" })).code,
      4008,
    );
    await host.request("session.close", { session_id: branch.session_id });
    const resumed = await exec(host, sid, "/resume Side");
    assertEquals(resumed.stored_session_id, branch.stored_session_id);
    assert(resumed.session_id !== branch.session_id);
    assertEquals(
      (await host.refused("slash.exec", { session_id: sid, command: "/resume nothing" })).code,
      4007,
    );
    const listed = (await exec(host, sid, "/sessions")).output;
    assertMatch(listed, new RegExp(`^${branch.stored_session_id}  Side$`, "m"));
    assertMatch(listed, new RegExp(`^${stored}  a \\(this one\\)$`, "m"));
    assertEquals((await exec(host, sid, "/resume")).output, listed);
    await host.turn(sid, "still here");
  });
});

Deno.test("/history, /config, /reload, /quit and /stop tell what they are for", async () => {
  const model = {
    turns: [toolTurn({ tool: "terminal", args: { command: "sleep 60", background: true } }), "Hello."],
  };
  await withGateway({ model }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    assertEquals((await exec(host, sid, "/history")).output, "Nothing was said yet.");
    await host.turn(sid, "hi");
    assertEquals((await exec(host, sid, "/history")).output, "You: hi\nHermes: Hello.");
    assertEquals((await exec(host, sid, "/stop")).output, "Ended 1 background process.");
    assertEquals((await exec(host, sid, "/stop")).output, "Ended 0 background processes.");
    const config = (await exec(host, sid, "/config")).output;
    assert(config.startsWith(`${rig.home}/config.jsonc\n{`), config);
    assertEquals((await exec(host, sid, "/reload")).output, "0 values have changed.");
    await Deno.writeTextFile(`${rig.home}/.env`, "SOME_NAME=value\n");
    assertEquals((await exec(host, sid, "/reload")).output, "1 value has changed.");
    assert((await exec(host, sid, "/quit")).output.includes(stored));
  });
});

Deno.test("/busy, /verbose and /fast are the settings of config.set", async () => {
  await withGateway({ model: { turns: [toolTurn(terminal("true")), "ok"] } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await exec(host, sid, "/busy")).output, "While a turn runs: interrupt");
    assertEquals((await exec(host, sid, "/busy queue")).output, "While a turn runs: queue");
    assertEquals((await host.request("config.get", { key: "busy" })).value, "queue");
    assertEquals((await exec(host, sid, "/verbose off")).output, "Tool progress: off");
    await host.turn(sid, "quietly");
    assertEquals(host.eventsOf("tool.start", sid).length, 0);
    assertEquals((await exec(host, sid, "/verbose")).output, "Tool progress: new");
    assertEquals((await exec(host, sid, "/fast status")).output, "Mode: normal");
    assertEquals((await exec(host, sid, "/fast")).output, "Mode: normal");
    const refused = async (command: string) =>
      (await host.refused("slash.exec", { session_id: sid, command })).code;
    assertEquals([await refused("/fast toggle"), await refused("/fast fast"), await refused("/busy nope")], [
      4002,
      4002,
      4002,
    ]);
    assertEquals(await refused("/verbose nope"), 4002);
  });
});

Deno.test("/personality puts its words before the turns of this session only", async () => {
  const personalities = { pirate: "Talk like a pirate.", poet: { prompt: "Rhyme.", description: "verse" } };
  await withGateway(
    { config: { personalities }, model: { turns: ["1", "2", "3", "4"] } },
    async ({ host, model }) => {
      const { sid } = await host.session();
      const other = await host.session();
      const system = (n: number) => model.calls()[n]!.body.messages[0].content as string;
      assertEquals((await exec(host, sid, "/personality")).output, "Personality: none");
      assertEquals((await exec(host, sid, "/personality pirate")).output, "Personality: pirate");
      await host.turn(sid, "one");
      await host.turn(other.sid, "two");
      const set = { session_id: sid, key: "personality", value: "poet" };
      const done = await host.request("config.set", set);
      assertEquals([done.value, done.history_reset, done.info.personality], ["poet", false, "poet"]);
      assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.personality, "poet");
      await host.turn(sid, "three");
      assertEquals((await exec(host, sid, "/personality none")).output, "Personality: none");
      await host.turn(sid, "four");
      assert(system(0).includes("Talk like a pirate.") && !system(1).includes("pirate"));
      assert(system(2).includes("\n\nRhyme.\n\n") && !system(2).includes("pirate"));
      assertEquals(system(3), system(2).replace("\n\nRhyme.", ""));
      assertEquals((await host.refused("config.set", { ...set, value: "nobody" })).code, 5001);
      await host.request("config.set", { key: "personality", value: "poet" });
      assertEquals((await host.request("config.get", { key: "personality" })).value, "poet");
      assertEquals((await host.request("config.get", { key: "personality", session_id: sid })).value, "none");
    },
  );
});

Deno.test("the user's own commands run their shell line, or name another command", async () => {
  const quick_commands = {
    where: { type: "exec", command: "pwd; echo $CUSTOM_API_KEY" },
    broken: { type: "exec", command: "echo no >&2; exit 3" },
    gone: { type: "exec", command: "rm -rf /" },
    m: { type: "alias", target: "/model" },
  };
  await withGateway(
    { config: { quick_commands }, env: { OPENAI_API_KEY: "sk-hidden-away" } },
    async ({ host, rig }) => {
      const { sid } = await host.session();
      const dispatch = (command: string) => host.request("command.dispatch", { session_id: sid, command });
      assertEquals(await dispatch("/WHERE"), { type: "exec", output: `${rig.workspace}\n\n` });
      assertEquals(await dispatch("/m other"), { type: "alias", target: "model", arg: "other" });
      const refused = async (command: string) =>
        await host.refused("command.dispatch", { session_id: sid, command });
      const broken = await refused("/broken");
      assertEquals([broken.code, broken.message], [4018, "/broken failed with code 3: no\n"]);
      assertEquals((await refused("/gone")).code, 4005);
      assertEquals((await exec(host, sid, "/where")).output, `${rig.workspace}\n\n`);
    },
  );
});

Deno.test("complete.slash completes names, aliases and first words, and nothing else", async () => {
  await withGateway({}, async ({ host }) => {
    const complete = (text: string) => host.request("complete.slash", { text });
    const names = async (text: string) => (await complete(text)).items.map((item: Json) => item.text);
    assertEquals(await complete("hello"), { items: [], replace_from: 0 });
    assertEquals(await complete("/BACKG"), {
      items: [{ text: "background", display: "/background", meta: "Run a prompt beside this conversation" }],
      replace_from: 1,
    });
    for (const name of ["resume", "retry", "reasoning", "reload", "reset"]) {
      assert((await names("/re")).includes(name), name);
    }
    assertEquals(await complete("/busy st"), {
      items: [
        { text: "steer", display: "steer", meta: "/busy" },
        { text: "status", display: "status", meta: "/busy" },
      ],
      replace_from: 6,
    });
    assertEquals((await complete("/busy steer st")).items, []);
    assertEquals((await complete("/nope x")).items, []);
    assert((await complete("/")).items.length <= 30);
  });
});

Deno.test("a skill is a command of its own: in the catalogue, and a directive of command.dispatch", async () => {
  await withGateway({ model: { turns: ["shipped"] } }, async ({ host, model, rig }) => {
    await Deno.mkdir(`${rig.home}/skills/ops/deploy`, { recursive: true });
    const head = "---\nname: deploy\ndescription: Ships the program.\n---\n";
    await Deno.writeTextFile(`${rig.home}/skills/ops/deploy/SKILL.md`, `${head}Run the deploy script.\n`);
    const { sid } = await host.session();
    const catalog = await host.request("commands.catalog");
    assertEquals(catalog.skill_count, 1);
    assertEquals(catalog.pairs.at(-1), ["/deploy", "Ships the program."]);
    const skill = await host.request("command.dispatch", { session_id: sid, command: "/deploy to staging" });
    assertEquals([skill.type, skill.name, skill.display], ["skill", "deploy", "/deploy to staging"]);
    assert(skill.message.includes("Run the deploy script.") && skill.message.includes("to staging"));
    assertEquals((await host.refused("slash.exec", { session_id: sid, command: "/deploy" })).code, 4018);
    for (const session_id of [undefined, "ffffffff"]) {
      assertEquals((await host.refused("command.dispatch", { session_id, name: "deploy" })).code, 4001);
    }
    assertEquals((await exec(host, sid, "/skills")).output, "1 skill:\n/deploy: Ships the program.");
    const usage = await host.refused("slash.exec", { session_id: sid, command: "/skills help" });
    assertMatch(
      usage.message,
      /^Usage: \/skills \[list\] \| \/skills search\|browse\|inspect\|install <words> \| /,
    );
    await host.turn(sid, skill.message);
    assert(JSON.stringify(model.calls()[0]!.body.messages).includes("Run the deploy script."));

    const completed = await host.request("complete.slash", { text: "/dep" });
    assertEquals(completed.items, [{ text: "deploy", display: "/deploy", meta: "Ships the program." }]);
    const manage = (params: Json) => host.request("skills.manage", params);
    assertEquals(await manage({}), { skills: { ops: ["deploy"] } });
    const results = [{ name: "deploy", description: "Ships the program." }];
    assertEquals(await manage({ action: "search", query: "SHIP" }), { results });
    assertEquals(await manage({ action: "search", query: "nothing" }), { results: [] });
    assertEquals(await manage({ action: "browse" }), { items: results, page: 1, total: 1, total_pages: 1 });
    assertEquals((await manage({ action: "inspect", query: "deploy" })).info.category, "ops");
    assertEquals((await host.refused("skills.manage", { action: "explode" })).code, 4017);
    assertEquals((await host.refused("skills.manage", { action: "inspect", query: "x" })).code, 5024);
    assertEquals((await host.request("skills.reload")).result, { added: [], removed: [], total: 1 });
    await Deno.remove(`${rig.home}/skills/ops/deploy`, { recursive: true });
    assertEquals((await host.request("skills.reload")).result, { added: [], removed: ["deploy"], total: 0 });
  });
});
