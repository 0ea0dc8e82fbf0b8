/**
 * A server asks the model (core.md G.1 `sampling`): only while a call of one conversation runs on it, only so often in
 * a minute, only for texts and images. Whether the policy lets it and what it costs is the core's business.
 */
import type { Content, Message, ModelChoice, SampleRequest, ToolContext } from "@/core/contract.ts";
import { isTree, type Tree } from "./entry_fields.ts";
import type { SamplingConfig } from "./entry_types.ts";
import { toolName } from "./names.ts";

const MINUTE_MS = 60_000;
const MAX_MESSAGES = 200;

/** JSON-RPC's "invalid params", and the number that the protocol gives to a "no" of the user. */
const INVALID = -32602;
const REJECTED = -1;

/** What the server is told instead of an answer. */
export class SamplingRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface SamplingDeps {
  readonly server: string;
  readonly limits: SamplingConfig;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The calls that run on this server now. */
  readonly running: () => readonly ToolContext[];
  /** For the log. */
  readonly note: (text: string) => void;
}

export class Sampling {
  readonly #deps: SamplingDeps;
  /** When the model was asked in the last minute. */
  #asked: number[] = [];

  constructor(deps: SamplingDeps) {
    this.#deps = deps;
  }

  /** The result of `sampling/createMessage`. Rejects with `SamplingRefusal`. */
  async answer(params: unknown, signal: AbortSignal): Promise<Tree> {
    const { server, note } = this.#deps;
    try {
      return await this.#answer(isTree(params) ? params : {}, signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      note(`MCP server "${server}" asked the model and got no answer: ${why}`);
      throw error instanceof SamplingRefusal ? error : new SamplingRefusal(REJECTED, why);
    }
  }

  async #answer(params: Tree, signal: AbortSignal): Promise<Tree> {
    const context = this.#context();
    if (!context.sample) throw new SamplingRefusal(REJECTED, "no model can be asked here");
    const request = this.#request(params, AbortSignal.any([context.signal, signal]));
    this.#take();
    const { text, model, finish } = await context.sample(request);
    const cut = cutAt(text, params["stopSequences"]);
    const stopReason = cut === null ? finish === "length" ? "maxTokens" : "endTurn" : "stopSequence";
    return { role: "assistant", content: { type: "text", text: cut ?? text }, model, stopReason };
  }

  /** Whoever called the server pays for what it asks. */
  #context(): ToolContext {
    const running = this.#deps.running();
    const [first] = running;
    if (!first) throw new SamplingRefusal(REJECTED, "the model is asked only while a tool runs");
    if (running.some(({ sessionId }) => sessionId !== first.sessionId)) {
      throw new SamplingRefusal(
        REJECTED,
        "calls of several conversations run, so none of them can be billed",
      );
    }
    return first;
  }

  #take(): void {
    const { now, limits } = this.#deps;
    const since = now() - MINUTE_MS;
    this.#asked = this.#asked.filter((at) => at > since);
    if (this.#asked.length >= limits.perMinute) {
      throw new SamplingRefusal(REJECTED, `more than ${limits.perMinute} requests in a minute`);
    }
    this.#asked.push(now());
  }

  #request(params: Tree, signal: AbortSignal): SampleRequest {
    const { server, limits } = this.#deps;
    if (params["tools"] !== undefined) {
      throw new SamplingRefusal(INVALID, "tools are not offered in sampling");
    }
    const messages = messagesOf(params["messages"]);
    const wanted = Number(params["maxTokens"]);
    const temperature = params["temperature"];
    return {
      server,
      tool: toolName(server, "sampling"),
      title: `MCP server "${server}" asks the model: ${firstText(messages)}`,
      model: choiceOf(limits.model),
      system: typeof params["systemPrompt"] === "string" ? params["systemPrompt"] : "",
      messages,
      maxTokens: wanted >= 1 ? Math.min(Math.floor(wanted), limits.maxTokens) : limits.maxTokens,
      temperature: typeof temperature === "number" && Number.isFinite(temperature) ? temperature : null,
      timeoutMs: limits.timeoutMs,
      signal,
    };
  }
}

/** `provider:name` or `name`; a colon behind a slash belongs to the name. */
function choiceOf(model: string | null): ModelChoice | null {
  if (model === null) return null;
  const match = /^([\w-]+):(.+)$/s.exec(model);
  return match ? { provider: match[1]!, model: match[2]! } : { model };
}

function messagesOf(given: unknown): readonly Message[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_MESSAGES) {
    throw new SamplingRefusal(INVALID, `messages must be a list of 1 to ${MAX_MESSAGES}`);
  }
  return given.map((item) => {
    const role = isTree(item) ? item["role"] : null;
    if (!isTree(item) || (role !== "user" && role !== "assistant")) {
      throw new SamplingRefusal(INVALID, "the role of a message must be user or assistant");
    }
    const { content } = item;
    const blocks = Array.isArray(content) ? content : [content];
    return { role, content: contentOf(blocks) } as Message;
  });
}

function contentOf(blocks: readonly unknown[]): Content {
  const parts = blocks.map((block) => {
    if (isTree(block) && block["type"] === "text" && typeof block["text"] === "string") {
      return { type: "text" as const, text: block["text"] };
    }
    if (isTree(block) && block["type"] === "image" && typeof block["data"] === "string") {
      const mime = typeof block["mimeType"] === "string" ? block["mimeType"] : "image/png";
      return { type: "image_url" as const, image_url: { url: `data:${mime};base64,${block["data"]}` } };
    }
    throw new SamplingRefusal(INVALID, "the content of a message must be text or an image");
  });
  const texts = parts.flatMap((part) => part.type === "text" ? [part.text] : []);
  return texts.length === parts.length ? texts.join("\n") : parts;
}

function firstText(messages: readonly Message[]): string {
  for (const { content } of messages.toReversed()) {
    const text = typeof content === "string"
      ? content
      : content?.find((part) => part.type === "text")?.text ?? "";
    if (text.trim() !== "") return text.replace(/\s+/g, " ").trim();
  }
  return "(no text)";
}

/** The text before the first stop sequence; `null` = there is none in it. */
function cutAt(text: string, sequences: unknown): string | null {
  const given = Array.isArray(sequences) ? sequences : [];
  const places = given.flatMap((one) => {
    const at = typeof one === "string" && one !== "" ? text.indexOf(one) : -1;
    return at < 0 ? [] : [at];
  });
  return places.length === 0 ? null : text.slice(0, Math.min(...places));
}
