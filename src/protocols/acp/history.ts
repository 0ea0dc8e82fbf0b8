/** The stored conversation of a session, sent once, in order, through the same cards as live calls (acp.md C12). */
import type { Hermes } from "@/app/mod.ts";
import type { Session, ToolCall, ToolCallView } from "@/core/contract.ts";
import { abortable } from "@/lib/abort.ts";
import { isObject } from "./envelope.ts";
import { replay } from "./render/replay.ts";
import type { SessionView } from "./view.ts";

/** Messages sent between two looks at the clock, and how long they may keep the rest of the program waiting. */
const REPLAY_BATCH = 20;
const SLICE_MS = 15;

/** Arguments as they were stored, secrets out; empty when they are not an object. */
function storedArguments(hermes: Hermes, text: string): Record<string, unknown> {
  try {
    const args: unknown = JSON.parse(hermes.redact(text, "terminal"));
    return isObject(args) ? args : {};
  } catch {
    return {}; // Stored as the model wrote it: the card shows the name.
  }
}

function describeStored(hermes: Hermes, session: Session, call: ToolCall): ToolCallView {
  const { id, name } = call;
  const args = storedArguments(hermes, call.arguments);
  try {
    const card = hermes.cardOf(name);
    if (card) return { id, name, args, description: card(args, { cwd: session.cwd }) };
  } catch {
    // Shown by its name.
  }
  return {
    id,
    name,
    args,
    description: { title: name, label: "", kind: "other", locations: [], startText: "" },
  };
}

/** Resolves when all of it was handed to the writer. */
export async function replayHistory(view: SessionView, session: Session): Promise<void> {
  const { hermes, peer } = view.connection;
  const messages = hermes.store().loadLineage(session.headId);
  const updates = replay(messages, {
    sessionId: session.id,
    describe: (call) => describeStored(hermes, session, call),
    isBuiltin: (name) => view.isBuiltin(name),
    compaction: view.connection.client.compaction,
    isLive: (callId) => view.updates.isOpenCall(callId),
    isWaiting: (callId) => session.asks().some((ask) => ask.callId === callId),
  });
  const { clock } = hermes.platform;
  let since = clock.monotonic();
  let count = 0;
  for (const batch of updates) {
    for (const update of batch) view.send(update);
    // A running turn writes too: its frames must not come between stored ones.
    if (++count % REPLAY_BATCH > 0 || session.running) continue;
    const full = peer.room();
    if (full === null && clock.monotonic() - since < SLICE_MS) continue;
    await abortable(full ?? clock.delay(0), view.ended).catch(() => {/* looked at next */});
    view.requireOpen();
    since = clock.monotonic();
  }
}
