/**
 * The core's questions as requests to the client (acp.md C7, C8). An answer counts only when it is one of the
 * options of that request; anything else (another id, a malformed answer, an error, a lost client) is a refusal.
 * A question that the core closes for another reason is withdrawn with `$/cancel_request`.
 */
import type { ApprovalChoice, Ask, AskAnswer, AskOutcome, AskPayload } from "@/core/contract.ts";
import { isObject } from "./envelope.ts";
import { diffContents } from "./render/diffs.ts";
import { titleLine } from "./render/text.ts";
import { failedUpdate, textContent } from "./render/tool_calls.ts";
import type { PermissionOption, RequestPermissionRequest, ToolCallUpdate } from "./sdk.ts";
import type { SessionView } from "./view.ts";

const DENY: AskAnswer = { type: "choice", choice: "deny" };

interface Offer extends PermissionOption {
  readonly answer: AskAnswer;
}

function offer(
  optionId: string,
  kind: PermissionOption["kind"],
  name: string,
  answer: AskAnswer,
): Offer {
  return { optionId, kind, name, answer };
}

function choice(value: ApprovalChoice): AskAnswer {
  return { type: "choice", choice: value };
}

/** In the order of the contract; once-only questions offer neither session nor always. */
function commandOffers(payload: Extract<AskPayload, { kind: "approval" }>): Offer[] {
  const has = (value: ApprovalChoice) => payload.choices.includes(value);
  const onceOnly = payload.smartDenied === true || !has("session") && !has("always");
  return [
    offer("allow_once", "allow_once", "Allow once", choice("once")),
    ...(has("session") && !onceOnly
      ? [offer("allow_session", "allow_always", "Allow for session", choice("session"))]
      : []),
    ...(has("always") && !onceOnly
      ? [offer("allow_always", "allow_always", "Allow always", choice("always"))]
      : []),
    offer("deny", "reject_once", "Deny", DENY),
    ...(onceOnly ? [] : [offer("deny_always", "reject_always", "Deny always", DENY)]),
  ];
}

const EDIT_OFFERS: readonly Offer[] = [
  offer("allow_once", "allow_once", "Allow edit", choice("once")),
  offer("deny", "reject_once", "Deny", DENY),
];

function clarifyOffers(choices: readonly string[]): Offer[] {
  return [
    ...choices.map((text, i) => offer(`choice-${i}`, "allow_once", text, { type: "text", text })),
    offer("skip", "reject_once", "Skip", { type: "text", text: "" }),
  ];
}

function commandCard(toolCallId: string, payload: Extract<AskPayload, { kind: "approval" }>): ToolCallUpdate {
  const { command, description } = payload;
  return {
    toolCallId,
    title: titleLine(`${description}: ${command}`),
    kind: "execute",
    status: "pending",
    content: [textContent(`${description}\n$ ${command}`)],
    rawInput: { command, description },
  };
}

function editCard(toolCallId: string, payload: Extract<AskPayload, { kind: "edit" }>): ToolCallUpdate {
  const { proposal } = payload;
  return {
    toolCallId,
    title: titleLine(`Approve edit: ${proposal.path}`),
    kind: "edit",
    status: "pending",
    name: proposal.toolName,
    content: diffContents(proposal.edits),
    locations: proposal.edits.map(({ path }) => ({ path })),
    rawInput: { tool: proposal.toolName, arguments: proposal.arguments },
  };
}

/** What the answer says, if it is one of the options; else the refusal. */
function readPermission(result: unknown, offers: readonly Offer[]): AskAnswer {
  const outcome = isObject(result) ? result.outcome : undefined;
  if (!isObject(outcome)) return refusalOf(offers);
  if (outcome.outcome === "cancelled") return { type: "cancel" };
  if (outcome.outcome !== "selected") return refusalOf(offers);
  return offers.find((one) => one.optionId === outcome.optionId)?.answer ?? refusalOf(offers);
}

function refusalOf(offers: readonly Offer[]): AskAnswer {
  return offers.find((one) => one.kind === "reject_once")?.answer ?? DENY;
}

type Clarify = Extract<AskPayload, { kind: "clarify" }>;

/** The one field of the form: free text, one of the choices, or several of them. */
function answerSchema({ choices, multiple }: Clarify) {
  if (!choices) return { type: "string" };
  // Strict readers of the schema take no value twice.
  const one = { type: "string", enum: [...new Set(choices)] };
  return multiple ? { type: "array", minItems: 1, items: one } : one;
}

function readForm(result: unknown, { choices, multiple }: Clarify): AskAnswer {
  const content = isObject(result) && result.action === "accept" ? result.content : undefined;
  const answer = isObject(content) ? content.answer : undefined;
  if (choices && multiple) {
    const taken = Array.isArray(answer) ? answer : [];
    return { type: "text", text: taken.every((one) => choices.includes(one)) ? taken.join(", ") : "" };
  }
  const isValid = typeof answer === "string" && (choices === null || choices.includes(answer));
  return { type: "text", text: isValid ? answer : "" };
}

