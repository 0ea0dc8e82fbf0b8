/** core.md A.4 "environment", `agent.environment_probe`: one line of the tools on PATH, by looks alone. */
import { DirectoryLooks } from "../../src/core/directory_looks.ts";
import { toolsLine } from "../../src/core/prompt_tools.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makePromptBench, namedTool } from "./prompt_support.ts";

const ALL = "git gh rg jq node npm deno bun python3 uv cargo go java gcc make docker".split(" ");

async function withBin(
  run: (bin: string, put: (name: string, mode?: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-path-" }));
  try {
    await run(base, async (name, mode = 0o755) => {
      await Deno.mkdir(`${base}/${name}`.replace(/\/[^/]+$/, ""), { recursive: true });
      await Deno.writeTextFile(`${base}/${name}`, "#!/bin/sh\ntouch ran\n", { mode });
      await Deno.chmod(`${base}/${name}`, mode);
    });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

/** `tickMs`: what each look at the clock costs. */
function line(path: string | undefined, looks?: DirectoryLooks, tickMs = 0): Promise<string> {
  const real = createDenoPlatform();
  let now = 0;
  const env = (): Record<string, string> => path === undefined ? {} : { PATH: path };
  const platform = { ...real, env, clock: { ...real.clock, monotonic: () => now += tickMs } };
  return toolsLine(platform, looks ?? new DirectoryLooks(platform.files));
}

Deno.test("the tools of all directories in one order; what cannot be executed, and directories, are none", async () => {
  await withBin(async (bin, put) => {
    for (const name of ["a/make", "b/git", "b/node", "a/node", "b/unknown"]) await put(name);
    await put("a/jq", 0o644);
    await Deno.mkdir(`${bin}/a/docker`);
    await Deno.symlink(`${bin}/nowhere`, `${bin}/b/go`);
    assertEquals(
      await line(`${bin}/a:${bin}/b:relative::${bin}/gone:${bin}/b/git`),
      "Tools on PATH: git, node, make",
    );
    assertEquals(await line(`${bin}/gone`), "");
    assertEquals([await line(""), await line(undefined)], ["", ""]);
  });
});

Deno.test("with all of them the line has at most 150 bytes; after 40 directories nobody looks further", async () => {
  await withBin(async (bin, put) => {
    for (const name of ALL) await put(`all/${name}`);
    const whole = await line(`${bin}/all`);
    assertEquals(whole, `Tools on PATH: ${ALL.join(", ")}`);
    assert(new TextEncoder().encode(whole).length <= 150);
    const many = Array.from({ length: 40 }, (_, i) => `${bin}/${i}`);
    assertEquals(await line([...many.slice(1), `${bin}/all`].join(":")), whole);
    assertEquals(await line([...many, `${bin}/all`].join(":")), "");
  });
});

Deno.test("a slow file system is not looked through to its end", async () => {
  await withBin(async (bin, put) => {
    for (const name of ["a/git", "b/node", "c/make"]) await put(name);
    const path = `${bin}/a:${bin}/b:${bin}/c`;
    assertEquals(await line(path, undefined, 15), "Tools on PATH: git, node");
    assertEquals(await line(path), "Tools on PATH: git, node, make");
  });
});

Deno.test("a PATH is looked through once; a directory that does not answer is left out and not waited for", async () => {
  await withBin(async (bin, put) => {
    await put("a/git");
    const { files } = createDenoPlatform();
    let asked = 0;
    const dead = Promise.withResolvers<null>();
    const looks = new DirectoryLooks({
      ...files,
      stat: (path) => {
        asked++;
        return path.endsWith("/dead") ? dead.promise : files.stat(path);
      },
    });
    await put("dead/node");
    const path = `${bin}/dead:${bin}/a`;
    assertEquals(await line(path, looks), "Tools on PATH: git");
    await put("a/node");
    assertEquals([await line(path, looks), asked], ["Tools on PATH: git", 2]);
    assertEquals(await line(`${bin}/a`, looks), "Tools on PATH: git, node");
    dead.resolve(null);
  });
});

Deno.test("the prompt has the line where there are tools and the setting is on", async () => {
  await using bench = await makePromptBench();
  await withBin(async (bin, put) => {
    await put("git");
    const platform = { ...bench.facts().platform, env: () => ({ PATH: bin }) };
    const facts = { tools: [namedTool("terminal")], platform };
    const found = async (more: object) =>
      /^Tools on PATH: .*$/m.exec(await bench.build({ ...facts, ...more }))?.[0];
    assertEquals(await found({}), "Tools on PATH: git");
    assertEquals(await found({ config: { agent: { environment_probe: false } } }), undefined);
    assertEquals(await found({ tools: [] }), undefined);
    assertEquals(await bench.build(facts), await bench.build(facts), "byte for byte");
  });
});
