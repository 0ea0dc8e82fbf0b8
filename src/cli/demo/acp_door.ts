/**
 * The first door: a small ACP client, as an editor is one. It creates a session, sends a prompt, shows the diff
 * that the agent asks about, allows it, and sees the file changed when the turn ends.
 */
import { demand, diffSaid, type DoorReport } from "./door.ts";
import { at, get, type Json, list, parseJson, text } from "./json.ts";
import type { Frame, Scene } from "./scene.ts";
import { ServerProcess } from "./server_process.ts";
import { GREETING_FILE, type Stage } from "./stage.ts";

const PROMPT = `replace Hello by Bonjour in ${GREETING_FILE}`;
const COMMAND = "hermes acp";

class AcpClient {
  readonly #stage: Stage;
  readonly #server: ServerProcess;
  readonly #scene: Scene;
  #id = 0;
  /** Diffs the agent asked about. */
  asked = 0;

  constructor(stage: Stage, server: ServerProcess, scene: Scene) {
    this.#stage = stage;
    this.#server = server;
    this.#scene = scene;
  }

  async request(
    method: string,
    params: Json,
    shown: unknown,
    prompt = "",
  ): Promise<{ result: Json; at: number }> {
    const id = ++this.#id;
    const frame: Frame = { sent: true, at: this.#server.elapsed(), name: method, detail: shown };
    this.#scene.show(prompt ? [{ who: "you", text: prompt }] : [], frame);
    await this.#server.send({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const line = await this.#server.next(`the answer to ${method}`);
      const message = parseJson(line.text);
      if (message.method !== undefined) await this.#serve(message, line.at);
      else if (message.id === id) {
        demand(message.error === undefined, `${method} failed: ${text(message, "error", "message")}`);
        return { result: at(message, "result"), at: line.at };
      }
    }
  }

  async #serve(message: Json, when: number): Promise<void> {
    if (message.method === "session/request_permission") await this.#allow(message, when);
    else if (message.method === "session/update") this.#update(at(message, "params", "update"), when);
    else this.#scene.skip();
  }

  #update(update: Json, when: number): void {
    const kind = text(update, "sessionUpdate");
    const frame: Frame = { sent: false, at: when, name: kind };
    switch (kind) {
      case "agent_message_chunk":
        return this.#scene.stream("hermes", text(update, "content", "text"), frame);
      case "agent_thought_chunk":
        return this.#scene.stream("thought", text(update, "content", "text"), frame);
      case "tool_call":
        return this.#scene.show([{ who: "tool", text: this.#stage.short(text(update, "title")) }], {
          ...frame,
          detail: { kind: update.kind, status: update.status, toolCallId: update.toolCallId },
        });
      case "tool_call_update":
        return update.status === "completed" || update.status === "failed"
          ? this.#scene.show([], {
            ...frame,
            detail: { status: update.status, toolCallId: update.toolCallId },
          })
          : this.#scene.skip();
      default:
        return this.#scene.skip();
    }
  }

  async #allow(message: Json, when: number): Promise<void> {
    const call = at(message, "params", "toolCall");
    const diffs = list(call, "content").filter((item) => get(item, "type") === "diff");
    demand(diffs.length > 0, "the edit was asked about without its diff");
    const options = list(message, "params", "options").map((option) => text(option, "optionId"));
    demand(options.includes("allow_once"), "the edit could not be allowed once");
    this.asked++;
    this.#scene.show(
      [
        { who: "ask", text: this.#stage.short(text(call, "title")) },
        ...diffs.flatMap((diff) => diffSaid(text(diff, "oldText"), text(diff, "newText"))),
      ],
      { sent: false, at: when, name: "session/request_permission", detail: { options } },
    );
    const outcome = { outcome: "selected", optionId: "allow_once" };
    this.#scene.show([{ who: "you", text: "allow once" }], {
      sent: true,
      at: this.#server.elapsed(),
      name: "result",
      detail: { outcome },
    });
    await this.#server.send({ jsonrpc: "2.0", id: message.id, result: { outcome } });
  }
}

export async function runAcpDoor(
  stage: Stage,
  scene: Scene,
  track: (server: ServerProcess) => void,
): Promise<DoorReport> {
  const server = new ServerProcess(stage, ["acp", "--demo"]);
  track(server);
  const client = new AcpClient(stage, server, scene);
  const init = await client.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: {},
    clientInfo: { name: "hermes-demo", version: "1" },
  }, { protocolVersion: 1 });
  showResult(scene, init.at, {
    protocolVersion: init.result.protocolVersion,
    agentInfo: init.result.agentInfo,
  });
  const created = await client.request("session/new", { cwd: stage.work, mcpServers: [] }, {
    cwd: stage.work,
    mcpServers: [],
  });
  const sessionId = text(created.result, "sessionId");
  demand(sessionId !== "", "session/new gave no session id");
  showResult(scene, created.at, { sessionId });

  const before = server.elapsed();
  const prompt = [{ type: "text", text: PROMPT }];
  const turn = await client.request(
    "session/prompt",
    { sessionId, prompt },
    { prompt: [{ text: PROMPT }] },
    PROMPT,
  );
  const turnMs = server.elapsed() - before;
  showResult(scene, turn.at, { stopReason: turn.result.stopReason });
  demand(turn.result.stopReason === "end_turn", `the turn ended with ${String(turn.result.stopReason)}`);
  demand(client.asked === 1, `the edit was asked about ${client.asked} times, not once`);
  const now = await stage.readText(GREETING_FILE);
  demand(now?.startsWith("Bonjour, world!") === true, `${GREETING_FILE} was not changed`);

  const exit = await server.finish();
  demand(exit.code === 0, `exit code ${exit.code} at the end of stdin`);
  scene.show([{ who: "good", text: `${GREETING_FILE} is changed on disk` }], {
    sent: true,
    at: server.elapsed(),
    name: "end of stdin",
    detail: `exit code 0 after ${Math.round(exit.ms)} ms`,
  });
  return {
    command: COMMAND,
    firstAnswerMs: init.at,
    turnMs,
    frames: scene.frames,
    sessionId,
    exit: `0 in ${Math.round(exit.ms)} ms`,
  };
}

function showResult(scene: Scene, when: number, detail: Json): void {
  scene.show([], { sent: false, at: when, name: "result", detail });
}
