/**
 * Bodies that clients send, as shapes. The readers of `schema/` take more than this (numbers and words for truth
 * values, several spellings, unknown members): here stands what a client should send. Whatever fits here is taken
 * there; tests hold the two together. Loaded for the document only.
 */
import * as z from "zod/mini";

const about = z.describe;

const Text = z.looseObject({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const Image = z.looseObject({
  type: z.literal("image_url"),
  image_url: z.looseObject({
    url: z.string().check(about("An http(s) address, or data:image/…;base64,…")),
    detail: z.optional(z.string()),
  }),
});
const InputImage = z.looseObject({
  type: z.literal("input_image"),
  image_url: z.string(),
  detail: z.optional(z.string()),
});

export const Content = z.union([
  z.string(),
  z.array(z.union([Text, Image, InputImage])).check(z.maxLength(1000)),
]);

/** How any of the turn-starting routes chooses a model. */
const MODEL = {
  model: z.optional(
    z.string().check(
      about("`hermes-agent`, an alias of `model_routes`, a known model, or `provider:model`."),
    ),
  ),
  provider: z.optional(z.string()),
  model_options: z.optional(z.looseObject({
    reasoning_effort: z.optional(
      z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]),
    ),
  })),
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
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.optional(z.nullable(Content)),
  tool_calls: z.optional(z.array(z.looseObject({
    id: z.string(),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string(), arguments: z.string() }),
  }))),
  tool_call_id: z.optional(z.string()),
});

export const ChatRequest = z.looseObject({
  messages: z.array(ChatMessage).check(
    z.minLength(1),
    about("The conversation; the last message of the user is the prompt."),
  ),
  stream: z.optional(z.boolean()),
  stream_options: z.optional(z.looseObject({ include_usage: z.optional(z.boolean()) })),
  tools: z.optional(z.array(FunctionTool)).check(
    about("Functions of the caller, offered beside the server's tools."),
  ),
  ...MODEL,
});

const InputItem = z.union([
  z.looseObject({
    type: z.optional(z.literal("message")),
    role: z.enum(["system", "developer", "user", "assistant"]),
    content: Content,
  }),
  z.looseObject({
    type: z.literal("function_call"),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.looseObject({
    type: z.literal("function_call_output"),
    call_id: z.string(),
    output: Content,
  }),
]);
const Input = z.union([
  z.string().check(z.minLength(1)),
  z.array(z.union([z.string(), InputItem])).check(z.minLength(1)),
]);
const History = z.array(z.looseObject({ role: z.string(), content: Content }));

export const ResponseRequest = z.looseObject({
  input: Input,
  instructions: z.optional(z.nullable(z.string())),
  previous_response_id: z.optional(z.nullable(z.string())),
  conversation: z.optional(
    z.union([z.string(), z.looseObject({ id: z.string() })]).check(about("Excludes previous_response_id.")),
  ),
  conversation_history: z.optional(History),
  store: z.optional(z.boolean()),
  stream: z.optional(z.boolean()),
  truncation: z.optional(z.enum(["auto", "disabled"])),
  ...MODEL,
});

export const RunRequest = z.looseObject({
  input: Input,
  session_id: z.optional(z.string().check(z.maxLength(256))),
  instructions: z.optional(z.string()),
  conversation_history: z.optional(History),
  previous_response_id: z.optional(z.string()),
  callback_url: z.optional(
    z.string().check(
      about("Told the end of the run; must be on the list `callback_urls` of the configuration."),
    ),
  ),
  ...MODEL,
});

export const ApprovalRequest = z.looseObject({
  choice: z.enum(["once", "session", "always", "deny"]).check(about("One of those that were offered.")),
  request_id: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
  all: z.optional(z.boolean()),
  reason: z.optional(z.string()).check(about("Told to the agent with a refusal.")),
});

export const SteerRequest = z.looseObject({ input: Content });

export const SessionCreate = z.looseObject({
  id: z.optional(z.string().check(z.maxLength(256))),
  title: z.optional(z.nullable(z.string().check(z.maxLength(100)))),
  model: z.optional(z.string()),
  system_prompt: z.optional(z.string()),
});

export const SessionPatch = z.strictObject({
  title: z.optional(z.nullable(z.string().check(z.maxLength(100)))),
  end_reason: z.optional(z.string()),
});

export const SessionFork = z.looseObject({ id: z.optional(z.string()), title: z.optional(z.string()) });

export const BrowserRegistration = z.looseObject({
  protocol_version: z.literal(1),
  session_id: z.string().check(z.minLength(1), z.maxLength(256), about("One that exists.")),
  controller_id: z.string().check(z.minLength(1), z.maxLength(256)),
  browser_profile_id: z.string().check(z.minLength(1), z.maxLength(256)),
  capabilities: z.array(z.string()).check(
    about("What the controller can do; those that the server does not allow are left out."),
  ),
});

export const SessionChat = z.looseObject({
  message: Content,
  system_message: z.optional(z.string()),
  ...MODEL,
});
