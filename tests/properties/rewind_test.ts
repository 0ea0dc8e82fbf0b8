/**
 * Rewinding (tui-gateway.md B.11), tried with random histories through the real gateway: turns with tools, images and
 * edits of a file, hidden rows, markers, branches, compressions, undo and reopening in any order. After every step
 * each conversation shows the turns that it should, the client was told the ids that hold, the model is sent what is
 * shown, and a refusal has changed nothing.
 */
import type { GatewayHost, Json, RpcFailure } from "../support/gateway_driver.ts";
import { startGateway } from "../support/gateway_driver.ts";
import { assert, assertEquals } from "../support/assert.ts";
import type { ModelServer, ModelServerRequest, ScriptTurn } from "../support/model_server.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../support/program.ts";
import { fc, holds } from "./support.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** `at` picks a conversation, `to` a turn of it; both are taken modulo what there is. */
type Step =
  | { readonly do: "say"; readonly at: number; readonly kind: "plain" | "tool" | "edit" | "image" | "hidden" }
  | { readonly do: "model" | "undo" | "branch" | "compress" | "reopen"; readonly at: number }
  | { readonly do: "rewind"; readonly at: number; readonly to: number; readonly files: boolean }
  | { readonly do: "refuse"; readonly at: number; readonly to: number; readonly how: Refusal };

type Refusal = "unconfirmed" | "stale" | "answer" | "ordinal" | "empty" | "fraction" | "other";

const at = fc.nat({ max: 2 });
const to = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      at,
      kind: fc.constantFrom("plain", "plain", "tool", "edit", "image", "hidden"),
    }, { noNullPrototype: true }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("rewind" as const), at, to, files: fc.boolean() }, {
      noNullPrototype: true,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("model", "undo", "branch", "compress", "compress", "reopen"),
      at,
    }, { noNullPrototype: true }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("refuse" as const),
      at,
      to,
      how: fc.constantFrom("unconfirmed", "stale", "answer", "ordinal", "empty", "fraction", "other"),
    }, { noNullPrototype: true }),
  },
);

interface Turn {
  readonly text: string;
  /** The file before it. */
  readonly file: string | null;
}

/** What a conversation should show. */
interface Expected {
  sid: string;
  stored: string;
  turns: Turn[];
  /** Turns that survive in compressed ancestors only. */
  ancestors: number;
  compressed: boolean;
}

class World {
  readonly #host: GatewayHost;
  readonly #model: ModelServer;
  readonly #folder: string;
  readonly #file: string;
  readonly all: Expected[] = [];
  #said = 0;
  /** Who wrote the file last; files go back only where nobody else has changed them. */
  #writer: Expected | null = null;

  constructor(host: GatewayHost, model: ModelServer, folder: string) {
    this.#host = host;
    this.#model = model;
    this.#folder = folder;
    this.#file = `${folder}/f.txt`;
  }

