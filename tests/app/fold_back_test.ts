/** The process that folds the log of a database back: what it is started as, and what becomes of it. */
import { createFoldBack } from "@/app/fold_back.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Child, Platform } from "@/platform/mod.ts";
import { openStore } from "@/store/mod.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { eventually } from "../support/program.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

Deno.test("createFoldBack() brings the log into the database by a process of its own", async () => {
  const home = await Deno.makeTempDir({ prefix: "hermes-fold-" });
  const platform = createDenoPlatform();
  const path = `${home}/hermes.db`;
  const store = openStore(path, { platform, log });
  try {
    await store.createSession({ id: "s", source: "acp", cwd: home, config: {} });
    const content = "something to keep ".repeat(20);
    await store.appendMessages("s", Array.from({ length: 1_000 }, () => ({ role: "user", content })));
    const before = Deno.statSync(path).size;
    await createFoldBack(platform, home)(path, new AbortController().signal);
    assert(Deno.statSync(path).size > before + 100_000, "the rows are in the database");
    const missing = createFoldBack(platform, home)(`${home}/absent.db`, new AbortController().signal);
    await assertRejects(() => missing, /No such file/);
  } finally {
    store.close();
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("createFoldBack() hands on no key, and ends the process with its store", async () => {
  const started: { args: string[]; env: Record<string, string> }[] = [];
  const killed: string[] = [];
  const platform: Platform = {
    ...createDenoPlatform(),
    env: () => ({ PATH: "/bin", OPENAI_API_KEY: "sk-secret" }),
    execPath: () => "/opt/hermes",
    spawn: (command, args, options) => {
      started.push({ args: [command, ...args], env: options.env });
      const child: Partial<Child> = {
        exited: new Promise(() => {}),
        kill: (signal) => void killed.push(signal),
      };
      return child as Child;
    },
  };
  const stop = new AbortController();
  const folding = createFoldBack(platform, "/home")("/home/hermes.db", stop.signal);
  await eventually(() => started.length > 0);
  assertEquals(started, [{
    args: ["/opt/./hermes", "fold-back", "/home/hermes.db"],
    env: { PATH: "/bin", HERMES_HOME: "/home", NO_COLOR: "1" },
  }]);
  stop.abort();
  await assertRejects(() => folding);
  assertEquals(killed, ["SIGKILL"]);
  await assertRejects(() => createFoldBack(platform, "/home")("/home/hermes.db", stop.signal));
  assertEquals(started.length, 1);
});
