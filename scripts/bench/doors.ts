/** The three doors as the benchmark drives them: start, session, prompt, cancel. */
import { Child } from "./child.ts";

export interface Place {
  readonly binary: string;
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** Milliseconds of one turn as the client sees them. */
export interface TurnTimes {
  readonly firstMs: number;
  readonly endMs: number;
}

export interface Door extends AsyncDisposable {
  readonly pid: number;
  /** Milliseconds from start to the first answer. */
  readonly startMs: number;
  newSession(): Promise<number>;
  turn(text: string): Promise<TurnTimes>;
  /** Lines of one long stream and the milliseconds it took. */
  stream(count: number): Promise<{ ms: number; lines: number }>;
  /** Cancels a running slow turn; milliseconds until it is told as cancelled. */
  cancel(): Promise<number>;
  /** Ends the program in its normal way; milliseconds and exit code. */
  end(): Promise<{ ms: number; code: number }>;
}

export async function openAcp(place: Place): Promise<Door> {
  const child = new Child([place.binary, "acp"], place);
  let id = 0;
  let sessionId = "";
  const request = (method: string, params: unknown) =>
    child.send({ jsonrpc: "2.0", id: ++id, method, params });
  const isAnswer = (line: string) => line.includes(`"id":${id},`) || line.includes(`"id":${id}}`);
  await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const first = await child.line(isAnswer);
  const prompt = (text: string) => request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  return {
    pid: child.pid,
    startMs: first.at - child.started,
    async newSession() {
      const start = performance.now();
      await request("session/new", { cwd: place.cwd, mcpServers: [] });
      const hit = await child.line(isAnswer);
      sessionId = JSON.parse(hit.text).result.sessionId;
      return hit.at - start;
    },
    async turn(text) {
      const start = performance.now();
      await prompt(text);
      const chunk = await child.line((line) => line.includes("agent_message_chunk"));
      const end = await child.line((line) => line.includes("stopReason"));
      return { firstMs: chunk.at - start, endMs: end.at - start };
    },
    async stream(count) {
      const start = performance.now();
      const counted = child.countUntil((chunk) => chunk.includes('"stopReason"'));
      await prompt(`stream ${count}`);
      const { at, lines } = await counted;
      return { ms: at - start, lines };
    },
    async cancel() {
      await prompt("slow");
      await child.line((line) => line.includes("agent_message_chunk"));
      const start = performance.now();
      await child.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
      const end = await child.line((line) => line.includes("stopReason"));
      if (!end.text.includes("cancelled")) throw new Error(`A cancel was lost: ${end.text}`);
      return end.at - start;
    },
    end: () => child.end(),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

export async function openGateway(place: Place): Promise<Door> {
  const child = new Child([place.binary, "gateway"], place);
  let id = 0;
  let sid = "";
  const request = (method: string, params: unknown) =>
    child.send({ jsonrpc: "2.0", id: ++id, method, params });
  const isAnswer = (line: string) => line.includes(`"id":${id},`) || line.includes(`"id":${id}}`);
  const first = await child.line((line) => line.includes("gateway.ready"));
  const prompt = (text: string) => request("prompt.submit", { session_id: sid, text });
  const isEnd = (line: string) => line.includes('"message.complete"');
  const settled = () =>
    child.line((line) => line.includes('"session.info"') && line.includes('"running":false'));
  return {
    pid: child.pid,
    startMs: first.at - child.started,
    async newSession() {
      const start = performance.now();
      await request("session.create", { cwd: place.cwd });
      const hit = await child.line(isAnswer);
      sid = JSON.parse(hit.text).result.session_id;
      return hit.at - start;
    },
    async turn(text) {
      const start = performance.now();
      await prompt(text);
      const chunk = await child.line((line) => line.includes('"message.delta"'));
      const end = await child.line(isEnd);
      await settled();
      return { firstMs: chunk.at - start, endMs: end.at - start };
    },
    async stream(count) {
      const start = performance.now();
      const counted = child.countUntil((chunk) => chunk.includes('"message.complete"'));
      await prompt(`stream ${count}`);
      const { at, lines } = await counted;
      return { ms: at - start, lines };
    },
    async cancel() {
      await prompt("slow");
      await child.line((line) => line.includes('"message.delta"'));
      const start = performance.now();
      await request("session.interrupt", { session_id: sid });
      const end = await child.line(isEnd);
      if (!end.text.includes("interrupted")) throw new Error(`A cancel was lost: ${end.text}`);
      await settled();
      return end.at - start;
    },
    end: () => child.end(),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

const KEY = "bench-key-0123456789abcdef0123456789";

export async function openServe(
  place: Place,
): Promise<Door & { readonly url: string; readonly key: string }> {
  const child = new Child([place.binary, "serve", "--port", "0"], {
    ...place,
    env: { ...place.env, API_SERVER_KEY: KEY },
  });
  const ready = await child.line((line) => line.includes("http://"));
  const url = /http:\/\/[^\s/]+/.exec(ready.text)![0];
  const health = await fetch(`${url}/health`);
  await health.body?.cancel();
  const startMs = performance.now() - child.started;
  const chat = (text: string, signal?: AbortSignal) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "hermes-agent",
        stream: true,
        messages: [{ role: "user", content: text }],
      }),
      signal: signal ?? null,
    });
  /** Reads a stream to its end; when `delta.content` first came, and the number of frames. */
  async function read(response: Response): Promise<{ first: number; end: number; frames: number }> {
    const decoder = new TextDecoder();
    let first = 0;
    let frames = 0;
    for await (const chunk of response.body!) {
      const text = decoder.decode(chunk, { stream: true });
      if (first === 0 && text.includes('"content":"o')) first = performance.now();
      if (first === 0 && text.includes('"content":"t')) first = performance.now();
      for (let i = text.indexOf("\n\n"); i !== -1; i = text.indexOf("\n\n", i + 2)) frames++;
    }
    return { first, end: performance.now(), frames };
  }
  let n = 0;
  return {
    pid: child.pid,
    startMs,
    url,
    key: KEY,
    async newSession() {
      const start = performance.now();
      const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } });
      await response.body?.cancel();
      return performance.now() - start;
    },
    async turn(text) {
      const start = performance.now();
      const { first, end } = await read(await chat(`${n++} ${text}`));
      return { firstMs: first - start, endMs: end - start };
    },
    async stream(count) {
      const start = performance.now();
      const { end, frames } = await read(await chat(`${n++} stream ${count}`));
      return { ms: end - start, lines: frames };
    },
    async cancel() {
      const controller = new AbortController();
      const response = await chat(`${n++} slow`, controller.signal);
      const reader = response.body!.getReader();
      await reader.read();
      await reader.read();
      controller.abort();
      await reader.read().catch(() => {/* that is the abort */});
      return NaN;
    },
    async end() {
      const start = performance.now();
      child.signal("SIGTERM");
      const { code } = await child.end();
      return { ms: performance.now() - start, code };
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
