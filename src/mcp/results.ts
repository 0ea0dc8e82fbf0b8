/**
 * What a server answers, as the model reads it (core.md G.2): texts inline, pictures and other bytes in files that
 * are named, resources by their link. Results are a stranger's words and come wrapped (A.13).
 */
import type { ToolContext, ToolOutcome } from "@/core/contract.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";

type Tree = Readonly<Record<string, unknown>>;

const MAX_BLOB_BYTES = 50 << 20;
const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "application/zip": "zip",
};

/** Who asks: the name in the wrapper, the tool that reads links, the call that the files belong to. */
export interface ResultPlace {
  readonly tool: string;
  /** Name of the server's own read tool; `null` when it has none. */
  readonly reader: string | null;
  readonly context: Pick<ToolContext, "platform" | "home" | "callId" | "redact">;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A result of `tools/call`. */
export async function callOutcome(result: Tree, place: ResultPlace): Promise<ToolOutcome> {
  const text = await contentText(Array.isArray(result["content"]) ? result["content"] : [], place);
  if (result["isError"] === true) {
    return outcome(
      place,
      { error: place.context.redact(text || "the tool failed without a text", "full") },
      true,
    );
  }
  const structured = result["structuredContent"];
  if (structured === undefined || structured === null) return outcome(place, { result: text });
  return outcome(place, text ? { result: text, structuredContent: structured } : { result: structured });
}

/** Any other answer of a server, as JSON. */
export function outcome(place: ResultPlace, body: Tree, isError = false): ToolOutcome {
  return { content: wrapUntrusted(place.tool, JSON.stringify(body)), isError };
}

/** The contents of a read resource. */
export async function resourceOutcome(result: Tree, place: ResultPlace): Promise<ToolOutcome> {
  const contents = Array.isArray(result["contents"]) ? result["contents"] : [];
  const blocks = contents.map((resource) => ({ type: "resource", resource }));
  return outcome(place, { result: await contentText(blocks, place) });
}

/** The messages of a prompt, each as one text. */
export async function promptOutcome(result: Tree, place: ResultPlace): Promise<ToolOutcome> {
  const messages: Tree[] = [];
  for (const message of Array.isArray(result["messages"]) ? result["messages"] : []) {
    if (!isTree(message)) continue;
    const { content } = message;
    const text = await contentText(Array.isArray(content) ? content : [content], place, messages.length);
    messages.push({ role: textOf(message["role"]) || "user", content: text });
  }
  const description = textOf(result["description"]);
  return outcome(place, description ? { description, messages } : { messages });
}

/** All blocks as one text, in order. `batch` keeps file names apart. */
async function contentText(blocks: readonly unknown[], place: ResultPlace, batch = 0): Promise<string> {
  const parts: string[] = [];
  for (const [n, block] of blocks.entries()) {
    if (isTree(block)) parts.push(await blockText(block, place, `${batch}-${n}`));
    else if (typeof block === "string") parts.push(block);
  }
  return parts.filter((part) => part !== "").join("\n");
}

async function blockText(block: Tree, place: ResultPlace, label: string): Promise<string> {
  switch (block["type"]) {
    case "text":
      return textOf(block["text"]);
    case "image":
    case "audio":
      return await saved(block["data"], textOf(block["mimeType"]), String(block["type"]), place, label);
    case "resource":
      return isTree(block["resource"]) ? await resourceText(block["resource"], place, label) : "";
    case "resource_link":
      return linkText(block, place);
    default:
      return JSON.stringify(block);
  }
}

async function resourceText(resource: Tree, place: ResultPlace, label: string): Promise<string> {
  if (typeof resource["text"] === "string") return resource["text"];
  const what = `resource ${textOf(resource["uri"])}`.trim();
  return await saved(resource["blob"], textOf(resource["mimeType"]), what, place, label);
}

function linkText(block: Tree, { reader }: ResultPlace): string {
  const uri = textOf(block["uri"]);
  const name = textOf(block["title"]) || textOf(block["name"]);
  const how = reader ? `; read it with ${reader}` : "";
  return `[resource ${name ? `${name}: ` : ""}${uri}${how}]`;
}

/** Writes bytes to a file and names it; says why when it cannot. */
async function saved(
  data: unknown,
  mime: string,
  what: string,
  place: ResultPlace,
  label: string,
): Promise<string> {
  if (typeof data !== "string") return `[${what}: no data]`;
  if (data.length > Math.ceil(MAX_BLOB_BYTES / 3) * 4) return `[${what}: larger than 50 MB, left out]`;
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  } catch {
    return `[${what}: its data is not base64]`;
  }
  const { platform, home, callId } = place.context;
  const folder = `${home}/cache/mcp`;
  const name = `${callId.replace(/[^\w-]/g, "_")}-${label}.${EXTENSIONS[mime.toLowerCase()] ?? "bin"}`;
  try {
    await platform.files.mkdir(folder, { mode: 0o700 });
    await platform.files.write(`${folder}/${name}`, bytes, { mode: 0o600 });
  } catch (error) {
    return `[${what}: cannot be saved: ${error instanceof Error ? error.message : String(error)}]`;
  }
  return `[${what}${mime ? ` (${mime})` : ""}, ${bytes.length} bytes, saved to ${folder}/${name}]`;
}
