/** OpenAI Responses: OpenAI's and xAI's own wire. */
import { ResponsesAssembler } from "./responses_assembler.ts";
import { buildResponsesBody } from "./responses_request.ts";
import type { Wire } from "./wire.ts";

export const responsesWire: Wire = {
  createSender: async (runtime, platform) =>
    (await import("./openai_library.ts")).createSender("responses", runtime, platform),
  buildBody: buildResponsesBody,
  hasOwnCap: () => false,
  createAssembler: (context) => new ResponsesAssembler(context),
};
