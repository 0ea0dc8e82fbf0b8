/**
 * The table of all methods: families written in a list, names unique. Those of a session's first prompts are built at
 * once, the others with their first call. It is there once the whole program is (`first.ts` stands in before).
 */
import type { Method, MethodTable } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { answerMethods } from "./answers.ts";
import { commandMethods } from "./commands.ts";
import { configGetMethods } from "./config_get.ts";
import { configSetMethods } from "./config_set.ts";
import { conversationMethods } from "./conversation.ts";
import type { DefinedMethod } from "./define.ts";
import { dialectMethods, takeResponse } from "./dialect.ts";
import { LATER, laterMethods } from "./later.ts";
import { promptMethods } from "./prompt.ts";
import { runtimeMethods } from "./runtime.ts";
import { sessionMethods } from "./sessions.ts";

function firstMethods(gateway: Gateway): DefinedMethod[] {
  return [
    ...sessionMethods(gateway),
    ...conversationMethods(gateway),
    ...promptMethods(gateway),
    ...answerMethods(gateway),
    ...dialectMethods(gateway),
    ...configGetMethods(gateway),
    ...configSetMethods(gateway),
    ...commandMethods(gateway),
    ...runtimeMethods(gateway),
  ];
}

/** Every method with the shape of its parameters, for the contract. */
export async function allMethods(gateway: Gateway): Promise<DefinedMethod[]> {
  const later = await Promise.all(LATER.map(async (family) => (await family.load())(gateway)));
  return [...firstMethods(gateway), ...later.flat()];
}

export function buildMethods(gateway: Gateway): MethodTable {
  const all: Method[] = [
    ...firstMethods(gateway),
    ...LATER.flatMap((family) => laterMethods(gateway, family)),
  ];
  const byName = new Map(all.map((entry) => [entry.name, entry]));
  return {
    get: (name) => byName.get(name),
    takeResponse: (response, client) => takeResponse(gateway, response, client),
  };
}
