/**
 * The image that `vision_analyze` is to look at (core.md B.10): from the web through the guard, from a file, or from a
 * data URL. Its type is told by its bytes; what is too large for models is made smaller. Loaded at first use.
 */
import { Buffer } from "node:buffer";
import { ImageRefusal, SENDABLE, type ToolContext } from "@/core/contract.ts";
import { guardedFetch, type GuardedResult } from "@/lib/guarded_fetch.ts";
import { imageSize } from "@/lib/image_head.ts";
import { looksLikeSvg, sniffImage } from "@/lib/image_type.ts";
import { ToolError } from "./args.ts";
import { resolvePath } from "./paths.ts";
import { readRefusal } from "./read_deny.ts";
import { USER_AGENT } from "./web_call.ts";
import { readBlocklist, secretInUrl } from "./web_rules.ts";

const MAX_BYTES = 50 << 20;
const TIMEOUT_MS = 30_000;
const TRIES = 3;
const WAIT_MS = 500;

export interface LoadedImage {
  readonly dataUrl: string;
  readonly bytes: number;
  /** Its size before it was made smaller; absent: it is as it was. */
  readonly from?: readonly [width: number, height: number];
}

/** Throws `ToolError` with the reason when there is no image that a model can be shown. */
export async function loadImage(source: string, context: ToolContext): Promise<LoadedImage> {
  const image = await bytesOf(source.trim(), context);
  if (sniffImage(image) === null) {
    throw new ToolError(
      looksLikeSvg(image)
        ? "SVG images are not looked at: make a PNG of it first, or read its text with read_file"
        : "This is no image that can be looked at (PNG, JPEG, GIF, WebP or BMP)",
    );
  }
  const { bytes, from } = await fitted(image, context);
  const dataUrl = `data:${sniffImage(bytes)};base64,${Buffer.from(bytes).toString("base64")}`;
  return { dataUrl, bytes: bytes.length, ...(from ? { from } : {}) };
}

/** As it is where models take it. */
async function fitted(
  image: Uint8Array,
  { fitImage, signal }: ToolContext,
): Promise<{ readonly bytes: Uint8Array; readonly from?: readonly [width: number, height: number] }> {
  const size = imageSize(image);
  if (size === null) throw new ToolError("The image is damaged: its size cannot be read");
  const { maxSide, maxBytes } = SENDABLE;
  if (Math.max(...size) <= maxSide && image.length <= maxBytes) return { bytes: image };
  const facts = `The image has ${size[0]}×${size[1]} pixels and ${image.length} bytes, too many to be sent`;
  if (!fitImage) throw new ToolError(facts);
  try {
    return await fitImage(image, SENDABLE, signal);
  } catch (error) {
    throw error instanceof ImageRefusal ? new ToolError(`${facts}; ${error.message}`) : error;
  }
}

async function bytesOf(source: string, context: ToolContext): Promise<Uint8Array> {
  if (/^data:/i.test(source)) return fromDataUrl(source);
  if (/^https?:/i.test(source)) return await fromWeb(source, context);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source) && !/^file:/i.test(source)) {
    throw new ToolError("Only http, https and data URLs and paths of files are opened");
  }
  return await fromFile(source, context);
}

function fromDataUrl(url: string): Uint8Array {
  const data = /^data:[^,]{0,200};base64,/i.exec(url);
  if (!data) throw new ToolError("A data URL must be base64: data:image/png;base64,…");
  if ((url.length - data[0].length) / 4 * 3 > MAX_BYTES) throw tooLarge();
  const text = url.slice(data[0].length).trim();
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new ToolError("The data URL is not valid base64");
  return Buffer.from(text, "base64");
}

function tooLarge(): ToolError {
  return new ToolError(`The image is larger than ${MAX_BYTES >> 20} MB`);
}

async function fromFile(written: string, context: ToolContext): Promise<Uint8Array> {
  const { platform, home, cwd } = context;
  const target = await resolvePath(written, cwd, platform);
  const refusal = await readRefusal(target, home, platform);
  if (refusal) throw new ToolError(refusal);
  const stat = await platform.files.stat(target.path);
  if (!stat) throw new ToolError(`File not found: ${target.path}`);
  if (!stat.isFile) throw new ToolError(`'${target.path}' is not a file`);
  if (stat.size > MAX_BYTES) throw tooLarge();
  return await platform.files.read(target.path);
}

async function fromWeb(source: string, context: ToolContext): Promise<Uint8Array> {
  const parsed = URL.parse(source);
  const secret = parsed === null ? "it is not a valid URL" : secretInUrl(parsed, context);
  if (secret) throw new ToolError(`Blocked: ${secret}`);
  const check = await readBlocklist(context);
  for (let attempt = 1;; attempt++) {
    const answer = await guardedFetch(source, {
      net: context.platform,
      signal: context.signal,
      headers: { accept: "image/*", "user-agent": USER_AGENT },
      allowPrivate: context.settings.security.allow_private_urls,
      check,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (answer.ok && answer.status < 400) return answer.body;
    if (!mayHelp(answer) || attempt === TRIES) throw failure(answer, context);
    await context.platform.clock.delay(WAIT_MS * 2 ** (attempt - 1), { signal: context.signal });
  }
}

/** Whether trying again could end better. */
function mayHelp(answer: GuardedResult): boolean {
  if (answer.ok) return answer.status === 429 || answer.status >= 500;
  return answer.kind === "failed" || answer.kind === "timeout";
}

function failure(answer: GuardedResult, context: ToolContext): ToolError {
  if (answer.ok) {
    return new ToolError(`The image cannot be fetched: the server answered with status ${answer.status}`);
  }
  if (answer.kind === "too_large") return tooLarge();
  const reason = context.redact(answer.reason, "full");
  return new ToolError(
    answer.kind === "refused" ? `Blocked: ${reason}` : `The image cannot be fetched: ${reason}`,
  );
}
