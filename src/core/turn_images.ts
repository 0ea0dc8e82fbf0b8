/**
 * The images of one turn (core.md B.10, A.11): what is larger than models take is made smaller before it is sent, and
 * smaller still where the provider refuses it; for a model that does not see, another one says what they show. An image
 * that cannot be made smaller is left out, in words for the model and for people; it never fails the turn.
 */
import { isAbort } from "@/lib/abort.ts";
import { type ImageLimits, isBeyond, isVector } from "@/lib/image_head.ts";
import { ImageRefusal, SENDABLE } from "./image_fitting.ts";
import { describeImages, hasImages } from "./inbound_images.ts";
import type { Content, ContentPart, Message, UserMessage } from "./messages.ts";
import type { TurnInput } from "./turn_input.ts";
import type { TurnRows } from "./turn_rows.ts";

/** After a refusal: 8,000 pixels and 5 MB, which some providers count in base64. */
const CAREFUL: ImageLimits = { maxSide: SENDABLE.maxSide, maxBytes: Math.floor((5 << 20) / 4) * 3 };

const VECTOR =
  "it is a vector image (SVG), which models do not look at: make a PNG of it, or have its text read";

export class TurnImages {
  readonly #turn: TurnInput;
  readonly #rows: TurnRows;
  #limits = SENDABLE;
  /** What has become of an image, by its URL. */
  readonly #fitted = new Map<string, ContentPart>();
  /** The turn's own message, as it is stored now. */
  #user: UserMessage | null = null;

  constructor(turn: TurnInput, rows: TurnRows) {
    this.#turn = turn;
    this.#rows = rows;
  }

  /** Makes the user's images ready for a model that sees, or does not; their row is rewritten when they change. */
  async prepare(user: UserMessage, sees: boolean): Promise<void> {
    this.#user = user;
    if (!hasImages(user.content)) return;
    try {
      await this.#rewrite(await this.#described(await this.#fit(user.content), sees));
    } catch (error) {
      if (!isAbort(error)) throw error; // The loop sees the cancel.
    }
  }

  /** The messages with images that may be sent; the same list when all of them may. Rejects with `AbortError`. */
  async fitAll(messages: readonly Message[]): Promise<readonly Message[]> {
    if (!messages.some((message) => this.#isUnfit(message.content))) return messages;
    const fitted: Message[] = [];
    for (const message of messages) {
      const { content } = message;
      if (message.role === "assistant" || !this.#isUnfit(content)) fitted.push(message);
      else fitted.push({ ...message, content: await this.#fit(content!) } as Message);
    }
    return fitted;
  }

  /** Whether `tighten` has not been tried yet. */
  get canTighten(): boolean {
    return this.#limits !== CAREFUL && this.#turn.scope.fitImage !== undefined;
  }

  /** The provider says that an image is too large. True when from now on they are sent smaller. */
  async tighten(): Promise<boolean> {
    if (!this.canTighten) return false;
    this.#limits = CAREFUL;
    this.#fitted.clear();
    if (!this.#rows.context().some((message) => this.#isUnfit(message.content))) return false;
    const user = this.#user;
    try {
      // In the store too, so that the next turn is not refused for the same image.
      if (user && this.#isUnfit(user.content)) await this.#rewrite(await this.#fit(user.content));
    } catch (error) {
      if (!isAbort(error)) throw error;
      return false;
    }
    return true;
  }

  async #rewrite(content: Content): Promise<void> {
    const user = this.#user!;
    if (content !== user.content) this.#user = await this.#rows.replace(user, content) as UserMessage;
  }

  /** Something in it cannot be sent as it is. */
  #isUnfit(content: Content | null): boolean {
    return content !== null && typeof content !== "string" &&
      content.some((part) => part.type === "image_url" && this.#mustChange(part.image_url.url));
  }

  #mustChange(url: string): boolean {
    return isVector(url) || (this.#turn.scope.fitImage !== undefined && isBeyond(url, this.#limits));
  }

  /** The same content when nothing in it has to change. */
  async #fit(content: Content): Promise<Content> {
    if (typeof content === "string" || !this.#isUnfit(content)) return content;
    const parts: ContentPart[] = [];
    for (const part of content) parts.push(part.type === "image_url" ? await this.#fitPart(part) : part);
    return parts;
  }

  async #fitPart(part: Extract<ContentPart, { type: "image_url" }>): Promise<ContentPart> {
    const { url } = part.image_url;
    if (!this.#mustChange(url)) return part;
    const known = this.#fitted.get(url);
    if (known) return known;
    const { scope } = this.#turn;
    let fitted: ContentPart;
    try {
      if (isVector(url)) throw new ImageRefusal("unreadable", VECTOR);
      const { fitUrl } = await import("./image_urls.ts");
      scope.publish({ type: "status", kind: "lifecycle", text: "Making a large image smaller" });
      const smaller = await fitUrl(url, this.#limits, scope.fitImage!, scope.signal);
      fitted = { ...part, image_url: { ...part.image_url, url: smaller } };
    } catch (error) {
      if (!(error instanceof ImageRefusal)) throw error;
      scope.publish({ type: "status", kind: "warn", text: `An image was left out: ${error.message}` });
      fitted = { type: "text", text: `[An image was left out: ${error.message}]` };
    }
    this.#fitted.set(url, fitted);
    return fitted;
  }

  /** For a model that does not see: another one says first what the images show. */
  async #described(content: Content, sees: boolean): Promise<Content> {
    const { eyes, guard, signal, publish } = this.#turn.scope;
    if (!eyes || sees || !hasImages(content)) return content;
    if (eyes.describer !== null) {
      publish({ type: "status", kind: "lifecycle", text: `Looking at images with ${eyes.describer}` });
    }
    const described = await describeImages(content, eyes, signal);
    for (const problem of described.problems) {
      publish({ type: "status", kind: "warn", text: guard.redact(problem, "full") });
    }
    return described.content;
  }
}
