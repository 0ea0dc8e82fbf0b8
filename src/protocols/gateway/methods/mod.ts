/** The table of all methods: families written in a list, names unique. */
import type { Method, MethodTable } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { answerMethods } from "./answers.ts";
import { commandMethods } from "./commands.ts";
import { configGetMethods } from "./config_get.ts";
import { configSetMethods } from "./config_set.ts";
import { conversationMethods } from "./conversation.ts";
import { promptMethods } from "./prompt.ts";
import { runtimeMethods } from "./runtime.ts";
import { sessionMethods } from "./sessions.ts";

export function buildMethods(gateway: Gateway): MethodTable {
  const all: Method[] = [
    ...sessionMethods(gateway),
    ...conversationMethods(gateway),
    ...promptMethods(gateway),
    ...answerMethods(gateway),
    ...configGetMethods(gateway),
    ...configSetMethods(gateway),
    ...commandMethods(gateway),
    ...runtimeMethods(gateway),
  ];
  return new Map(all.map((entry) => [entry.name, entry]));
}
