/** What is done for the data home when nobody waits: bounded caches (FC-18), the default SOUL.md (core D.1). */
import { boundCaches } from "../../src/core/cache_bounds.ts";
import { HomeCare } from "../../src/core/home_care.ts";
import { IDENTITY } from "../../src/core/prompt_guidance.ts";
import { createDefaultSoul } from "../../src/core/soul.ts";
import { createConfig } from "../../src/config/mod.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import type { Platform } from "../../src/platform/mod.ts";
import { makeStore } from "../store/rig.ts";
import { assertEquals } from "../support/assert.ts";
import { makeScriptedCore, openSession, prompt } from "../support/scripted_core.ts";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly tmp: string;
  readonly platform: Platform;
  /** A file of that age (seconds) and size (bytes, nothing on the disk). */
  put(path: string, age: number, size?: number): Promise<void>;
  names(path: string): string[];
}

async function makePlace(): Promise<Place> {
  const home = await Deno.makeTempDir({ prefix: "hermes-care-" });
  const tmp = `${home}/tmp`;
  return {
    home,
    tmp,
    platform: { ...createDenoPlatform(), tempDir: () => tmp },
    async put(path, age, size = 1) {
      const full = `${home}/${path}`;
      await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      using file = await Deno.open(full, { write: true, create: true });
      await file.truncate(size);
      const at = Date.now() / 1000 - age;
      await Deno.utime(full, at, at);
    },
    names: (path) => [...Deno.readDirSync(`${home}/${path}`)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}

Deno.test("FC-18: files of the caches go after seven days, in each of the four folders", async () => {
  await using place = await makePlace();
  for (const folder of ["cache/web", "cache/mcp", "cache/delegation"]) {
    await place.put(`${folder}/old.md`, 7 * DAY_S + 60);
    await place.put(`${folder}/kept.md`, 7 * DAY_S - 60);
  }
  await place.put("tmp/hermes-results/call_1-abc123.txt", 8 * DAY_S);
  await place.put("tmp/hermes-results/call_2-abc123.txt", DAY_S);
  await place.put("tmp/hermes-results/notes.txt", 8 * DAY_S);
  await boundCaches(place.platform, place.home);
  for (const folder of ["cache/web", "cache/mcp", "cache/delegation"]) {
    assertEquals(place.names(folder), ["kept.md"]);
  }
  assertEquals(place.names("tmp/hermes-results"), ["call_2-abc123.txt", "notes.txt"]);
});

Deno.test("FC-18: over 256 MiB the oldest of a folder go first, never what is younger than an hour", async () => {
  await using place = await makePlace();
  const MIB = 1 << 20;
  await place.put("cache/mcp/a", 3 * DAY_S, 50 * MIB);
  await place.put("cache/mcp/b", 2 * DAY_S, 50 * MIB);
  await place.put("cache/mcp/c", DAY_S, 200 * MIB);
  await place.put("cache/mcp/d", HOUR_S / 2, 6 * MIB);
  await boundCaches(place.platform, place.home);
  assertEquals(place.names("cache/mcp"), ["b", "c", "d"]);
  await place.put("cache/mcp/e", HOUR_S / 3, 300 * MIB);
  await place.put("cache/mcp/f", -DAY_S, 300 * MIB);
  await boundCaches(place.platform, place.home);
  assertEquals(place.names("cache/mcp"), ["d", "e", "f"]);
});

Deno.test("FC-18: a link in the place of a folder or of a file is not followed, and no folder is no failure", async () => {
  await using place = await makePlace();
  await boundCaches(place.platform, place.home);
  await place.put("others/call_1-abc123.txt", 30 * DAY_S);
  await place.put("cache/web/old.md", 30 * DAY_S);
  await Deno.mkdir(place.tmp);
  await Deno.symlink(`${place.home}/others`, `${place.tmp}/hermes-results`);
  await Deno.symlink(`${place.home}/others/call_1-abc123.txt`, `${place.home}/cache/web/link.md`);
  await boundCaches(place.platform, place.home);
  assertEquals(place.names("others"), ["call_1-abc123.txt"]);
  assertEquals(place.names("cache/web"), ["link.md"]);
});

Deno.test("core D.1: the default SOUL.md says what the prompt says without it, and no file of the user's is touched", async () => {
  await using place = await makePlace();
  const path = `${place.home}/SOUL.md`;
  await createDefaultSoul(place.platform, place.home);
  assertEquals(await Deno.readTextFile(path), `${IDENTITY}\n`);
  await Deno.writeTextFile(path, "");
  await createDefaultSoul(place.platform, place.home);
  assertEquals(await Deno.readTextFile(path), "");
});

Deno.test("FC-18: the home is cared for once in an hour", async () => {
  await using place = await makePlace();
  let now = 5_000;
  const clock = { ...place.platform.clock, monotonic: () => now };
  await using rig = await makeStore();
  const { store } = rig;
  const care = new HomeCare({
    platform: { ...place.platform, clock },
    log: LOG,
    home: place.home,
    settings: () => createConfig({ platform: place.platform }).settings(),
    store: () => store,
  }, () => false);
  const isCaredFor = async () => {
    await place.put("cache/web/old.md", 30 * DAY_S);
    care.turnEnded();
    await care.settled();
    return place.names("cache/web").length === 0;
  };
  assertEquals(await isCaredFor(), true);
  now += 3_599_999;
  assertEquals(await isCaredFor(), false);
  now += 1;
  assertEquals(await isCaredFor(), true);
});

Deno.test("core D.1: the first turn leaves SOUL.md, closing waits for it, and agent.ignore_rules leaves none", async () => {
  for (const ignore_rules of [false, true]) {
    const core = await makeScriptedCore({ settings: (s) => ({ ...s, agent: { ...s.agent, ignore_rules } }) });
    try {
      const { session } = await openSession(core);
      await prompt(session, "one");
      await core.sessions.closeAll("test");
      const text = await Deno.readTextFile(`${core.services.home}/SOUL.md`).catch(() => null);
      assertEquals(text, ignore_rules ? null : `${IDENTITY}\n`);
    } finally {
      await core[Symbol.asyncDispose]();
    }
  }
});
