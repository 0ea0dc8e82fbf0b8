/**
 * A prompt's content blocks as what the model reads (acp.md C6). An attachment never fails the prompt: what cannot
 * be read becomes a note that says why. Files are read through the functions given; nothing else is touched.
 */
import type { Content, ContentPart } from "@/core/contract.ts";
import type { Files } from "@/platform/mod.ts";
import { type HostFacts, translatePath } from "./cwd.ts";
import type { ContentBlock } from "./schema.ts";

/** Cap per resource, in bytes. */
export const MAX_RESOURCE_BYTES = 512 * 1024;
const MAX_DIRECTORY_ENTRIES = 200;
const MAX_NAME_CHARS = 300;
const MAX_URI_CHARS = 2_000;
/** Larger files are not asked of the client: only their beginning is used, and the answer would hold all of it. */
const MAX_BUFFER_BYTES = 8 * 1024 * 1024;

export interface ContentReader {
  readonly host: HostFacts;
  readonly files: Pick<Files, "stat" | "readHead" | "list">;
  /**
   * The text of a file as the client holds it; `null` where the disk counts (outside the session's folders, or the
   * client does not offer its files). Rejects with an `Error` that says why it could not be had.
   */
  buffer?(path: string): Promise<string | null>;
}

export interface BuiltContent {
  /** `null` when there is nothing to send. */
  readonly content: Content | null;
  /** What a person typed, with one line per attachment and none of the bodies. */
  readonly displayText: string;
}

interface Built {
  readonly parts: readonly ContentPart[];
  readonly display: string | null;
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
  svg: "image/svg+xml",
};
const TEXTUAL = /^(text\/.+|application\/(json|javascript|typescript|xml|x-yaml|yaml|toml|sql))$/;

export async function buildContent(
  blocks: readonly ContentBlock[],
  reader: ContentReader,
): Promise<BuiltContent> {
  const built: Built[] = [];
  for (const block of blocks) built.push(await buildBlock(block, reader));
  const parts = built.flatMap((one) => one.parts);
  const display = built.flatMap((one) => one.display === null ? [] : [one.display]).join("\n");
  if (parts.length === 0) return { content: null, displayText: display };
  const texts = parts.flatMap((part) => part.type === "text" ? [part.text] : []);
  return { content: texts.length === parts.length ? texts.join("\n") : parts, displayText: display };
}

function buildBlock(block: ContentBlock, reader: ContentReader): Promise<Built> | Built {
  switch (block.type) {
    case "text":
      return block.text === "" ? { parts: [], display: null } : ofText(block.text, block.text);
    case "image":
      return buildImage(block);
    case "audio":
      return buildAudio(block);
    case "resource_link":
      return buildLink(block, reader);
    case "resource":
      return buildResource(block);
  }
}

function ofText(text: string, display: string): Built {
  return { parts: [{ type: "text", text }], display };
}

function imagePart(url: string): ContentPart {
  return { type: "image_url", image_url: { url } };
}

function buildImage(block: Extract<ContentBlock, { type: "image" }>): Built {
  const { data, uri } = block;
  const url = data
    ? (data.startsWith("data:") ? data : `data:${block.mimeType || "image/png"};base64,${data}`)
    : uri;
  if (!url) return { parts: [], display: null };
  return { parts: [imagePart(url)], display: "[Image attachment]" };
}

function buildAudio(block: Extract<ContentBlock, { type: "audio" }>): Built {
  const note = `[Audio attachment omitted: ${block.mimeType}, ${base64Size(block.data)} bytes]`;
  return ofText(note, note);
}

// ── Attachments ─────────────────────────────────────────────────────────────────────────────────────────────

/** One attachment on its way: how it is named, and where it came from. */
interface Attachment {
  readonly name: string;
  readonly uri: string;
  readonly mime: string | null;
}

function attachmentText(item: Attachment, body: string, note?: string): Built {
  const label = `[Attached file: ${shown(item.name, MAX_NAME_CHARS)}]`;
  return ofText(`${label}${note ? ` (${note})` : ""}\n${uriLine(item)}\n\n${body}`, label);
}

