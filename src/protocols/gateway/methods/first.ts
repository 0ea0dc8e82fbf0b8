/**
 * The table of methods as it is before the program is whole: `session.create` alone. All others come with the rooms
 * they need (tools, commands, guard), at the first request that is not it, and behind the first new session.
 */
import type { MethodTable } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { createMethod } from "./session_create.ts";

export function firstMethods(gateway: Gateway): MethodTable {
  let loading: Promise<MethodTable> | null = null;
  async function load(): Promise<MethodTable> {
    const [{ buildMethods }] = await Promise.all([import("./mod.ts"), gateway.hermes.ready()]);
    return buildMethods(gateway);
  }
  const rest = () => loading ??= load();
  const create = createMethod(gateway);
  const first = {
    ...create,
    run: async (...call: Parameters<typeof create.run>) => {
      const reply = await create.run(...call);
      if (!(reply instanceof Reply)) return reply;
      return new Reply(reply.result, () => {
        reply.after();
        rest().catch(() => {/* told to whoever asks next */});
      });
    },
  };
  return { get: (name) => name === create.name ? first : undefined, rest };
}