export class AskRelay {
  readonly #view: SessionView;
  /** Requests that wait for the client, by ask id. */
  readonly #open = new Map<string, AbortController>();
  /** Calls that exist only for a question (`perm-N`), by ask id. */
  readonly #ownCalls = new Map<string, string>();
  #count = 0;

  constructor(view: SessionView) {
    this.#view = view;
  }

  open(ask: Ask): void {
    const controller = new AbortController();
    this.#open.set(ask.id, controller);
    const callId = ask.callId && this.#view.updates.isOpenCall(ask.callId)
      ? ask.callId
      : this.#announceOwn(ask);
    this.#put(ask, callId, controller.signal).then(
      (answer) => this.#answer(ask, answer),
      () => this.#answer(ask, this.#refusal(ask)),
    );
  }

  /** The core has settled it: an answer of ours, or the time, a cancel, the end of the turn. */
  close(ask: Ask, outcome: AskOutcome): void {
    this.#open.get(ask.id)?.abort();
    this.#open.delete(ask.id);
    const ownCall = this.#ownCalls.get(ask.id);
    if (ownCall === undefined) return;
    this.#ownCalls.delete(ask.id);
    if (outcome.type === "answered" && !isDenial(outcome.answer)) {
      this.#view.send({ sessionUpdate: "tool_call_update", toolCallId: ownCall, status: "completed" });
    } else this.#view.send(failedUpdate(ownCall, REASONS[outcome.type]));
  }

  #answer(ask: Ask, answer: AskAnswer): void {
    if (!this.#open.delete(ask.id)) return;
    this.#view.session?.answer(ask.id, answer, this.#view.connection.client.name);
  }

  #refusal(ask: Ask): AskAnswer {
    return ask.payload.kind === "approval" || ask.payload.kind === "edit" ? DENY : { type: "text", text: "" };
  }

  /** A question outside any announced call gets a card of its own first (acp.md C8.0). */
  #announceOwn(ask: Ask): string {
    const toolCallId = `perm-${++this.#count}-${ask.id.slice(0, 8)}`;
    this.#ownCalls.set(ask.id, toolCallId);
    this.#view.send({
      sessionUpdate: "tool_call",
      toolCallId,
      title: ask.toolName || "Question",
      status: "pending",
    });
    return toolCallId;
  }

  async #put(ask: Ask, callId: string, signal: AbortSignal): Promise<AskAnswer> {
    const { payload } = ask;
    switch (payload.kind) {
      case "approval":
        return await this.#permission(commandCard(callId, payload), commandOffers(payload), signal);
      case "edit":
        return await this.#permission(editCard(callId, payload), EDIT_OFFERS, signal);
      case "clarify":
        return await this.#clarify(payload, callId, signal);
      case "sudo":
      case "secret":
        // Secrets are never asked for in a form (acp.md A6.11): nobody can be asked.
        return { type: "unshown" };
    }
  }

  async #permission(
    toolCall: ToolCallUpdate,
    offers: readonly Offer[],
    signal: AbortSignal,
  ): Promise<AskAnswer> {
    const request: RequestPermissionRequest = {
      sessionId: this.#view.id,
      toolCall,
      options: offers.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
    };
    const { peer } = this.#view.connection;
    return readPermission(await peer.request("session/request_permission", request, { signal }), offers);
  }

  async #clarify(
    payload: Clarify,
    toolCallId: string,
    signal: AbortSignal,
  ): Promise<AskAnswer> {
    const { question, choices } = payload;
    const { client, peer } = this.#view.connection;
    if (client.elicitationForm) {
      const form = {
        sessionId: this.#view.id,
        toolCallId,
        mode: "form",
        message: question,
        requestedSchema: {
          type: "object",
          properties: { answer: answerSchema(payload) },
          required: ["answer"],
        },
      };
      return readForm(await peer.request("elicitation/create", form, { signal }), payload);
    }
    // This client shows no free questions: the tool says that nobody can be asked.
    if (!choices) return { type: "unshown" };
    const card: ToolCallUpdate = {
      toolCallId,
      title: titleLine(question),
      kind: "other",
      status: "pending",
      content: [textContent(question)],
    };
    return await this.#permission(card, clarifyOffers(choices), signal);
  }
}

function isDenial(answer: AskAnswer): boolean {
  return answer.type === "cancel" || answer.type === "choice" && answer.choice === "deny";
}

const REASONS: Readonly<Record<AskOutcome["type"], string>> = {
  answered: "Refused by the user.",
  timeout: "Nobody answered in time.",
  cancelled: "Cancelled.",
  unattended: "Nobody can be asked here.",
};
