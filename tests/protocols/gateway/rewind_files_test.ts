import { assert, assertEquals } from "../../support/assert.ts";
import type { Hermes } from "../../../src/app/mod.ts";
import type { RestoreOutcome } from "../../../src/core/mod.ts";
import { HermesError } from "../../../src/core/mod.ts";
import { RpcError } from "../../../src/protocols/gateway/errors.ts";
import type { LiveSession } from "../../../src/protocols/gateway/live.ts";
import { withFilesRestored } from "../../../src/protocols/gateway/methods/rewind_files.ts";

const TARGET = { rowId: 1, ordinal: 0, at: 7, shown: [1], own: new Set([1]) };
const live = { session: { id: "s" } } as unknown as LiveSession;

/** Restores as told, and notes from when on it was asked to. */
function make(
  ...outcomes: (RestoreOutcome | Error)[]
): { hermes: Hermes; asked: number[]; warned: string[] } {
  const asked: number[] = [];
  const warned: string[] = [];
  const hermes = {
    platform: { clock: { now: () => 100_000 } },
    log: { warn: (text: string) => warned.push(text) },
    fileHistory: {
      restore: (_: string, since: number) => {
        asked.push(since);
        const outcome = outcomes.shift()!;
        return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
      },
    },
  } as unknown as Hermes;
  return { hermes, asked, warned };
}

const PUT: RestoreOutcome = { done: true, files: [{ path: "/w/a", action: "write" }] };
const failing = () => Promise.reject(new RpcError(5008, "disk full"));

Deno.test("withFilesRestored(): files first, then the cut; both are told", async () => {
  const { hermes, asked } = make(PUT);
  const done = await withFilesRestored(hermes, live, TARGET, () => Promise.resolve("cut"));
  assertEquals([done, asked], [{ result: "cut", files: PUT.files }, [7]]);
});

Deno.test("withFilesRestored(): a cut that fails brings the files forth again", async () => {
  const { hermes, asked, warned } = make(PUT, PUT);
  const error = await withFilesRestored(hermes, live, TARGET, failing).catch((error) => error);
  assertEquals([error.code, asked, warned], [5008, [7, 100], []]);
});

Deno.test("withFilesRestored(): files that cannot be brought forth again are told on stderr", async () => {
  const { hermes, warned } = make(PUT, { done: false, files: [] });
  await withFilesRestored(hermes, live, TARGET, failing).catch(() => {});
  assertEquals(warned.length, 1);
});

Deno.test("withFilesRestored(): a conflict or a failure of the disk stops it before the cut", async () => {
  const files = [{ path: "/w/a", action: "conflict", why: "it was changed since" }] as const;
  for (
    const [outcome, code] of [[{ done: false, files }, 4031], [
      new HermesError("store_failed", "no"),
      5021,
    ]] as const
  ) {
    let cut = false;
    const { hermes } = make(outcome);
    const error = await withFilesRestored(hermes, live, TARGET, () => {
      cut = true;
      return Promise.resolve();
    }).catch((error) => error);
    assert(error instanceof RpcError);
    assertEquals([error.code, cut], [code, false]);
  }
});
