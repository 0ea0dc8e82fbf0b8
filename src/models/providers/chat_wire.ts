/** Chat Completions: the wire that nearly every endpoint speaks. */
import { ChatAssembler } from "./chat_assembler.ts";
import { buildChatBody, hasOwnCap } from "./chat_request.ts";
import type { Wire } from "./wire.ts";

export const chatWire: Wire = {
  createSender: async (runtime, platform) =>
    (await import("./openai_library.ts")).createSender("chat", runtime, platform),
  buildBody: buildChatBody,
  hasOwnCap,
  createAssembler: (context) => new ChatAssembler(context),
};
