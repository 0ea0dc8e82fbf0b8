/** `prompt.submit` (tui-gateway.md B.11): accept, queue, steer or refuse; all else arrives as events. */
import * as z from "zod/mini";
import type { Content, ContentPart, UserInput } from "@/core/mod.ts";
import { textOf } from "@/core/mod.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client, Method } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { anything, isTruthy, method } from "./define.ts";
import { checkRewind } from "./rewind.ts";

const part = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);

const submitParams = z.object({
  session_id: anything,
  text: z.optional(z.nullable(z.union([z.string(), z.array(part)]))),
  queued: anything,
  display_kind: anything,
  truncate_before_user_ordinal: anything,
  truncate_before_row_id: anything,
  truncate_before_message_id: anything,
  confirm_truncate: anything,
  confirm_empty_truncate: anything,
});

type SubmitParams = z.output<typeof submitParams>;

export function promptMethods(gateway: Gateway): Method[] {
  return [
    method({
      name: "prompt.submit",
      kind: "inline",
      params: submitParams,
      failCode: 5071,
      handle: (params, { client }) => submitPrompt(gateway, params, client),
    }),
  ];
}

function submitPrompt(gateway: Gateway, params: SubmitParams, client: Client): Reply {
  const live = gateway.live.require(params.session_id);
  const content = contentOf(params.text);
  const rewind = checkRewind(gateway.hermes, live, params);
  if (isEmpty(content)) throw new RpcError(4012, "text is required");
  if (rewind) throw new RpcError(-32000, "rewinding is not available in this build; nothing was changed");
  const input: UserInput = params.display_kind === "hidden"
    ? { content, displayKind: "hidden" }
    : { content };
  const moved = live.bind(client);
  const repeat = () => moved && live.repeatAsks();
  if (live.busy) {
    const mode = isTruthy(params.queued) ? "queue" : gateway.hermes.settings().display.busy_input_mode;
    return new Reply({ status: live.submitBusy(input, mode) }, repeat);
  }
  return new Reply({ status: "streaming" }, () => startTurn(live, input));
}

/** The response is out: from here everything is an event. */
function startTurn(live: LiveSession, input: UserInput): void {
  if (live.busy) live.submitBusy(input, "queue");
  else live.start(input);
}

function contentOf(text: SubmitParams["text"]): Content {
  if (text === undefined || text === null) return "";
  if (typeof text === "string") return text;
  return text.map((item): ContentPart => item);
}

function isEmpty(content: Content): boolean {
  if (typeof content !== "string" && content.some((item) => item.type === "image_url")) return false;
  return textOf(content).trim() === "";
}
