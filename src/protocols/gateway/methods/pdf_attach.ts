/** `pdf.attach` (tui-gateway.md B.18): pages of a PDF go along with the next prompt, as images. */
import * as z from "zod/mini";
import { RpcError } from "../errors.ts";
import { keepFile } from "../kept_file.ts";
import type { LiveSession } from "../live.ts";
import { countPages, drawPages, type PageRange } from "../pdf_pages.ts";
import type { Gateway } from "../server.ts";
import { findFile, queueImage } from "./attachments.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";
import { decodeUpload, safeName } from "./uploads.ts";

const MAX_PAGES = 25;
const MAX_BYTES = 50 << 20;
/** The mark may stand behind a little of something else. */
const HEAD_BYTES = 1_024;

const text = optional(z.string());
const params = z.object({
  session_id: anything,
  /** On this machine, or the bytes in `content_base64`. */
  path: text,
  content_base64: text,
  filename: text,
  first_page: optional(z.int()),
  last_page: optional(z.int()),
});
type Params = z.output<typeof params>;

export function pdfMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "pdf.attach",
      kind: "worker",
      params,
      failCode: 5028,
      handle: (given, { signal }) => attach(gateway, gateway.live.require(given.session_id), given, signal),
    }),
  ];
}

async function attach(
  gateway: Gateway,
  live: LiveSession,
  given: Params,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const { files, ids } = hermes.platform;
  const asked = rangeOf(given);
  const folder = `${hermes.home}/images/pdf_${ids.hex(8)}`;
  const { path, name } = await fileOf(gateway, live, given, folder);
  const total = await countPages(hermes, path, signal);
  if (total !== null && asked.first > total) {
    throw new RpcError(4015, `first_page is ${asked.first}, and ${name} has ${total} pages`);
  }
  await files.mkdir(`${folder}/pages`, { mode: 0o700 });
  const drawn = await drawPages(hermes, { path, folder: `${folder}/pages` }, asked, signal)
    .catch(async (error) => {
      await files.remove(folder, { recursive: true }).catch(() => {/* only clutter is left */});
      throw error;
    });
  const pages: Record<string, unknown>[] = [];
  for (const { page, path } of drawn) {
    const { meta } = await queueImage(gateway, live, path);
    pages.push({ page, path, ...meta });
  }
  return {
    attached: true,
    filename: name,
    pages_attached: pages.length,
    ...(total === null ? {} : { total_pages: total }),
    count: live.images.length,
    pages,
    text: describe(name, drawn.map(({ page }) => page), total),
  };
}

/** What the prompt says of it: a model must not take some pages for all of them. */
function describe(name: string, pages: readonly number[], total: number | null): string {
  const range = pages.length === 1 ? `page ${pages[0]}` : `pages ${pages[0]}-${pages.at(-1)}`;
  return `[User attached PDF: ${name}, ${range}${total === null ? "" : ` of ${total}`}]`;
}

/** Throws 4015 for pages that cannot be, 4019 for too many. */
function rangeOf({ first_page: first = 1, last_page }: Params): PageRange {
  const last = last_page ?? first + MAX_PAGES - 1;
  if (first < 1 || last < first) throw new RpcError(4015, "first_page and last_page count from 1, in order");
  if (last - first >= MAX_PAGES) throw new RpcError(4019, `at most ${MAX_PAGES} pages at a time`);
  return { first, last };
}

/** Throws 4015 without a file, 4016 for what is no PDF, 4017 for bad base64, 4018 for one that is too large. */
async function fileOf(
  gateway: Gateway,
  live: LiveSession,
  { path = "", content_base64: sent = "", filename = "" }: Params,
  folder: string,
): Promise<{ path: string; name: string }> {
  const { hermes } = gateway;
  const { files } = hermes.platform;
  if (sent.trim() !== "") {
    const bytes = decodeUpload(sent, MAX_BYTES);
    if (!isPdf(bytes.subarray(0, HEAD_BYTES))) throw new RpcError(4016, "What was sent is no PDF");
    const name = safeName(filename, "document.pdf").replace(/\.[^.]*$/, "");
    const kept = await keepFile(hermes, { folder, name, ending: ".pdf", bytes });
    return { path: kept, name: `${name}.pdf` };
  }
  if (path.trim() === "") throw new RpcError(4015, "path or content_base64 is required");
  const found = await findFile(gateway, live, path);
  if (!found) throw new RpcError(4016, `There is no file at ${path.trim()}`);
  if ((await files.stat(found.path))!.size > MAX_BYTES) throw new RpcError(4018, "larger than 50 MB");
  if (!isPdf(await files.readHead(found.path, HEAD_BYTES))) {
    throw new RpcError(4016, `${path.trim()} is no PDF`);
  }
  return { path: found.path, name: found.path.replace(/^.*[/\\]/, "") };
}

function isPdf(head: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(head).includes("%PDF-");
}
