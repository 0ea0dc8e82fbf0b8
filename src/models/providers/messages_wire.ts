/** Anthropic Messages: Anthropic's own wire, spoken by MiniMax, Kimi and proxies as well. */
import { MessagesAssembler } from "./messages_assembler.ts";
import { buildMessagesBody } from "./messages_request.ts";
import { createMessagesSender } from "./messages_sender.ts";
import type { Wire } from "./wire.ts";

export const messagesWire: Wire = {
  createSender: (runtime, platform) => Promise.resolve().then(() => createMessagesSender(runtime, platform)),
  buildBody: buildMessagesBody,
  // The wire demands a cap, so there is none that could be left out.
  hasOwnCap: () => false,
  createAssembler: (context) => new MessagesAssembler(context),
};
