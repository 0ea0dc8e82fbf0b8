/**
 * Conversations as JSON files (tui-gateway.md B.17 `session.save`): the messages as the model has seen them, over the
 * whole compression chain, secrets out.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Message, Session, SessionRow } from "@/core/contract.ts";
import { buildProvenance } from "@/core/contract.ts";
import { Slices } from "@/lib/slices.ts";

/** Over the compression chain; what is not stored yet stands at its end. */
export async function wholeConversation(hermes: Hermes, session: Session): Promise<readonly Message[]> {
  while (session.stored) {
    const { headId } = session;
    const rows = await hermes.store().fetchLineage(headId);
    if (session.headId !== headId) continue; // it was compressed meanwhile
    const own = session.history();
    const newest = own.reduce((most, { rowId = 0 }) => Math.max(most, rowId), 0);
    // Rows that memory does not know of yet are those whose write has just ended.
    if (rows.some(({ rowId = 0 }) => rowId > newest)) return rows;
    return [...rows, ...own.filter(({ rowId }) => rowId === undefined)];
  }
  return session.history();
}

/** Rows of the compression chain, the newest first. */
function chainOf(hermes: Hermes, { id, headId }: Session): SessionRow[] {
  const store = hermes.store();
  const head = store.getSession(headId);
  if (head === null) return [];
  const chain: SessionRow[] = [];
  for (const row of [head, ...store.ancestors(headId).rows]) {
    chain.push(row);
    if (buildProvenance(store, { handle: id, headId: row.id }).sessionKind !== "continuation") break;
  }
  return chain;
}

/** Path of the new file under `$HERMES_HOME/sessions/saved`. */
export async function saveConversation(hermes: Hermes, session: Session): Promise<string> {
  const { platform } = hermes;
  const dir = `${hermes.home}/sessions/saved`;
  await platform.files.mkdir(dir, { mode: 0o700 });
  const chain = session.stored ? chainOf(hermes, session) : [];
  const messages = await wholeConversation(hermes, session);
  const head = {
    model: session.model?.model ?? hermes.settings().model.default,
    session_id: session.headId,
    session_start: new Date((chain.at(-1)?.startedAt ?? session.createdAt) * 1000).toISOString(),
    // After a compression the next turn builds a new one.
    system_prompt: chain.find((row) => row.systemPrompt)?.systemPrompt ?? "",
  };
  const path = await freePath(hermes, `${dir}/hermes_conversation_${stamp(platform.clock.now())}`, ".json");
  const bytes = joined(await encodeSlowly(hermes, head, messages));
  await platform.files.write(path, bytes, { mode: 0o600 });
  return path;
}

/** `{…head, messages}`, indented and without secrets; a slice at a time, so that others are served meanwhile. */
async function encodeSlowly(
  hermes: Hermes,
  head: Readonly<Record<string, string>>,
  messages: readonly Message[],
): Promise<Uint8Array[]> {
  const slices = new Slices();
  const encoder = new TextEncoder();
  const start = JSON.stringify(masked(hermes, head), null, 2).replace(/\n\}$/, ',\n  "messages": [');
  const pieces = [encoder.encode(start)];
  for (const [at, message] of messages.entries()) {
    const lines = JSON.stringify(masked(hermes, message), null, 2).replaceAll("\n", "\n    ");
    pieces.push(encoder.encode(`${at === 0 ? "" : ","}\n    ${lines}`));
    if (slices.isOver) await slices.next();
  }
  pieces.push(encoder.encode(messages.length === 0 ? "]\n}\n" : "\n  ]\n}\n"));
  return pieces;
}

function masked(hermes: Hermes, value: unknown): unknown {
  const text = JSON.stringify(value);
  return JSON.parse(text, (_, part) => typeof part === "string" ? hermes.redact(part) : part);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** `YYYYMMDD_HHMMSS`, local time. */
export function stamp(milliseconds: number): string {
  const d = new Date(milliseconds);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}${two(d.getMonth() + 1)}${two(d.getDate())}_` +
    `${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}`;
}

/** `base` + `end`, with a number between them when that is taken. */
export async function freePath(hermes: Hermes, base: string, end: string): Promise<string> {
  for (let n = 1;; n++) {
    const path = n === 1 ? `${base}${end}` : `${base}_${n}${end}`;
    if (await hermes.platform.files.lstat(path) === null) return path;
  }
}
