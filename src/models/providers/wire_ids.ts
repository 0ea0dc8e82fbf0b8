/** Tool-call ids as the provider knows them (FC-27): it gets its own back wherever that tells the calls apart. */
import type { AssistantMessage } from "@/core/contract.ts";

/** Our id → the id on the wire: the provider's own where it is unique in the message (FC-27). */
export function wireIds(message: AssistantMessage): Map<string, string> {
  const calls = message.toolCalls ?? [];
  const given = calls.map((call) => call.providerId ?? call.id);
  return new Map(calls.map((call, at) => {
    const isUnique = given.filter((id) => id === given[at]).length === 1;
    return [call.id, isUnique ? given[at]! : call.id];
  }));
}