  async open(): Promise<void> {
    const { session_id, stored_session_id } = await this.#host.request("session.create", {
      cwd: this.#folder,
    });
    this.all.push({ sid: session_id, stored: stored_session_id, turns: [], ancestors: 0, compressed: false });
  }

  async close(): Promise<void> {
    for (const { sid } of this.all) await this.#host.request("session.close", { session_id: sid });
  }

  async take(step: Step): Promise<void> {
    const one = this.all[step.at % this.all.length]!;
    switch (step.do) {
      case "say":
        return await this.#say(one, step.kind);
      case "rewind":
        return await this.#rewind(one, step.to, step.files);
      case "refuse":
        return await this.#refuse(one, step.to, step.how);
      case "model":
        await this.#host.request("config.set", { key: "model", value: "custom:other", session_id: one.sid });
        return;
      case "undo":
        return await this.#undo(one);
      case "branch":
        return await this.#branch(one);
      case "compress":
        return await this.#compress(one);
      case "reopen":
        return await this.#reopen(one);
    }
  }

  async check(what: string): Promise<void> {
    for (const [n, one] of this.all.entries()) {
      const shown = await this.#turns(one);
      assertEquals(shown.map(({ text }) => text), one.turns.map(({ text }) => text), `${what}: ${n}`);
      const ids = shown.map((row) => row.row_id);
      assertEquals(new Set(ids).size, ids.length, `${what}: ${n} has one id twice`);
    }
  }

  // ── Steps ─────────────────────────────────────────────────────────────────────────────────────────────────

  async #say(one: Expected, kind: Extract<Step, { do: "say" }>["kind"]): Promise<void> {
    const word = `${kind}-${++this.#said}`;
    let text = word;
    if (kind === "image") {
      await this.#host.request("image.attach", { session_id: one.sid, path: `${this.#folder}/i.png` });
      text = `${word}\n[image: i.png]`;
    }
    const file = await this.#read();
    await this.#submit(one, { text: word, ...(kind === "hidden" ? { display_kind: "hidden" } : {}) });
    if (await this.#read() !== file) this.#writer = one;
    if (kind !== "hidden") one.turns.push({ text, file });
    this.#compareSent(one);
  }

  async #rewind(one: Expected, to: number, files: boolean): Promise<void> {
    const shown = await this.#turns(one);
    if (shown.length === 0) return;
    const at = to % shown.length;
    const text = `again-${++this.#said}`;
    const before = await this.#read();
    const withFiles = files && this.#writer === one;
    const params = {
      text,
      truncate_before_row_id: shown[at].row_id,
      truncate_before_user_ordinal: at,
      confirm_truncate: true,
      confirm_empty_truncate: true,
      ...(withFiles ? { restore_files: true } : {}),
    };
    if (at < one.ancestors) {
      const refused = await this.#host.refused("prompt.submit", { session_id: one.sid, ...params });
      assertEquals(refused.code, 4018);
      return;
    }
    const told = await this.#submit(one, params);
    const target = one.turns[at]!;
    one.turns.splice(at, one.turns.length, { text, file: withFiles ? target.file : before });
    assertEquals(await this.#read(), withFiles ? target.file : before, "the file");
    const now = (await this.#turns(one)).map((row) => row.row_id);
    assertEquals(told.survivor_user_row_ids, now.slice(0, at), "survivors");
    this.#compareSent(one);
  }

  async #refuse(one: Expected, to: number, how: Refusal): Promise<void> {
    const all = await this.#rows(one);
    const shown = turnsOf(all);
    const at = to % Math.max(1, shown.length);
    const row = shown[at]?.row_id ?? 1;
    const sure = { confirm_truncate: true, confirm_empty_truncate: true };
    const answer = all.find((message) => message.role !== "user" && message.row_id !== undefined)?.row_id;
    const foreign = this.all.find((other) => other !== one);
    const other = foreign && (await this.#turns(foreign)).at(-1)?.row_id;
    const tries: Record<Refusal, readonly [params: Json, code: number] | null> = {
      unconfirmed: [{ truncate_before_row_id: row }, 4029],
      stale: [{ truncate_before_row_id: 987_654, truncate_before_user_ordinal: at, ...sure }, 4018],
      answer: answer === undefined ? null : [{ truncate_before_row_id: answer, ...sure }, 4018],
      ordinal: shown.length - one.ancestors < 2
        ? null
        : [{ truncate_before_row_id: shown.at(-1)!.row_id, truncate_before_user_ordinal: -1, ...sure }, 4030],
      empty: one.compressed || shown.length === 0 || shown[0].row_id !== firstRow(all) || one.ancestors > 0
        ? null
        : [{ truncate_before_row_id: shown[0].row_id, confirm_truncate: true }, 4028],
      fraction: [{ truncate_before_row_id: row + 0.5, ...sure }, 4004],
      other: other === undefined || shown.some((mine) => mine.row_id === other)
        ? null
        : [{ truncate_before_row_id: other, ...sure }, 4018],
    };
    const wanted = tries[how];
    if (!wanted) return;
    const calls = this.#model.calls().length;
    const refused: RpcFailure = await this.#host.refused("prompt.submit", {
      session_id: one.sid,
      text: "x",
      ...wanted[0],
    });
    assertEquals(refused.code, wanted[1], how);
    assertEquals(await this.#rows(one), all);
    assertEquals(this.#model.calls().length, calls);
  }

  async #undo(one: Expected): Promise<void> {
    const before = await this.#turns(one);
    const { removed } = await this.#host.request("session.undo", { session_id: one.sid });
    if (removed > 0) assertEquals(await this.#turns(one), before.slice(0, -1), "what stays keeps its ids");
    assertEquals(removed > 0, one.turns.length > one.ancestors);
    if (removed > 0) one.turns.pop();
  }

  async #branch(one: Expected): Promise<void> {
    if (this.all.length > 2 || one.turns.length === 0) return;
    const made = await this.#host.request("session.branch", { session_id: one.sid });
    const { session_id, stored_session_id } = made;
    const branch = { ...one, sid: session_id, stored: stored_session_id, turns: [...one.turns] };
    // A branch holds the rows of its own only: what its parent has compressed is not shown in it.
    const shown = (await this.#turns(branch)).length;
    branch.turns.splice(0, branch.turns.length - shown);
    branch.ancestors = 0;
    this.all.push(branch);
  }

  async #compress(one: Expected): Promise<void> {
    const done = await this.#host.request("session.compress", { session_id: one.sid });
    if (done.summary.noop) return;
    one.compressed = true;
    const refused = await this.#host.refused("prompt.submit", {
      session_id: one.sid,
      text: "x",
      truncate_before_row_id: 987_654,
      confirm_truncate: true,
    });
    assertEquals([refused.code, refused.data.user_turn_count], [4018, one.turns.length]);
    one.ancestors = refused.data.prefix_user_count;
  }

  async #reopen(one: Expected): Promise<void> {
    if (one.turns.length === 0) return;
    await this.#host.request("session.close", { session_id: one.sid });
    const opened = await this.#host.request("session.resume", { session_id: one.stored });
    one.sid = opened.session_id;
    assertEquals(opened.messages, await this.#rows(one));
  }

  // ── Looking ───────────────────────────────────────────────────────────────────────────────────────────────

  async #submit(one: Expected, params: Json): Promise<Json> {
    const before = this.#host.eventsOf("message.complete", one.sid).length;
    const told = await this.#host.request("prompt.submit", { session_id: one.sid, ...params });
    assertEquals(told.status, "streaming");
    const { status, error } = await this.#host.event("message.complete", one.sid, before);
    assertEquals([status, error], ["complete", undefined]);
    await this.#host.idle(one.sid);
    return told;
  }

  async #rows(one: Expected): Promise<Json[]> {
    return (await this.#host.request("session.history", { session_id: one.sid })).messages;
  }

  async #turns(one: Expected): Promise<Json[]> {
    return turnsOf(await this.#rows(one));
  }

  /** Memory: the model is sent the turns of this segment that are shown, in their order, and no others. */
  #compareSent(one: Expected): void {
    const sent = this.#model.calls().at(-1)!.body.messages.filter((message: Json) => message.role === "user")
      .flatMap(({ content }: Json) =>
        typeof content === "string" ? [content] : content.flatMap((part: Json) => part.text ?? [])
      ).flatMap((text: string) => text.match(/\b(plain|tool|edit|image|again)-\d+/g) ?? []);
    const own = one.turns.slice(one.ancestors).map(({ text }) => text.split("\n")[0]);
    assertEquals(sent, own, "sent");
  }

  async #read(): Promise<string | null> {
    return await Deno.readTextFile(this.#file).catch(() => null);
  }
}

