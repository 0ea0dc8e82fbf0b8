/** The conversation of docs/gateway.md, replayed against the real program as a reader would. */
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";

const DOC = new URL("../../../docs/gateway.md", import.meta.url);

function block(text: string, language: string): string {
  const found = new RegExp("```" + language + "\\n([\\s\\S]*?)```").exec(text);
  if (!found) throw new Error(`docs/gateway.md has no ${language} block`);
  return found[1]!;
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
    for (const [shown, real] of this.#real) out = out.replaceAll(`"${shown}"`, `"${real}"`);
    return out;
  }
}

const OPEN = new Set(["session_id", "stored_session_id", "request_id", "tool_id"]);

/** Everything that is shown is there; more may be. */
function assertShown(shown: Json, real: Json, bindings: Bindings, path: string): void {
  if (Array.isArray(shown) || typeof shown !== "object" || shown === null) {
    return assertEquals(real, shown, path);
  }
  for (const [key, value] of Object.entries(shown)) {
    const at = `${path}.${key}`;
    assert(real !== null && typeof real === "object" && key in real, `${at} is missing`);
    if (OPEN.has(key) && typeof value === "string") bindings.bind(value, real[key]);
    else assertShown(value, real[key], bindings, at);
  }
}

Deno.test("the conversation in docs/gateway.md happens as it is written", async () => {
  const doc = await Deno.readTextFile(DOC);
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/turns.jsonc`, block(doc, "jsonc"));
  await Deno.mkdir(`${rig.workspace}/build`);
  await using host = await startGateway({ rig, args: ["--model", "builtin:script:./turns.jsonc"] });
  const bindings = new Bindings();
  let seen = 0;
  for (const line of block(doc, "transcript").trimEnd().split("\n")) {
    const frame = line.slice(2);
    if (line.startsWith("→")) {
      await host.sendLine(bindings.apply(frame));
      continue;
    }
    const real = await host.until(() => host.frames[seen], `frame ${seen}: ${frame}`);
    assertShown(JSON.parse(frame), real, bindings, `frame ${seen}`);
    seen++;
  }
  await host.end();
  assertEquals(
    host.frames.slice(seen).map((frame) => frame.params?.type).filter((type) => type !== "session.title"),
    [],
  );
});
