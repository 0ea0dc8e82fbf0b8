/**
 * Attack on the HTTP door: requests with faults in body, path, headers and bytes, over raw sockets. Every answer has
 * to be HTTP, never a 500; afterwards the server still serves and ends cleanly.
 */
import { patient } from "../../tests/support/patience.ts";
import { type ApiServer, startApi, statusOf } from "../../tests/support/api_driver.ts";
import { makeRig } from "../../tests/support/program.ts";
import { difference, fingerprint, type Judge } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { damage, encode, mutate } from "./mutate.ts";
import type { Random } from "./random.ts";

interface Known {
  readonly sessions: string[];
  readonly runs: string[];
  readonly responses: string[];
}

interface Wanted {
  readonly method: string;
  readonly path: string;
  readonly body?: Record<string, unknown>;
}

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const REQUESTS_PER_SERVER = 300;
/** What somebody sent who has left may only now be read. */
const SETTLE_MS = 50;
/** Seconds; a run that waits for an answer is at work, and then nothing can be said about the store. */
const APPROVAL_SECONDS = 1;
const encoder = new TextEncoder();

export async function fuzzHttp(requests: number, judge: Judge, random: Random): Promise<number> {
  for (let sent = 0; sent < requests; sent += REQUESTS_PER_SERVER) {
    await oneServer(Math.min(REQUESTS_PER_SERVER, requests - sent), judge, random.fork());
  }
  return requests;
}

async function oneServer(requests: number, judge: Judge, random: Random): Promise<void> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig();
  const config = { ...tortureConfig(model.url), approvals: { timeout: APPROVAL_SECONDS } };
  const api = await startApi({ rig, config });
  const known: Known = { sessions: [], runs: [], responses: [] };
  try {
    for (let n = 0; n < requests; n++) {
      if (random.chance(0.06)) await leaveEarly(api, known, random);
      else await oneRequest(api, known, judge, random);
    }
    const chat = await api.chat({ messages: [{ role: "user", content: "hello" }] });
    const text = await chat.text();
    if (chat.status !== 200) judge.report(`the last chat: ${chat.status} ${text.slice(0, 500)}`);
  } catch (error) {
    judge.report(`the server is gone: ${error}; ${api.stderr().slice(-1_000)}`);
  }
  const status = await api.stop();
  if (status.code !== 0) {
    judge.report(`ended with ${status.signal ?? status.code}: ${api.stderr().slice(-800)}`);
  }
  if (api.stdout().trim() !== api.readyLine) {
    judge.report(`more than the ready line on stdout: ${api.stdout()}`);
  }
  judge.text("stderr", api.stderr());
  judge.database(rig);
  await judge.processes(rig);
}

