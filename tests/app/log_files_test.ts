/** The log files of the data home. */
import { LogFiles, type LogLimits } from "@/app/log_files.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assertEquals } from "../support/assert.ts";

interface Rig extends AsyncDisposable {
  readonly home: string;
  readonly logs: LogFiles;
  text(name: string): Promise<string>;
  names(): string[];
}

async function makeRig(limits: LogLimits): Promise<Rig> {
  const base = await Deno.makeTempDir({ prefix: "hermes-logs-" });
  const home = `${base}/home`;
  await Deno.mkdir(home);
  return {
    home,
    logs: new LogFiles(home, createDenoPlatform(), () => limits),
    text: (name) => Deno.readTextFile(`${home}/logs/${name}`),
    names: () => [...Deno.readDirSync(`${home}/logs`)].map((entry) => entry.name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

Deno.test("core D.1: agent.log has every line in order, errors.log those from WARNING on, both 0600", async () => {
  await using rig = await makeRig({ maxBytes: 1 << 20, keep: 3 });
  rig.logs.add("INFO", "one");
  rig.logs.add("WARNING", "two");
  rig.logs.add("ERROR", "three");
  rig.logs.add("DEBUG", "four");
  await rig.logs.idle();
  assertEquals(await rig.text("agent.log"), "one\ntwo\nthree\nfour\n");
  assertEquals(await rig.text("errors.log"), "two\nthree\n");
  if (Deno.build.os !== "windows") {
    const modes = ["agent.log", "errors.log", "."].map((name) =>
      Deno.statSync(`${rig.home}/logs/${name}`).mode! & 0o777
    );
    assertEquals(modes, [0o600, 0o600, 0o700]);
  }
});

Deno.test("core D.1: a full file is turned over, and only so many old ones are kept", async () => {
  await using rig = await makeRig({ maxBytes: 10, keep: 2 });
  for (const line of ["aaaaaa", "bbbbbb", "cccccc", "dddddd"]) {
    rig.logs.add("INFO", line);
    await rig.logs.idle();
  }
  assertEquals(rig.names(), ["agent.log", "agent.log.1", "agent.log.2"]);
  const texts = await Promise.all(rig.names().map(rig.text));
  assertEquals(texts, ["dddddd\n", "cccccc\n", "bbbbbb\n"]);
});

Deno.test("core D.1: with no old files to keep the full one goes; size 0 never turns over", async () => {
  await using none = await makeRig({ maxBytes: 10, keep: 0 });
  await using never = await makeRig({ maxBytes: 0, keep: 3 });
  for (const { logs } of [none, never]) {
    for (const line of ["aaaaaa", "bbbbbb"]) {
      logs.add("INFO", line);
      await logs.idle();
    }
  }
  assertEquals([none.names(), await none.text("agent.log")], [["agent.log"], "bbbbbb\n"]);
  assertEquals([never.names(), await never.text("agent.log")], [["agent.log"], "aaaaaa\nbbbbbb\n"]);
});

Deno.test("LogFiles takes rights from others on a file that is there", async () => {
  if (Deno.build.os === "windows") return;
  await using rig = await makeRig({ maxBytes: 1 << 20, keep: 3 });
  await Deno.mkdir(`${rig.home}/logs`);
  await Deno.writeTextFile(`${rig.home}/logs/agent.log`, "old\n", { mode: 0o644 });
  rig.logs.add("INFO", "new");
  await rig.logs.idle();
  assertEquals(await rig.text("agent.log"), "old\nnew\n");
  assertEquals(Deno.statSync(`${rig.home}/logs/agent.log`).mode! & 0o777, 0o600);
});

Deno.test("LogFiles says how many lines the disk was too slow for", async () => {
  await using rig = await makeRig({ maxBytes: 0, keep: 0 });
  const line = "x".repeat(100_000);
  for (let n = 0; n < 5; n++) rig.logs.add("INFO", line);
  await rig.logs.idle();
  assertEquals(await rig.text("agent.log"), `${line}\n${line}\n[3 lines were dropped]\n`);
});

Deno.test("LogFiles makes no data home, and a place that cannot be written fails nobody", async () => {
  await using rig = await makeRig({ maxBytes: 0, keep: 0 });
  await Deno.writeTextFile(`${rig.home}/logs`, "a file");
  rig.logs.add("ERROR", "x");
  await rig.logs.idle();
  assertEquals(await Deno.readTextFile(`${rig.home}/logs`), "a file");
  const absent = `${rig.home}/absent`;
  const logs = new LogFiles(absent, createDenoPlatform(), () => ({ maxBytes: 0, keep: 0 }));
  logs.add("ERROR", "x");
  await logs.idle();
  assertEquals([...Deno.readDirSync(rig.home)].map((entry) => entry.name), ["logs"]);
});
