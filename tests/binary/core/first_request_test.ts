/**
 * What the first request of a session costs, on every door: small requests are a feature, and tool texts creep. The
 * names, types and choices of the tools' parameters are prescribed (core.md B.3 to B.12, I.1), the texts are ours.
 */
import { withAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig } from "../../support/program.ts";

// Bytes. Whoever needs more must find out what else can go.
const MAX_REQUEST = 11_000;
const MAX_PROMPT = 1_900;
const MAX_TOOL = 850;

const TOOLS =
  "terminal process read_file write_file patch search_files web_extract vision_analyze todo memory session_search " +
  "skills_list skill_view skill_manage delegate_task";

/** The longest of all; it stands for a whole agent's work. */
const LARGEST: Readonly<Record<string, number>> = { delegate_task: 1_100 };

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function checkFirstRequest(model: ModelServer, names: string): void {
  const { body } = model.calls()[0]!;
  const tools: { function: { name: string } }[] = body.tools;
  assertEquals(tools.map((tool) => tool.function.name).join(" "), names);
  for (const tool of tools) {
    const { name } = tool.function;
    const size = bytesOf(tool);
    assert(size > 150 && size <= (LARGEST[name] ?? MAX_TOOL), `${name}: ${size} bytes`);
  }
  const prompt = bytesOf(body.messages[0].content);
  assert(prompt > 1_000 && prompt <= MAX_PROMPT, `prompt: ${prompt} bytes`);
  const all = bytesOf(body);
  assert(all > 5_000 && all <= MAX_REQUEST, `request: ${all} bytes`);
}

Deno.test("core B.1: the first request of a session without project files is small: gateway", async () => {
  await using model = await startModelServer({ turns: ["ok"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  await host.turn((await host.session({ cwd: rig.workspace })).sid, "hi");
  checkFirstRequest(model, `${TOOLS} clarify`);
});

Deno.test("core B.1: the first request of a session without project files is small: acp", async () => {
  await withAcp({ turns: ["ok"] }, async ({ acp, model, sessionId }) => {
    await acp.prompt(sessionId, "hi");
    checkFirstRequest(model, `${TOOLS} clarify`);
  });
});

Deno.test("core B.1: the first request of a session without project files is small: serve", async () => {
  await using model = await startModelServer({ turns: ["ok"] });
  await using api = await startApi({ model });
  const response = await fetch(`${api.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "authorization": `Bearer ${api.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "hermes-agent", messages: [{ role: "user", content: "hi" }] }),
  });
  assertEquals((await response.json()).choices[0].message.content, "ok");
  checkFirstRequest(model, TOOLS);
});