function wanted(known: Known, random: Random): Wanted {
  const session = random.pick(known.sessions) ?? "none";
  const run = random.pick(known.runs) ?? "run_none";
  const response = random.pick(known.responses) ?? "resp_none";
  const stream = random.chance(0.5);
  const text = random.pick(["hello", "/help", "ünï"]);
  const content = random.chance(0.5)
    ? text
    : [{ type: "text", text }, { type: "image_url", image_url: { url: PIXEL } }];
  const tools = [{
    type: "function",
    function: { name: "look", parameters: { type: "object", properties: {} } },
  }];
  return random.pick<() => Wanted>([
    () => ({
      method: "POST",
      path: "/v1/chat/completions",
      body: { model: "hermes-agent", messages: [{ role: "user", content }], stream },
    }),
    () => ({
      method: "POST",
      path: "/v1/chat/completions",
      body: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "a" },
          { role: "assistant", content: "b", tool_calls: [] },
          { role: "user", content },
        ],
        stream,
        stream_options: { include_usage: true },
        temperature: 0.5,
        max_tokens: 100,
      },
    }),
    () => ({
      method: "POST",
      path: "/v1/chat/completions",
      body: { messages: [{ role: "user", content }], tools, tool_choice: "auto", n: 1, stream },
    }),
    () => ({
      method: "POST",
      path: "/v1/responses",
      body: {
        input: text,
        stream,
        store: true,
        ...(random.chance(0.4) ? { previous_response_id: response } : {}),
      },
    }),
    () => ({
      method: "POST",
      path: "/v1/responses",
      body: {
        input: [{ role: "user", content: [{ type: "input_text", text }] }],
        instructions: "Be brief.",
        metadata: { a: "b" },
        conversation: random.pick(["c1", "c2"]),
      },
    }),
    () => ({ method: "GET", path: `/v1/responses/${response}` }),
    () => ({ method: "DELETE", path: `/v1/responses/${response}` }),
    () => ({ method: "POST", path: "/v1/runs", body: { input: text, session_id: session } }),
    () => ({ method: "POST", path: "/v1/runs", body: { input: "work" } }),
    () => ({ method: "GET", path: `/v1/runs/${run}` }),
    () => ({ method: "GET", path: `/v1/runs?limit=${random.pick(["1", "-1", "x", "1e9"])}` }),
    () => ({ method: "POST", path: `/v1/runs/${run}/stop`, body: {} }),
    () => ({ method: "POST", path: `/v1/runs/${run}/steer`, body: { text: "left" } }),
    () => ({ method: "POST", path: `/v1/runs/${run}/approval`, body: { choice: "once" } }),
    () => ({ method: "GET", path: `/api/sessions?limit=5&offset=${random.pick(["0", "-1", "x"])}` }),
    () => ({
      method: "POST",
      path: "/api/sessions",
      body: { title: "a title", id: `own_${random.below(30)}` },
    }),
    () => ({ method: "GET", path: `/api/sessions/${session}` }),
    () => ({ method: "PATCH", path: `/api/sessions/${session}`, body: { title: "another" } }),
    () => ({ method: "DELETE", path: `/api/sessions/${session}` }),
    () => ({ method: "GET", path: `/api/sessions/${session}/messages` }),
    () => ({ method: "POST", path: `/api/sessions/${session}/fork`, body: { title: "fork" } }),
    () => ({ method: "POST", path: `/api/sessions/${session}/chat`, body: { message: text } }),
    () => ({ method: "POST", path: `/api/sessions/${session}/chat/stream`, body: { message: text } }),
    () => ({ method: "GET", path: "/v1/models" }),
    () => ({ method: "GET", path: "/v1/capabilities" }),
    () => ({ method: "GET", path: "/health/detailed" }),
    () => ({ method: "GET", path: "/v1/toolsets" }),
    () => ({ method: "GET", path: "/v1/skills" }),
    () => ({ method: "GET", path: "/api/model/options" }),
  ])();
}

/** The bytes of a request with `Connection: close`, faults included. */
function bytesOf(api: ApiServer, want: Wanted, random: Random): Uint8Array {
  const kind = random.next();
  const body = want.body === undefined
    ? new Uint8Array(0)
    : kind < 0.25
    ? encoder.encode(encode(want.body))
    : kind < 0.85
    ? encoder.encode(encode(mutate(want.body, random)))
    : damage(encode(want.body), random);
  const path = random.chance(0.1) ? oddPath(want.path, random) : want.path;
  const head = [
    `${
      random.chance(0.04) ? random.pick(["PUT", "OPTIONS", "HEAD", "TRACE"]) : want.method
    } ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${api.port}`,
    `Authorization: Bearer ${random.chance(0.04) ? "wrong-key-0123456789" : api.key}`,
    `Content-Type: ${
      random.chance(0.1) ? random.pick(["text/plain", "multipart/form-data", ";;"]) : "application/json"
    }`,
    `Content-Length: ${body.length}`,
    "Connection: close",
    ...(random.chance(0.2) ? [oddHeader(random)] : []),
  ].join("\r\n");
  return Uint8Array.from([...encoder.encode(`${head}\r\n\r\n`), ...body]);
}

function oddPath(path: string, random: Random): string {
  return random.pick([
    `${path}/`,
    `/${path}`,
    `${path}?limit=1&limit=2&%ff=%00`,
    `${path}%00`,
    `${path}%2f..%2f..`,
    path.replace(/[^/]*$/, "__proto__"),
    path.replace(/[^/]*$/, "x".repeat(5_000)),
    path.replace(/[^/]*$/, "%E2%80%A8"),
    path.replace(/[^/]*$/, "%"),
  ]);
}

