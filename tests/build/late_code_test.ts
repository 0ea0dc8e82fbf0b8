/** Code that the built program keeps compressed behaves as the modules it was made of. */
import { createLateCode, type LateCode } from "../../scripts/pack/late_code.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Modules by name, each as rollup's `system` form; `reads` counts how often each was asked for. */
function codeOf(modules: Record<string, string>): { code: LateCode; reads: Record<string, number> } {
  const reads: Record<string, number> = {};
  const code = createLateCode({
    has: (name) => Object.hasOwn(modules, name),
    read: (name) => {
      reads[name] = (reads[name] ?? 0) + 1;
      return modules[name]!;
    },
    importNative: (specifier) => import(specifier),
    meta: (name) => ({ url: `file:///code/${name}`, dirname: "/code", filename: `/code/${name}` }),
  });
  return { code, reads };
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => "", (error: Error) => `${error.name}: ${error.message}`);
}

const COUNTER = `System.register([], (tell, module) => {
  let count;
  function grow() { tell("count", count = count + 1); }
  tell("grow", grow);
  return { execute() { tell("count", count = 1); tell("url", module.meta.url); } };
});`;

Deno.test("late code: exports, one instance for all, its own place", async () => {
  const { code, reads } = codeOf({ "counter.js": COUNTER });
  const [one, two] = await Promise.all([code.load("counter.js"), code.load("counter.js")]);
  assert(one === two);
  assertEquals(one["count"], 1);
  assertEquals(one["url"], "file:///code/counter.js");
  assertEquals(reads, { "counter.js": 1 });
});

Deno.test("late code: what a module changes is seen by those that import it", async () => {
  const { code } = codeOf({
    "counter.js": COUNTER,
    "user.js": `System.register(["./counter.js"], (tell) => {
      let count, grow;
      return {
        setters: [(other) => { count = other.count; grow = other.grow; }],
        execute() { grow(); tell({ seen: count, look: () => count }); },
      };
    });`,
  });
  const user = await code.load("user.js");
  assertEquals(user["seen"], 2);
  ((await code.load("counter.js"))["grow"] as () => void)();
  assertEquals((user["look"] as () => number)(), 3);
});

Deno.test("late code: what is imported runs first, also where it waits; native modules are there", async () => {
  const { code } = codeOf({
    "slow.js": `System.register([], (tell) => ({
      async execute() { await new Promise((done) => setTimeout(done, 5)); tell("value", 7); },
    }));`,
    "user.js": `System.register(["node:path", "./slow.js"], (tell) => {
      let join, value;
      return {
        setters: [(path) => { join = path.posix.join; }, (other) => { value = other.value; }],
        execute() { tell("result", join("a", String(value))); },
      };
    });`,
  });
  const users = await Promise.all([code.load("user.js"), code.load("user.js"), code.load("slow.js")]);
  assertEquals(users[0]["result"], "a/7");
});

Deno.test("late code: a module can load another one, and one that is not kept here", async () => {
  const { code } = codeOf({
    "counter.js": COUNTER,
    "user.js": `System.register([], (tell, module) => ({
      execute() {
        tell("other", () => module.import("./counter.js"));
        tell("native", () => module.import("node:path"));
      },
    }));`,
  });
  const user = await code.load("user.js");
  assert(await (user["other"] as () => Promise<unknown>)() === await code.load("counter.js"));
  assert(await (user["native"] as () => Promise<unknown>)() === await import("node:path"));
});

Deno.test("late code: a failure is the same each time, and is that of those that import it", async () => {
  const { code, reads } = codeOf({
    "broken.js":
      `System.register([], () => ({ execute() { throw new RangeError("no " + Math.random()); } }));`,
    "user.js": `System.register(["./broken.js"], () => ({ setters: [null], execute() {} }));`,
  });
  const first = await messageOf(code.load("broken.js"));
  assert(first.startsWith("RangeError: no "));
  assertEquals(await messageOf(code.load("broken.js")), first);
  assertEquals(await messageOf(code.load("user.js")), first);
  assertEquals(reads["broken.js"], 1);
});

Deno.test("late code: what could not be read is read again; an unknown name is told", async () => {
  let isThere = false;
  const code = createLateCode({
    has: (name) => name === "counter.js",
    read: () => {
      if (isThere) return COUNTER;
      throw new Error("the disk is asleep");
    },
    importNative: (specifier) => import(specifier),
    meta: () => ({ url: "file:///x", dirname: "/", filename: "/x" }),
  });
  assertEquals(await messageOf(code.load("counter.js")), "Error: the disk is asleep");
  isThere = true;
  assertEquals((await code.load("counter.js"))["count"], 1);
  assertEquals(await messageOf(code.load("other.js")), "TypeError: Cannot find the module other.js");
});
