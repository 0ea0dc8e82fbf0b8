/** What the description of the API lets through, the readers of the routes take; their refusals it does not describe. */
import * as z from "zod/mini";
import type { JsonObject } from "../../../src/protocols/api/body.ts";
import { ApiError } from "../../../src/protocols/api/errors.ts";
import * as requests from "../../../src/protocols/api/openapi/requests.ts";
import { readChatRequest } from "../../../src/protocols/api/schema/chat.ts";
import { readResponseRequest } from "../../../src/protocols/api/schema/responses.ts";
import { readRunRequest, readSteer } from "../../../src/protocols/api/schema/runs.ts";
import { assertEquals } from "../../support/assert.ts";

type Case = readonly [body: unknown, isGood: boolean];

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const CONTENTS: readonly (readonly [content: unknown, isGood: boolean])[] = [
  ["hi", true],
  [[{ type: "text", text: "hi" }], true],
  [[{ type: "input_text", text: "a" }, IMAGE], true],
  [[{ type: "input_image", image_url: "https://x.example/a.png" }], true],
  [[{ type: "file", file: {} }], false],
  [[{ type: "input_audio" }], false],
  [{ type: "text" }, false],
];

const SCENES: readonly {
  readonly name: string;
  readonly shape: z.core.$ZodType;
  readonly read: (body: JsonObject) => unknown;
  readonly cases: readonly Case[];
}[] = [
  {
    name: "ChatRequest",
    shape: requests.ChatRequest,
    read: readChatRequest,
    cases: [
      ...CONTENTS.map(([content, isGood]) => [user(content), isGood] as const),
      [{ messages: [{ role: "system", content: "x" }, { role: "user", content: "y" }], stream: true }, true],
      [{}, false],
      [{ messages: [] }, false],
      [{ messages: "hi" }, false],
      [{ messages: [1] }, false],
    ],
  },
  {
    name: "ResponseRequest",
    shape: requests.ResponseRequest,
    read: readResponseRequest,
    cases: [
      ...CONTENTS.map(([content, isGood]) => [{ input: [{ role: "user", content }] }, isGood] as const),
      [{ input: "hi", conversation: "c", store: false }, true],
      [{ input: "hi", conversation: { id: "c" } }, true],
      [{ input: ["a", { role: "user", content: "b" }] }, true],
      [{ input: "hi", conversation: 5 }, false],
      [{ input: 5 }, false],
      [{ input: [] }, false],
      [{}, false],
      [{ input: "hi", conversation_history: "x" }, false],
    ],
  },
  {
    name: "RunRequest",
    shape: requests.RunRequest,
    read: readRunRequest,
    cases: [
      ...CONTENTS.map(([content, isGood]) => [{ input: [{ role: "user", content }] }, isGood] as const),
      [{ input: "hi", session_id: "s", instructions: "x", previous_response_id: "r" }, true],
      [{ input: "" }, false],
      [{ input: "hi", session_id: 5 }, false],
      [{ input: "hi", session_id: "x".repeat(257) }, false],
      [{ input: "hi", conversation_history: [{}] }, false],
    ],
  },
  {
    name: "SteerRequest",
    shape: requests.SteerRequest,
    read: readSteer,
    cases: [[{ input: "hi" }, true], [{ input: [{ type: "text", text: "x" }] }, true], [{}, false], [{
      input: 5.5,
    }, true]],
  },
];

function isTaken(read: (body: JsonObject) => unknown, body: unknown): boolean {
  try {
    read(body as JsonObject);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return false;
    throw error;
  }
}

for (const { name, shape, read, cases } of SCENES) {
  Deno.test(`${name}: shape and reader agree on what is good, and the reader takes all that the shape takes`, () => {
    for (const [body, isGood] of cases) {
      const text = JSON.stringify(body).slice(0, 100);
      const fits = z.safeParse(shape, body).success;
      const taken = isTaken(read, body);
      assertEquals([text, taken], [text, isGood]);
      if (fits) assertEquals([text, "fits", taken], [text, "fits", true]);
      if (!isGood) assertEquals([text, "fits", fits], [text, "fits", false]);
    }
  });
}