function turnsOf(rows: Json[]): Json[] {
  return rows.filter((row) => row.role === "user" && row.display_kind === undefined);
}

function firstRow(rows: Json[]): number {
  return rows[0]?.row_id;
}

function respond(request: ModelServerRequest): ScriptTurn {
  const last = request.body.messages.at(-1);
  const text = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  if (text.includes("Summarise the conversation")) return "THE SUMMARY";
  if (last.role !== "user") return "done";
  const edit = /edit-(\d+)/.exec(text);
  if (edit) return { steps: [{ tool: "terminal", args: { command: "true" } }, writing(edit[1]!)] };
  return /tool-\d+/.test(text) ? { steps: [{ tool: "todo", args: {} }] } : "ok";
}

function writing(text: string): { tool: string; args: Record<string, unknown> } {
  return { tool: "write_file", args: { path: "f.txt", content: text } };
}

Deno.test("B.11: whatever came before it, a rewind leaves store, memory and client in agreement", async () => {
  await using model = await startModelServer({ respond, models: ["scripted", "other"] });
  await using rig: Rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  let n = 0;
  await holds(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 24, size: "max" }), async (steps) => {
      const folder = `${rig.workspace}/w${++n}`;
      await Deno.mkdir(folder);
      await Deno.writeFile(`${folder}/i.png`, Uint8Array.from(atob(PNG), (c) => c.charCodeAt(0)));
      const world = new World(host, model, folder);
      await world.open();
      for (const [at, step] of steps.entries()) {
        await world.take(step);
        await world.check(`after step ${at} (${JSON.stringify(step)})`);
      }
      assert(world.all.length > 0);
      await world.close();
    }),
    0.1,
  );
});
