/**
 * The second door: a small gateway host. Events arrive as notifications; a question is answered with a request of
 * its own. The same client later resumes the session that began in the editor's door.
 */
import { demand, type DoorReport, unifiedDiffSaid } from "./door.ts";
import { at, get, type Json, list, parseJson, text } from "./json.ts";
import type { Said, Scene } from "./scene.ts";
import { ServerProcess } from "./server_process.ts";
import type { Stage } from "./stage.ts";

/** A harmless file that looks like one with secrets, so that the edit is asked about in this door too. */
const SECRET_FILE = ".env.demo";
const PROMPT = `write "GREETING=Bonjour" to ${SECRET_FILE}`;
const COMMAND = "hermes gateway";

export class GatewayClient {
  readonly server: ServerProcess;
  readonly #stage: Stage;
  readonly #scene: Scene;
  #id = 0;
  asked = 0;
  firstFrameMs = 0;

  constructor(stage: Stage, server: ServerProcess, scene: Scene) {
    this.#stage = stage;
    this.server = server;
    this.#scene = scene;
  }

  async ready(): Promise<void> {
    const line = await this.server.next("gateway.ready");
    const type = text(parseJson(line.text), "params", "type");
    demand(type === "gateway.ready", `the first frame was ${type || "no event"}`);
    this.firstFrameMs = line.at;
    this.#scene.show([], { sent: false, at: line.at, name: "gateway.ready" });
  }

  async request(method: string, params: Json, said: readonly Said[] = []): Promise<Json> {
    const id = `r${++this.#id}`;
    this.#scene.show(said, {
      sent: true,
      at: this.server.elapsed(),
      name: method,
      detail: shownParams(params),
    });
    await this.server.send({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const line = await this.server.next(`the answer to ${method}`);
      const message = parseJson(line.text);
      if (message.id !== id) {
        await this.#event(message, line.at);
        continue;
      }
      demand(message.error === undefined, `${method} failed: ${text(message, "error", "message")}`);
      this.#scene.show([], {
        sent: false,
        at: line.at,
        name: "result",
        detail: abridgeResult(at(message, "result")),
      });
      return at(message, "result");
    }
  }

  /** Submits a prompt and follows its events to the end. */
  async turn(sessionId: string, prompt: string): Promise<string> {
    await this.request("prompt.submit", { session_id: sessionId, text: prompt }, [{
      who: "you",
      text: prompt,
    }]);
    for (;;) {
      const line = await this.server.next("message.complete");
      const done = await this.#event(parseJson(line.text), line.at);
      if (done) return done;
    }
  }

  /** The status of a finished turn, else null. */
  async #event(message: Json, when: number): Promise<string | null> {
    const type = text(message, "params", "type");
    const payload = at(message, "params", "payload");
    const frame = { sent: false, at: when, name: type };
    switch (type) {
      case "message.delta":
        this.#scene.stream("hermes", text(payload, "text"), frame);
        return null;
      case "reasoning.delta":
        this.#scene.stream("thought", text(payload, "text"), frame);
        return null;
      case "tool.start":
        this.#scene.show([{ who: "tool", text: `${text(payload, "name")}: ${text(payload, "context")}` }], {
          ...frame,
          detail: { name: payload.name, tool_id: payload.tool_id },
        });
        return null;
      case "tool.complete":
        this.#scene.show([], { ...frame, detail: { result: payload.result, tool_id: payload.tool_id } });
        return null;
      case "approval.request":
        await this.#allow(text(message, "params", "session_id"), payload, when);
        return null;
      case "message.complete":
        this.#scene.show([], { ...frame, detail: { status: payload.status, usage: payload.usage } });
        return text(payload, "status") || "unknown";
      default:
        this.#scene.skip();
        return null;
    }
  }

  async #allow(sessionId: string, payload: Json, when: number): Promise<void> {
    demand(list(payload, "choices").includes("once"), "the edit could not be allowed once");
    this.asked++;
    const diff = unifiedDiffSaid(text(payload, "command"));
    const said: Said[] = [
      { who: "ask", text: withoutEcho(this.#stage.short(text(payload, "description"))) },
      ...diff,
    ];
    this.#scene.show(said, {
      sent: false,
      at: when,
      name: "approval.request",
      detail: { choices: payload.choices, request_id: payload.request_id },
    });
    await this.request(
      "approval.respond",
      { session_id: sessionId, choice: "once", request_id: payload.request_id },
      [{ who: "you", text: "allow once" }],
    );
  }
}

