/** The conversations of docs/gateway.md, replayed against the real program as a reader would. */
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";

const DOC = new URL("../../../docs/gateway.md", import.meta.url);
const CUT = "← …";

interface Conversation {
  /** The script of the model: the last one shown before it. */
  readonly script: string;
  readonly lines: readonly string[];
}

function conversations(text: string): Conversation[] {
  const found: Conversation[] = [];
  let script = "";
  for (const [, language, body] of text.matchAll(/```(jsonc|transcript)\n([\s\S]*?)```/g)) {
    if (language === "jsonc") script = body!;
    else found.push({ script, lines: body!.trimEnd().split("\n") });
  }
  return found;
}

/** Values that differ from run to run; the first meeting of one in the text binds it to the real one. */
class Bindings {
  readonly #real = new Map<string, string>();

  bind(shown: string, real: string): void {
    if (!this.#real.has(shown)) this.#real.set(shown, real);
    assertEquals(this.#real.get(shown), real, `${shown} means one thing`);
  }

  apply(line: string): string {
    let out = line;
    for (const [shown, real] of this.#real) {
      out = out.replaceAll(`"${shown}"`, `"${real}"`).replaceAll(
        `row_id":${shown.slice(4)},`,
        `row_id":${real.slice(4)},`,
      );
    }
    return out;
  }
}

const OPEN = new Set(["session_id", "stored_session_id", "request_id", "tool_id"]);

/** Everything that is shown is there; more may be, but not in a list. */
function assertShown(shown: Json, real: Json, bindings: Bindings, path: string): void {
  if (Array.isArray(shown) && shown.some((one) => typeof one === "object")) {
    assertEquals(real?.length, shown.length, path);
    for (const [at, one] of shown.entries()) assertShown(one, real[at], bindings, `${path}.${at}`);
    return;
  }
  if (Array.isArray(shown) || typeof shown !== "object" || shown === null) {
    return assertEquals(real, shown, path);
  }
  for (const [key, value] of Object.entries(shown)) {
    const at = `${path}.${key}`;
    assert(real !== null && typeof real === "object" && key in real, `${at} is missing`);
    const open = OPEN.has(key) || (key === "id" && String(value).startsWith("srq-"));
    if (open && typeof value === "string") bindings.bind(value, real[key]);
    else if (key === "row_id") bindings.bind(`row ${value}`, `row ${real[key]}`);
    else assertShown(value, real[key], bindings, at);
  }
}

async function replay({ script, lines }: Conversation): Promise<void> {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/turns.jsonc`, script);
  await Deno.mkdir(`${rig.workspace}/build`);
  await using host = await startGateway({ rig, args: ["--model", "builtin:script:./turns.jsonc"] });
  const bindings = new Bindings();
  let seen = 0;
  let cut = false;
  for (const line of lines) {
    const text = line.slice(2);
    if (line === CUT) {
      cut = true;
      continue;
    }
    if (line.startsWith("→")) {
      await host.sendLine(bindings.apply(text));
      continue;
    }
    const shown = JSON.parse(text);
    if (cut) {
      const next = () => {
        const at = host.frames.findIndex((frame, at) => at >= seen && fits(shown, frame));
        return at === -1 ? undefined : at;
      };
      seen = await host.until(next, `frame after ${seen}: ${text}`);
      cut = false;
    }
    const real = await host.until(() => host.frames[seen], `frame ${seen}: ${text}`);
    assertShown(shown, real, bindings, `frame ${seen}`);
    seen++;
  }
  await host.end();
  const rest = host.frames.slice(seen).map((frame) => frame.params?.type);
  // A title is found any time later, and told by an info, too.
  assertEquals(rest.filter((type) => type !== "session.title" && type !== "session.info"), []);
}

/** True for the frame that a cut leads to. */
function fits(shown: Json, real: Json): boolean {
  if (shown.method !== real.method || shown.params?.type !== real.params?.type) return false;
  return shown.method !== undefined || shown.id === real.id;
}

Deno.test("the conversations in docs/gateway.md happen as they are written", async (t) => {
  const found = conversations(await Deno.readTextFile(DOC));
  assertEquals(found.length, 3);
  for (const [at, one] of found.entries()) {
    await t.step(`conversation ${at + 1}: ${one.lines.length} frames`, () => replay(one));
  }
});
