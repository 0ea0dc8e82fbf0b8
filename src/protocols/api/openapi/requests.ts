/**
 * Bodies that clients send, as shapes: what does not fit is refused by the readers of `schema/` and the routes, which
 * know the words and codes of the contract. A test makes every kind of misfit from these shapes, sends it, and holds
 * the two together. Members marked `lenient` take whatever comes: words and numbers for truth values, and what cannot
 * be used counts as absent (api-server.md A7, D3). Loaded for the document only.
 */
import * as z from "zod/mini";

const about = z.describe;
const lenient = z.meta({ "x-lenient": true });

const Text = z.looseObject({
  type: z.enum(["text", "input_text", "output_text"]),
  text: z.optional(z.string()).check(lenient),
});
const Url = z.string().check(
  z.regex(/^\s*([hH][tT][tT][pP][sS]?:|[dD][aA][tT][aA]:[iI][mM][aA][gG][eE]\/[^,]*,)/),
  about("An http(s) address, or data:image/…;base64,…"),
);
const Image = z.looseObject({
  type: z.enum(["image_url", "input_image"]),
  image_url: z.union([
    Url,
    z.looseObject({ url: Url, detail: z.optional(z.string().check(z.minLength(1))) }),
  ]),
  detail: z.optional(z.string().check(z.minLength(1))),
});
/** A bare string counts as text, the others as nothing. */
const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Numbers and truth values count as text. */
export const Content = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([Text, Image, Scalar])).check(z.maxLength(1000)),
]);

const SessionId = z.optional(z.nullable(
  z.string().check(
    z.maxLength(256),
    about("Any letters; no control characters, no `/`, `\\` or `..`, no drive letter."),
  ),
));

/** How any of the turn-starting routes chooses a model. */
const MODEL = {
  model: z.optional(z.string()).check(
    lenient,
    about("`hermes-agent`, an alias of `model_routes`, a known model, or `provider:model`."),
  ),
  provider: z.optional(z.string()).check(lenient),
  model_options: z.optional(z.looseObject({
    reasoning_effort: z.optional(
      z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]),
    ),
  })).check(lenient),
};

const FunctionTool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)),
    description: z.optional(z.string()),
    parameters: z.optional(z.looseObject({})),
  }),
});

const ChatMessage = z.looseObject({
  role: z.optional(z.enum(["system", "developer", "user", "assistant", "tool"])).check(
    lenient,
    about("Messages of other roles are left out."),
  ),
  content: z.optional(z.nullable(Content)),
  tool_calls: z.optional(z.array(z.looseObject({
    id: z.string(),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string(), arguments: z.string() }),
  }))).check(lenient),
  tool_call_id: z.optional(z.string()).check(lenient),
});

export const ChatRequest = z.looseObject({
  messages: z.array(ChatMessage).check(
    z.minLength(1),
    about("The conversation; the last message of the user is the prompt."),
  ),
  stream: z.optional(z.boolean()).check(lenient),
  stream_options: z.optional(z.looseObject({ include_usage: z.optional(z.boolean()) })).check(lenient),
  tools: z.optional(z.array(FunctionTool)).check(
    lenient,
    about("Functions of the caller, offered beside the server's tools."),
  ),
  ...MODEL,
});

const InputItem = z.union([
  z.looseObject({
    type: z.optional(z.literal("message")),
    role: z.optional(z.enum(["system", "developer", "user", "assistant"])).check(
      lenient,
      about("`user` without; messages of other roles are left out."),
    ),
    content: z.optional(z.nullable(Content)),
  }),
  z.looseObject({
    type: z.literal("function_call"),
    call_id: z.string().check(lenient),
    name: z.string().check(lenient),
    arguments: z.string().check(lenient),
  }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string().check(lenient, about("What has no call is left out.")),
    output: z.optional(z.nullable(Content)),
  }),
  z.looseObject({ type: z.enum(["reasoning", "item_reference", "compaction"]) }).check(about("Left out.")),
]);
const Input = z.union([
  z.string().check(z.minLength(1)),
  z.array(z.union([z.string(), InputItem])).check(z.minLength(1)),
]);
const History = z.array(z.looseObject({ role: z.string(), content: z.nullable(Content) }));

export const ResponseRequest = z.looseObject({
  input: Input,
  instructions: z.optional(z.nullable(z.string())),
  previous_response_id: z.optional(z.nullable(z.string())),
  conversation: z.optional(
    z.nullable(
      z.union([z.string().check(z.minLength(1)), z.looseObject({ id: z.string().check(z.minLength(1)) })]),
    ),
  ).check(about("Excludes previous_response_id.")),
  conversation_history: z.optional(z.nullable(History)),
  store: z.optional(z.boolean()).check(lenient),
  stream: z.optional(z.boolean()).check(lenient),
  truncation: z.optional(z.enum(["auto", "disabled"])).check(lenient),
  ...MODEL,
});

export const RunRequest = z.looseObject({
  input: Input,
  session_id: SessionId,
  instructions: z.optional(z.nullable(z.string())),
  conversation_history: z.optional(z.nullable(History)),
  previous_response_id: z.optional(z.nullable(z.string())),
  clarify: z.optional(z.boolean()).check(
    lenient,
    about("The agent may ask questions: there is somebody who answers them."),
  ),
  callback_url: z.optional(z.nullable(z.string())).check(
    about("Told the end of the run; must be on the list `callback_urls` of the configuration."),
  ),
  author: z.optional(z.nullable(z.looseObject({}))),
  ...MODEL,
});

export const ApprovalRequest = z.looseObject({
  choice: z.enum(["once", "session", "always", "deny"]).check(about("One of those that were offered.")),
  request_id: z.optional(z.nullable(z.string().check(z.minLength(1), z.maxLength(256)))),
  all: z.optional(z.boolean()).check(lenient),
  reason: z.optional(z.string()).check(lenient, about("Told to the agent with a refusal.")),
});

export const ClarifyRequest = z.looseObject({
  answer: z.string().check(about("One of the choices or other words; empty: skipped.")),
  request_id: z.optional(z.nullable(z.string().check(z.minLength(1), z.maxLength(256)))),
});

export const SteerRequest = z.looseObject({ input: Content });

export const SessionCreate = z.looseObject({
  id: SessionId,
  title: z.optional(z.nullable(z.string().check(z.maxLength(100)))),
  model: z.optional(z.string()).check(lenient),
  system_prompt: z.optional(z.nullable(z.string())),
});

export const SessionPatch = z.strictObject({
  title: z.optional(z.nullable(z.string().check(z.maxLength(100)))),
  end_reason: z.optional(z.nullable(z.string().check(z.minLength(1), z.maxLength(100)))),
});

export const SessionFork = z.looseObject({
  id: SessionId,
  title: z.optional(z.nullable(z.string().check(z.maxLength(100)))),
});

export const BrowserRegistration = z.looseObject({
  protocol_version: z.literal(1),
  session_id: z.string().check(z.minLength(1), z.maxLength(256), about("One that exists.")),
  controller_id: z.string().check(z.minLength(1), z.maxLength(256)),
  browser_profile_id: z.string().check(z.minLength(1), z.maxLength(256)),
  capabilities: z.array(z.string().check(lenient)).check(
    z.minLength(1),
    about("What the controller can do; those that the server does not allow are left out."),
  ),
});

export const SessionChat = z.looseObject({
  message: Content,
  system_message: z.optional(z.nullable(z.string())),
  ...MODEL,
});
