/** `prompt.submit` (tui-gateway.md B.11): accept, queue, steer or refuse; all else arrives as events. */
import * as z from "zod/mini";
import type { Content, ContentPart, UserInput } from "@/core/contract.ts";
import { textOf } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, optional } from "./define.ts";
import { readTypedSkill } from "../skill_turn.ts";
import { readImages, refuseUnread, withImages } from "./prompt_images.ts";
import type { RewindTarget } from "./rewind.ts";
import { checkRewind } from "./rewind.ts";
import { cutBefore } from "./rewind_cut.ts";

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
  restore_files: anything,
  rebind_survivor_row_ids: optional(z.array(z.int())),
});

type SubmitParams = z.output<typeof submitParams>;

export function promptMethods(gateway: Gateway): DefinedMethod[] {
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

function submitPrompt(gateway: Gateway, params: SubmitParams, client: Client): Reply | Promise<Reply> {
  const takingUp = gateway.live.takingUp(params.session_id);
  if (takingUp) return takingUp.then(() => submitPrompt(gateway, params, client));
  const live = gateway.live.require(params.session_id);
  if (gateway.hermes.sessions.delegation.isChild(live.session.id)) {
    throw new RpcError(4009, "session busy: this is the session of a subagent that still runs");
  }
  if (!live.busy) live.session.requireFree();
  const content = contentOf(params.text);
  const submit: Submit = {
    content,
    kind: params.display_kind === "hidden" ? { displayKind: "hidden" } : {},
    queued: isTruthy(params.queued),
  };
  const rewind = checkRewind(gateway.hermes, live, params);
  if (rewind) return rewind.then((target) => runSubmit(gateway, live, client, submit, { ...params, target }));
  return runSubmit(gateway, live, client, submit, null);
}

interface Submit {
  readonly content: Content;
  readonly kind: { readonly displayKind?: string };
  readonly queued: boolean;
}

function runSubmit(
  gateway: Gateway,
  live: LiveSession,
  client: Client,
  { content, kind, queued }: Submit,
  rewind: Rewind | null,
): Reply | Promise<Reply> {
  if (isEmpty(content) && live.images.length === 0) throw new RpcError(4012, "text is required");
  if (!rewind && live.images.length === 0) return accept(gateway, live, client, { content, ...kind }, queued);
  return prepare(gateway, live, content, rewind).then((prepared) => {
    // Closed while its images were read.
    if (!rewind) gateway.live.require(live.sid);
    const { result, after } = accept(
      gateway,
      live,
      client,
      { ...prepared.input, ...kind },
      queued && !rewind,
    );
    return new Reply({ ...result as Record<string, unknown>, ...prepared.told }, after);
  });
}

interface Rewind {
  readonly target: RewindTarget;
  readonly rebind_survivor_row_ids?: readonly number[] | undefined;
  readonly restore_files?: unknown;
}

/**
 * What has to be read or written before the turn: attached images are consumed by it, once. They are attached again
 * where it is refused, but for those that cannot be read any more, which would refuse every later prompt.
 */
async function prepare(
  gateway: Gateway,
  live: LiveSession,
  content: Content,
  rewind: Rewind | null,
): Promise<{ input: UserInput; told: Record<string, unknown> }> {
  const paths = live.images;
  live.images = [];
  let left: readonly string[] = paths;
  try {
    const images = await readImages(gateway, paths);
    left = images.flatMap(({ path, error }) => error === null ? [path] : []);
    refuseUnread(images);
    const said = rewind ? await expandAgain(gateway, live, content) : content;
    const told = rewind ? await runRewind(gateway, live, rewind) : {};
    return { input: withImages(said, images), told };
  } catch (error) {
    live.images = [...left, ...live.images];
    throw error;
  }
}

/** A rewound turn that was shown as `/<skill> args` is that skill again. */
async function expandAgain(
  { hermes }: Gateway,
  { session }: LiveSession,
  content: Content,
): Promise<Content> {
  const typed = typeof content === "string" ? readTypedSkill(content) : null;
  if (!typed) return content;
  const { signal } = new AbortController();
  const context = { settings: hermes.settings(), sessionId: session.id, signal };
  return await hermes.skills.invocation(typed.name, typed.args, context) ?? content;
}

/** What the result says about it. */
async function runRewind(
  { hermes }: Gateway,
  live: LiveSession,
  { target, rebind_survivor_row_ids: rebind, restore_files }: Rewind,
): Promise<Record<string, unknown>> {
  const cut = () => cutBefore(live, target, rebind);
  if (!isTruthy(restore_files)) return { ...await cut() };
  const { withFilesRestored } = await import("./rewind_files.ts");
  const { result, files } = await withFilesRestored(hermes, live, target, cut);
  return { ...result, restored_files: files };
}

function accept(
  gateway: Gateway,
  live: LiveSession,
  client: Client,
  input: UserInput,
  queued: boolean,
): Reply {
  const moved = live.bind(client);
  const dialect = gateway.live.dialects.of(client);
  const repeat = () => moved && live.questions.repeatTo(client, dialect);
  if (live.busy) {
    const mode = queued ? "queue" : gateway.hermes.settings().display.busy_input_mode;
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