function oddHeader(random: Random): string {
  const value = random.pick(["", "x", "../..", "a b", "-1", "x".repeat(3_000), "__proto__", "\u00e9"]);
  return `${
    random.pick([
      "X-Hermes-Session-Id",
      "X-Hermes-Session-Key",
      "Idempotency-Key",
      "Last-Event-ID",
      "Origin",
      "Accept",
      "Expect",
      "X-Forwarded-For",
    ])
  }: ${value}`;
}

async function oneRequest(api: ApiServer, known: Known, judge: Judge, random: Random): Promise<void> {
  const bytes = bytesOf(api, wanted(known, random), random);
  const input = new TextDecoder().decode(bytes.subarray(0, 1_400));
  const before = random.chance(0.3) ? await quiet(api) : null;
  const answer = await exchange(api.port, bytes);
  if (answer === null) return judge.report("no end of the answer within 20 s", input);
  const status = statusOf(answer);
  if (status === 0 && answer !== "") judge.report(`not HTTP: ${answer.slice(0, 300)}`, input);
  if (status === 500 || status === 502) judge.report(`${status}: ${answer.slice(0, 800)}`, input);
  judge.text("an answer", answer.slice(0, 100_000), input);
  if (status >= 400 && before !== null) {
    const after = fingerprint(api.rig);
    if (after !== before) {
      const what = difference(before, after);
      judge.report(`the store has changed although the request was refused (${status}): ${what}`, input);
    }
  }
  learn(known, answer);
}

/** The store's fingerprint when no turn is at work, not even one whose client has left; `null` while there is one. */
async function quiet(api: ApiServer): Promise<string | null> {
  if (await isWorking(api)) return null;
  const first = fingerprint(api.rig);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return fingerprint(api.rig) === first && !(await isWorking(api)) ? first : null;
}

async function isWorking(api: ApiServer): Promise<boolean> {
  const { active_agents, readiness } = await (await api.call("/health/detailed")).json();
  return active_agents > 0 || readiness.checks.background_queues.active_api_runs > 0;
}

/** Sends and reads to the end; `null` when the end does not come. A run's event stream ends with the run. */
async function exchange(port: number, bytes: Uint8Array): Promise<string | null> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const decoder = new TextDecoder();
  let text = "";
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    connection.close();
  }, patient(20_000));
  try {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  } catch {
    // It has answered before it read everything.
  }
  try {
    const buffer = new Uint8Array(65_536);
    for (let n = await connection.read(buffer); n !== null; n = await connection.read(buffer)) {
      text += decoder.decode(buffer.subarray(0, n), { stream: true });
    }
  } catch {
    // A reset: what was read counts.
  }
  clearTimeout(timer);
  return isLate ? null : text;
}

/** A client that goes away in the middle of its request or of the answer. */
async function leaveEarly(api: ApiServer, known: Known, random: Random): Promise<void> {
  const bytes = bytesOf(api, wanted(known, random), random);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: api.port });
  try {
    await connection.write(random.chance(0.5) ? bytes : bytes.subarray(0, random.below(bytes.length)));
    if (random.chance(0.3)) await connection.closeWrite();
    if (random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, random.below(40)));
  } catch {
    // The server was faster.
  }
  connection.close();
}

function learn(known: Known, answer: string): void {
  const take = (list: string[], pattern: RegExp) => {
    const id = pattern.exec(answer)?.[1];
    if (id !== undefined && !list.includes(id)) list.push(id);
    if (list.length > 10) list.shift();
  };
  take(known.runs, /"run_id":\s*"([^"]{1,80})"/);
  take(known.responses, /"id":\s*"(resp_[^"]{1,80})"/);
  take(known.sessions, /x-hermes-session-id: (\S{1,120})/i);
  take(known.sessions, /"session_id":\s*"([^"]{1,120})"/);
}
