/**
 * The third door: a small HTTP client. A Chat Completions request streams over SSE; the question arrives in that
 * stream and is answered with a POST of its own, while the stream stays open.
 */
import { demand, type DoorReport, unifiedDiffSaid } from "./door.ts";
import { at, get, type Json, list, parseJson, text } from "./json.ts";
import type { Said, Scene } from "./scene.ts";
import { DemoFailure, ServerProcess } from "./server_process.ts";
import type { Stage } from "./stage.ts";

const SECRET_FILE = ".env.api-demo";
const PROMPT = `write "LANGUAGE=fr" to ${SECRET_FILE}`;
const COMMAND = "hermes serve";
const REQUEST_MS = 15_000;

class ApiClient {
  readonly #stage: Stage;
  readonly #server: ServerProcess;
  readonly #scene: Scene;
  readonly #baseUrl: string;
  asked = 0;

  constructor(stage: Stage, server: ServerProcess, scene: Scene, baseUrl: string) {
    this.#stage = stage;
    this.#server = server;
    this.#scene = scene;
    this.#baseUrl = baseUrl;
  }

  #fetch(path: string, body?: Json): Promise<Response> {
    return this.#stage.platform.fetch(this.#baseUrl + path, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${this.#stage.apiKey}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(REQUEST_MS),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async health(): Promise<number> {
    this.#scene.show([], { sent: true, at: this.#server.elapsed(), name: "GET /health" });
    const response = await this.#fetch("/health");
    const body: unknown = await response.json();
    demand(response.status === 200, `/health answered ${response.status}`);
    const when = this.#server.elapsed();
    this.#scene.show([], { sent: false, at: when, name: "200", detail: body });
    return when;
  }

  /** One streamed chat; returns the session id of its header. */
  async chat(prompt: string): Promise<string> {
    const body = { model: "hermes-agent", stream: true, messages: [{ role: "user", content: prompt }] };
    this.#scene.show([{ who: "you", text: prompt }], {
      sent: true,
      at: this.#server.elapsed(),
      name: "POST /v1/chat/completions",
      detail: body,
    });
    const response = await this.#fetch("/v1/chat/completions", body);
    if (response.status !== 200) {
      throw new DemoFailure(
        `the chat was answered with ${response.status}: ${(await response.text()).slice(0, 200)}`,
      );
    }
    const sessionId = response.headers.get("x-hermes-session-id") ?? "";
    this.#scene.show([], {
      sent: false,
      at: this.#server.elapsed(),
      name: "200 text/event-stream",
      detail: `x-hermes-session-id: ${sessionId}`,
    });
    await this.#follow(response.body!);
    return sessionId;
  }

  async #follow(body: ReadableStream<Uint8Array>): Promise<void> {
    let finish = "";
    for await (const { event, data } of readSse(body)) {
      const when = this.#server.elapsed();
      if (data === "[DONE]") {
        this.#scene.show([], { sent: false, at: when, name: "data: [DONE]" });
        demand(finish === "stop", `the answer ended with "${finish}", not "stop"`);
        return;
      }
      finish = await this.#frame(event, parseJson(data), when) || finish;
    }
    throw new DemoFailure("the stream ended without [DONE]");
  }

  /** The finish reason, when the chunk has one. */
  async #frame(event: string, chunk: Json, when: number): Promise<string> {
    const name = event ? `event: ${event}` : "data: chunk";
    const frame = { sent: false, at: when, name };
    if (event === "approval.request") await this.#allow(chunk, when);
    else if (event === "hermes.tool.progress" && chunk.status === "running") {
      const said: Said[] = [{ who: "tool", text: `${text(chunk, "tool")}: ${text(chunk, "label")}` }];
      this.#scene.show(said, { ...frame, detail: { tool: chunk.tool, status: chunk.status } });
    } else if (event) {
      this.#scene.show([], { ...frame, detail: { tool: chunk.tool, status: chunk.status } });
    } else {
      const delta = at(chunk, "choices", 0, "delta");
      const words = text(delta, "content");
      if (words) this.#scene.stream("hermes", words, { ...frame, name: "data: delta.content" });
      else this.#scene.skip();
      const finish = text(chunk, "choices", 0, "finish_reason");
      if (finish) {
        const detail = { finish_reason: finish, usage: chunk.usage };
        this.#scene.show([], { ...frame, name: "data: finish", detail });
      }
      return finish;
    }
    return "";
  }

  async #allow(chunk: Json, when: number): Promise<void> {
    const approval = at(chunk, "hermes", "approval");
    demand(list(approval, "choices").includes("once"), "the edit could not be allowed once");
    this.asked++;
    this.#scene.show(
      [
        { who: "ask", text: this.#stage.short(text(approval, "description")) },
        ...unifiedDiffSaid(text(approval, "command")),
      ],
      {
        sent: false,
        at: when,
        name: "event: approval.request",
        detail: { choices: approval.choices, request_id: approval.request_id },
      },
    );
    const body = { choice: "once", request_id: get(approval, "request_id") };
    this.#scene.show([{ who: "you", text: "allow once" }], {
      sent: true,
      at: this.#server.elapsed(),
      name: "POST /v1/runs/{id}/approval",
      detail: body,
    });
    const response = await this.#fetch(`/v1/runs/${text(chunk, "id")}/approval`, body);
    const answer: unknown = await response.json();
    demand(response.status === 200, `the approval was answered with ${response.status}`);
    const detail = { resolved: get(answer, "resolved") };
    this.#scene.show([], { sent: false, at: this.#server.elapsed(), name: "200", detail });
  }
}

/** Server-sent events of one body: the name (empty when unnamed) and the data of each. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: string }> {
  let rest = "";
  for await (
    const part of body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
  ) {
    rest += part;
    for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
      const block = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (name: string) =>
        block.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
      const data = field("data").join("\n");
      if (data !== "") yield { event: field("event")[0] ?? "", data };
    }
  }
}

async function waitForUrl(server: ServerProcess): Promise<string> {
  const line = await server.next("the ready line");
  const url = /https?:\/\/[\w.:[\]-]+/.exec(line.text)?.[0];
  demand(url !== undefined, `the ready line has no address: ${line.text}`);
  return url;
}

export async function runApiDoor(
  stage: Stage,
  scene: Scene,
  track: (server: ServerProcess) => void,
): Promise<DoorReport> {
  const server = new ServerProcess(stage, ["serve", "--demo", "--host", "127.0.0.1", "--port", "0"]);
  track(server);
  const url = await waitForUrl(server);
  scene.show([], { sent: false, at: server.elapsed(), name: "ready line", detail: `listening on ${url}` });
  const client = new ApiClient(stage, server, scene, url);
  const firstAnswerMs = await client.health();
  const before = server.elapsed();
  const sessionId = await client.chat(PROMPT);
  const turnMs = server.elapsed() - before;
  demand(client.asked === 1, `the edit was asked about ${client.asked} times, not once`);
  const now = await stage.readText(SECRET_FILE);
  demand(now?.trim() === "LANGUAGE=fr", `${SECRET_FILE} was not written`);
  const exit = await server.terminate();
  demand(exit.code === 0, `exit code ${exit.code} after SIGTERM`);
  scene.show([{ who: "good", text: `${SECRET_FILE} is on disk` }], {
    sent: true,
    at: server.elapsed(),
    name: "SIGTERM",
    detail: `exit code 0 after ${Math.round(exit.ms)} ms`,
  });
  return {
    command: COMMAND,
    firstAnswerMs,
    turnMs,
    frames: scene.frames,
    sessionId,
    exit: `0 in ${Math.round(exit.ms)} ms`,
  };
}