function attachmentImage(item: Attachment, url: string): Built {
  const text = `[Attached image: ${shown(item.name, MAX_NAME_CHARS)}]\n${uriLine(item)}`;
  return { parts: [{ type: "text", text }, imagePart(url)], display: "[Image attachment]" };
}

/** Each has a line of its own, whatever the client puts in; the text of a `data:` URI is nothing to read. */
function shown(text: string, limit: number): string {
  const line = text.replace(/\p{Cc}+/gu, " ");
  return line.length <= limit ? line : `${line.slice(0, limit).toWellFormed()}…`;
}

function uriLine({ uri }: Attachment): string {
  return `URI: ${shown(uri, MAX_URI_CHARS)}`;
}

/** `title (name)`, or the one there is, or the last segment of the URI. */
export function attachmentName(uri: string, name?: string | null, title?: string | null): string {
  if (title && name && title !== name) return `${title} (${name})`;
  const given = title || name;
  if (given) return given;
  const last = uri.replace(/[?#].*$/, "").replace(/[\\/]+$/, "").split(/[\\/]/).pop() ?? "";
  try {
    return decodeURIComponent(last) || uri || "resource";
  } catch {
    return last || uri || "resource";
  }
}

function bareMime(mime: string | null | undefined): string | null {
  return mime ? mime.split(";")[0]!.trim().toLowerCase() || null : null;
}

function isTextual(mime: string | null): boolean {
  return mime !== null && TEXTUAL.test(mime);
}

/** The local path a URI means; `null` when it is not a file of this machine. */
export function localPathOf(uri: string, host: HostFacts): string | null {
  const remote = /^file:\/\/([^/]+)/i.exec(uri);
  if (remote && !/^(localhost|wsl\.localhost|wsl\$|wsl%24)$/i.test(remote[1]!)) return null;
  const path = translatePath(uri, host);
  return path.ok ? path.path : null;
}

async function buildLink(
  block: Extract<ContentBlock, { type: "resource_link" }>,
  reader: ContentReader,
): Promise<Built> {
  const item = {
    name: attachmentName(block.uri, block.name, block.title),
    uri: block.uri,
    mime: bareMime(block.mimeType),
  };
  const named = localPathOf(block.uri, reader.host);
  if (named === null) return attachmentText(item, "[Not read: only local files are read]");
  try {
    const { path, stat } = await findFile(block.uri, named, reader);
    if (stat === null) return await buildUnsaved(item, path, reader);
    if (stat.isDirectory) return await buildDirectory(item, path, reader);
    if (!stat.isFile) return attachmentText(item, "[Not read: it is not a regular file]");
    const imageMime = imageMimeOf(item.mime, path);
    if (imageMime) return await buildImageFile(item, path, imageMime, stat.size, reader);
    const head = await reader.files.readHead(path, MAX_RESOURCE_BYTES);
    const isText = isTextual(item.mime) || !head.includes(0);
    const held = isText && stat.size <= MAX_BUFFER_BYTES ? await reader.buffer?.(path) ?? null : null;
    return held === null ? fileBody(item, head, stat.size) : textBody(item, held);
  } catch (error) {
    return attachmentText(item, `[Cannot read the file: ${reasonOf(error)}]`);
  }
}

/** Lines of a file (`#L10:20`) and a query are no part of its path, unless there is a file of that name. */
async function findFile(uri: string, named: string, { files, host }: ContentReader) {
  const stat = await files.stat(named);
  const bare = uri.replace(/[?#].*$/s, "");
  const path = stat === null && bare !== uri && /^file:/i.test(uri) ? localPathOf(bare, host) : null;
  return path === null ? { path: named, stat } : { path, stat: await files.stat(path) };
}

/** A buffer that was never saved exists for the client alone. */
async function buildUnsaved(item: Attachment, path: string, reader: ContentReader): Promise<Built> {
  const held = await reader.buffer?.(path).catch(() => null) ?? null;
  return held === null
    ? attachmentText(item, "[Cannot read the file: it does not exist]")
    : textBody(item, held);
}

function textBody(item: Attachment, text: string): Built {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RESOURCE_BYTES) return attachmentText(item, text);
  return fileBody({ ...item, mime: "text/plain" }, bytes.subarray(0, MAX_RESOURCE_BYTES), bytes.length);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.split("\n")[0]!.slice(0, 300);
}

function imageMimeOf(mime: string | null, path: string): string | null {
  if (mime?.startsWith("image/")) return mime;
  const suffix = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase();
  return suffix ? IMAGE_TYPES[suffix] ?? null : null;
}

async function buildDirectory(item: Attachment, path: string, reader: ContentReader): Promise<Built> {
  const entries = await reader.files.list(path);
  const names = entries.map((entry) => entry.isDirectory ? `${entry.name}/` : entry.name).sort();
  const shown = names.slice(0, MAX_DIRECTORY_ENTRIES);
  const note = names.length > shown.length
    ? `directory, first ${shown.length} of ${names.length} entries`
    : `directory, ${names.length} ${names.length === 1 ? "entry" : "entries"}`;
  return attachmentText(item, shown.join("\n"), note);
}

async function buildImageFile(
  item: Attachment,
  path: string,
  mime: string,
  size: number,
  reader: ContentReader,
): Promise<Built> {
  if (size > MAX_RESOURCE_BYTES) return tooLarge(item, size);
  const bytes = await reader.files.readHead(path, MAX_RESOURCE_BYTES);
  return attachmentImage(item, `data:${mime};base64,${toBase64(bytes)}`);
}

function tooLarge(item: Attachment, size: number): Built {
  return attachmentText(item, `[Image omitted: ${size} bytes, the limit is ${MAX_RESOURCE_BYTES} bytes]`);
}

/** The text of a file's head, or a note that it is binary. */
function fileBody(item: Attachment, head: Uint8Array, size: number): Built {
  if (!isTextual(item.mime) && head.includes(0)) {
    return attachmentText(item, `[Binary file omitted: ${size} bytes, ${item.mime ?? "unknown type"}]`);
  }
  const truncated = size > MAX_RESOURCE_BYTES;
  const note = truncated ? `truncated to ${MAX_RESOURCE_BYTES} of ${size} bytes` : undefined;
  return attachmentText(item, decodeText(head, truncated), note);
}

/** UTF-8 without its BOM, else Latin-1; a character that the cut went through is dropped. */
function decodeText(bytes: Uint8Array, truncated: boolean): string {
  const whole = truncated ? bytes.subarray(0, lastWholeCharacter(bytes)) : bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

/** Length without an unfinished UTF-8 sequence at the end. */
function lastWholeCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

// ── Embedded resources ──────────────────────────────────────────────────────────────────────────────────────

function buildResource(block: Extract<ContentBlock, { type: "resource" }>): Built {
  const { resource } = block;
  const mime = bareMime(resource.mimeType);
  const item = { name: attachmentName(resource.uri), uri: resource.uri, mime };
  if ("text" in resource && typeof resource.text === "string") return textBody(item, resource.text);
  return buildBlob(item, "blob" in resource ? String(resource.blob) : "");
}

function buildBlob(item: Attachment, blob: string): Built {
  const decoded = fromBase64(blob);
  const bytes = decoded ?? new TextEncoder().encode(blob);
  if (decoded && item.mime?.startsWith("image/")) {
    if (bytes.length > MAX_RESOURCE_BYTES) return tooLarge(item, bytes.length);
    return attachmentImage(item, `data:${item.mime};base64,${blob}`);
  }
  const head = bytes.subarray(0, MAX_RESOURCE_BYTES);
  if (!isTextual(item.mime) && head.includes(0)) return fileBody(item, head, bytes.length);
  const truncated = bytes.length > MAX_RESOURCE_BYTES;
  const text = decodeText(head, truncated);
  if (!truncated) return attachmentText(item, text);
  return attachmentText(item, `${text}\n[truncated to ${MAX_RESOURCE_BYTES} of ${bytes.length} bytes]`);
}

function base64Size(text: string): number {
  const clean = text.replace(/[^A-Za-z0-9+/]/g, "");
  return Math.floor(clean.length * 3 / 4);
}

/** Strict: `null` for anything that is not base64 from end to end. */
function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}
