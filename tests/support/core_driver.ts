/**
 * What the core's black-box tests stand on: a scripted model as the only provider, a gateway on stdio as the hand
 * that drives the program, and a look into `hermes.db` with SQLite itself. Nothing of `src/` is imported, so the
 * same tests judge the compiled binary.
 *
 *   await withCore({ model: { turns: [call("read_file", { path: "a" }), "done"] } }, async ({ core, model }) => {
 *     const { sid } = await core.host.session({ cwd: core.rig.workspace });
 *     await core.host.turn(sid, "go");
 *     results(model.calls()[1]);                 // what the model was told the tools gave
 *   });
 */
import { DatabaseSync } from "node:sqlite";
import { type GatewayHost, type Json, startGateway } from "./gateway_driver.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  type ScriptTurn,
  startModelServer,
} from "./model_server.ts";
import { makeRig, modelConfig, type Rig } from "./program.ts";

export type { Json } from "./gateway_driver.ts";

export interface Scene {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly host: GatewayHost;
  /** A session in the workspace, told about. */
  open(params?: Json): Promise<{ sid: string; stored: string }>;
}

export interface SceneOptions {
  readonly model?: ModelServerOptions;
  /** Added to the config. */
  readonly config?: Record<string, unknown>;
  /** Added to its `model` section. */
  readonly modelSettings?: Record<string, unknown>;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** Runs `test` against a fresh program; everything is ended afterwards. */
export async function withCore(options: SceneOptions, test: (scene: Scene) => Promise<void>): Promise<void> {
  await using model = await startModelServer(options.model ?? {});
  const config = modelConfig(model.url, options.config);
  Object.assign(config["model"] as Json, options.modelSettings);
  await using rig = await makeRig({ config });
  await using host = await startGateway({
    rig,
    ...(options.args ? { args: options.args } : {}),
    ...(options.env ? { env: options.env } : {}),
  });
  const open = (params: Json = {}) => host.session({ cwd: rig.workspace, ...params });
  await test({ rig, model, host, open });
}

// ── The model's side ────────────────────────────────────────────────────────────────────────────────────────

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Record<string, unknown> | string;
  readonly id?: string;
}

export function call(tool: string, args: Record<string, unknown> | string, id?: string): ScriptedCall {
  return { tool, args, ...(id === undefined ? {} : { id }) };
}

export function shell(command: string, more: Record<string, unknown> = {}): ScriptedCall {
  return call("terminal", { command, ...more });
}

/** One answer of the model that calls tools, in order. */
export function calling(...calls: ScriptedCall[]): ScriptTurn {
  return { steps: calls };
}

/** One answer that is an HTTP error. */
export function failing(status: number, message: string, headers: Record<string, string> = {}): ScriptTurn {
  return { steps: [{ error: { status, message, headers } }] };
}

interface Sent {
  readonly body: Json;
}

/** The messages of a request, the system prompt left out. */
export function sent(request: Sent | undefined): Json[] {
  return (request?.body.messages ?? []).filter((m: Json) => m.role !== "system" && m.role !== "developer");
}

/** Texts of the tool results of a request, in order. */
export function results(request: Sent | undefined): string[] {
  return sent(request).filter((m) => m.role === "tool").map((m) => m.content);
}

/** The last tool result of a request, as JSON. */
export function lastResult(request: Sent | undefined): Json {
  return JSON.parse(results(request).at(-1) ?? "null");
}

/** Why a strict provider would refuse this history (400), or null: every call has one result, every result a call. */
export function strictFault(messages: readonly Json[]): string | null {
  let open = new Map<string, number>();
  let last = "";
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.has(message.tool_call_id)) return `result without a call: ${message.tool_call_id}`;
      if (open.get(message.tool_call_id)! > 0) return `second result of ${message.tool_call_id}`;
      open.set(message.tool_call_id, 1);
      last = "tool";
      continue;
    }
    const missing = [...open].find(([, count]) => count === 0);
    if (missing) return `call without a result: ${missing[0]}`;
    if (message.role === last) return `two ${last} messages in a row`;
    open = new Map((message.tool_calls ?? []).map((c: Json) => [c.id, 0]));
    if (open.size !== (message.tool_calls ?? []).length) return "two calls with one id";
    if (message.role === "assistant" && !message.content && open.size === 0) {
      return "an empty assistant message";
    }
    last = message.role;
  }
  const missing = [...open].find(([, count]) => count === 0);
  return missing ? `call without a result: ${missing[0]}` : null;
}

/** A model that answers 400 to a history that a strict provider refuses, else plays `next`. */
export function strictly(next: (n: number) => ScriptTurn): NonNullable<ModelServerOptions["respond"]> {
  return (request, n) => {
    const fault = strictFault(sent(request));
    return fault ? failing(400, `Invalid history: ${fault}`) : next(n);
  };
}

// ── The store's side ────────────────────────────────────────────────────────────────────────────────────────

export interface Row {
  readonly id: number;
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  readonly effect_disposition: string | null;
  readonly finish_reason: string | null;
  readonly reasoning: string | null;
  readonly display_kind: string | null;
  readonly active: number;
}

/** Rows of any query on the program's database. */
export function query<T = Json>(rig: Rig, sql: string, ...values: (string | number)[]): T[] {
  const db = new DatabaseSync(`${rig.home}/hermes.db`, { readOnly: true });
  try {
    db.exec("PRAGMA busy_timeout=2000");
    return db.prepare(sql).all(...values).map((row) => ({ ...row })) as T[];
  } finally {
    db.close();
  }
}

/** The active rows of a stored session, by row id. */
export function rows(rig: Rig, stored: string): Row[] {
  return query<Row>(rig, "SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id", stored);
}

export function sessionRow(rig: Rig, stored: string): Json {
  return query(rig, "SELECT * FROM sessions WHERE id = ?", stored)[0];
}

// ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────

export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** Every file below a directory, with its text (bytes that are no text are replaced). */
export async function textsBelow(directory: string): Promise<{ path: string; text: string }[]> {
  const found: { path: string; text: string }[] = [];
  for await (const entry of Deno.readDir(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory) found.push(...await textsBelow(path));
    else if (entry.isFile) found.push({ path, text: new TextDecoder().decode(await Deno.readFile(path)) });
  }
  return found;
}
