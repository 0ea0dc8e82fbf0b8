/** The table of all methods: families written in a list, names unique. */
import type { MethodTable } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { absentMethods } from "./absent.ts";
import { answerMethods } from "./answers.ts";
import { attachmentMethods } from "./attachments.ts";
import { backgroundMethods } from "./background.ts";
import { cliMethods } from "./cli_exec.ts";
import { commandMethods } from "./commands.ts";
import { completePathMethods } from "./complete_path.ts";
import { configGetMethods } from "./config_get.ts";
import { configSetMethods } from "./config_set.ts";
import { conversationMethods } from "./conversation.ts";
import type { DefinedMethod } from "./define.ts";
import { delegationMethods } from "./delegation.ts";
import { dialectMethods, takeResponse } from "./dialect.ts";
import { mcpMethods } from "./mcp.ts";
import { processMethods } from "./processes.ts";
import { promptMethods } from "./prompt.ts";
import { providerMethods } from "./providers.ts";
import { runtimeMethods } from "./runtime.ts";
import { sessionEditMethods } from "./session_edit.ts";
import { sessionMethods } from "./sessions.ts";
import { spawnTreeMethods } from "./spawn_tree.ts";

/** Every method, family after family. */
export function allMethods(gateway: Gateway): DefinedMethod[] {
  return [
    ...sessionMethods(gateway),
    ...conversationMethods(gateway),
    ...sessionEditMethods(gateway),
    ...promptMethods(gateway),
    ...backgroundMethods(gateway),
    ...answerMethods(gateway),
    ...dialectMethods(gateway),
    ...configGetMethods(gateway),
    ...configSetMethods(gateway),
    ...commandMethods(gateway),
    ...runtimeMethods(gateway),
    ...mcpMethods(gateway),
    ...cliMethods(gateway),
    ...attachmentMethods(gateway),
    ...completePathMethods(gateway),
    ...processMethods(gateway),
    ...providerMethods(gateway),
    ...delegationMethods(gateway),
    ...spawnTreeMethods(gateway),
    ...absentMethods(gateway),
  ];
}

export function buildMethods(gateway: Gateway): MethodTable {
  const byName = new Map(allMethods(gateway).map((entry) => [entry.name, entry]));
  return {
    get: (name) => byName.get(name),
    takeResponse: (response, client) => takeResponse(gateway, response, client),
  };
}
