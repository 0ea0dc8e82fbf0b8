/** One client per wire, its code loaded with its first call; a new wire is one line. */
import type { ModelClient } from "@/core/contract.ts";
import { LazyClient } from "./lazy_client.ts";
import type { Wire } from "./providers/wire.ts";
import type { WireClientOptions } from "./providers/wire_client.ts";

const WIRES: Readonly<Record<string, () => Promise<Wire>>> = {
  chat_completions: async () => (await import("./providers/chat_wire.ts")).chatWire,
  codex_responses: async () => (await import("./providers/responses_wire.ts")).responsesWire,
  anthropic_messages: async () => (await import("./providers/messages_wire.ts")).messagesWire,
};

/** `null` when the wire of the model is not spoken. */
export function createWireClient(options: WireClientOptions): ModelClient | null {
  const { model } = options.runtime;
  const load = Object.hasOwn(WIRES, model.apiMode) ? WIRES[model.apiMode] : undefined;
  if (!load) return null;
  return new LazyClient(model, async () => {
    const [wire, { WireClient }] = await Promise.all([load(), import("./providers/wire_client.ts")]);
    return new WireClient(wire, options);
  });
}

/** Loads what the first call in this wire will need. */
export async function warmWire(apiMode: string): Promise<void> {
  const load = Object.hasOwn(WIRES, apiMode) ? WIRES[apiMode] : undefined;
  if (!load) return;
  const library = apiMode === "anthropic_messages" ? null : import("./providers/openai_library.ts");
  await Promise.all([load(), import("./providers/wire_client.ts"), library]);
}