/** `sensitive file: x (why): x` says its file twice. */
function withoutEcho(description: string): string {
  return description.replace(/^(.*?(\S+) \(.*\)): \2$/, "$1");
}

/** What is new in a request first. */
function shownParams({ session_id, ...rest }: Json): Json {
  return session_id === undefined ? rest : { ...rest, session_id };
}

function abridgeResult(result: Json): Json {
  const { messages: _messages, info: _info, ...rest } = result;
  return rest;
}

export async function runGatewayDoor(
  stage: Stage,
  scene: Scene,
  track: (server: ServerProcess) => void,
): Promise<{ report: DoorReport; client: GatewayClient }> {
  const server = new ServerProcess(stage, ["gateway", "--demo"]);
  track(server);
  const client = new GatewayClient(stage, server, scene);
  await client.ready();
  const created = await client.request("session.create", { cwd: stage.work });
  const before = server.elapsed();
  const status = await client.turn(text(created, "session_id"), PROMPT);
  const turnMs = server.elapsed() - before;
  demand(status === "complete", `the turn ended with status ${status}`);
  demand(client.asked === 1, `the edit was asked about ${client.asked} times, not once`);
  const now = await stage.readText(SECRET_FILE);
  demand(now?.trim() === "GREETING=Bonjour", `${SECRET_FILE} was not written`);
  scene.show([{ who: "good", text: `${SECRET_FILE} is on disk` }]);
  const report: DoorReport = {
    command: COMMAND,
    firstAnswerMs: client.firstFrameMs,
    turnMs,
    frames: scene.frames,
    sessionId: text(created, "stored_session_id"),
    exit: "",
  };
  return { report, client };
}

const MOST_SHOWN = 4;

/** The editor's session goes on here: its history comes along, and a new turn reads what the first one wrote. */
export async function resumeInGateway(
  client: GatewayClient,
  acpSessionId: string,
  file: string,
  expected: string,
  scene: Scene,
): Promise<{ ms: number; exit: string }> {
  const before = client.server.elapsed();
  const resumed = await client.request("session.resume", { session_id: acpSessionId });
  const messages = list(resumed, "messages");
  demand(messages.length >= 2, `the resumed session has ${messages.length} messages, not its history`);
  const shown = messages.slice(0, MOST_SHOWN).map((message): Said => ({
    who: "note",
    text: `${text(message, "role")}: ${
      text(message, "text") || text(message, "content") || text(message, "name")
    }`
      .slice(0, 70),
  }));
  scene.show([{ who: "good", text: `${messages.length} messages came along:` }, ...shown]);
  const status = await client.turn(text(resumed, "session_id"), `read ${file}`);
  demand(status === "complete", `the turn ended with status ${status}`);
  const ms = client.server.elapsed() - before;
  const history = await client.request("session.history", { session_id: text(resumed, "session_id") });
  const all = JSON.stringify(get(history, "messages") ?? []);
  demand(all.includes(expected), `the continued session did not see "${expected}"`);
  const exit = await client.server.finish();
  demand(exit.code === 0, `exit code ${exit.code} at the end of stdin`);
  scene.show([{ who: "good", text: "one conversation, two doors" }], {
    sent: true,
    at: client.server.elapsed(),
    name: "end of stdin",
    detail: `exit code 0 after ${Math.round(exit.ms)} ms`,
  });
  return { ms, exit: `0 in ${Math.round(exit.ms)} ms` };
}
