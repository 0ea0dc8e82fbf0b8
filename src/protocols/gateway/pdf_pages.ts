/**
 * Pages of a PDF as images, drawn by the programs of poppler (`pdftoppm`, `pdfinfo`), because models see images and no
 * PDFs (`pdf.attach`, tui-gateway.md B.18). Bounded in time, in pages and in the size of a page.
 */
import type { Hermes } from "@/app/mod.ts";
import { runChild } from "./child_run.ts";
import { RpcError } from "./errors.ts";

export interface PageRange {
  /** From 1; both ends count. */
  readonly first: number;
  readonly last: number;
}

export interface DrawnPage {
  readonly page: number;
  readonly path: string;
}

const TIMEOUT_MS = 120_000;
const INFO_TIMEOUT_MS = 10_000;
/** Pixels of a page's longer side: A4 at about 150 dots per inch. */
const LONGER_SIDE = 1_754;
const NOT_FOUND = 127;

const ABSENT = "PDF pages are drawn by pdftoppm, which is not on this machine: install poppler " +
  "(apt install poppler-utils, brew install poppler), or attach the pages as images";

/** How many pages the file has; `null` when nobody can tell. */
export async function countPages(hermes: Hermes, path: string, signal: AbortSignal): Promise<number | null> {
  const done = await run(hermes, "pdfinfo", [path], { timeoutMs: INFO_TIMEOUT_MS, signal });
  const pages = Number(/^Pages:\s*(\d+)/m.exec(done?.stdout ?? "")?.[1]);
  return pages > 0 ? pages : null;
}

/** Draws into `folder`, which is there and empty. In the order of the pages. Throws 5028. */
export async function drawPages(
  hermes: Hermes,
  file: { readonly path: string; readonly folder: string },
  { first, last }: PageRange,
  signal: AbortSignal,
): Promise<DrawnPage[]> {
  const { files } = hermes.platform;
  const range = ["-f", String(first), "-l", String(last)];
  const args = ["-png", "-scale-to", String(LONGER_SIDE), ...range, file.path, `${file.folder}/page`];
  const done = await run(hermes, "pdftoppm", args, { timeoutMs: TIMEOUT_MS, signal });
  if (done === null) throw new RpcError(5028, ABSENT);
  if (done.stopped !== null) throw new RpcError(5028, "Drawing the pages took too long and was stopped");
  const drawn = (await files.list(file.folder)).flatMap(({ name, isFile }) => {
    const page = isFile ? /^page-0*(\d+)\.png$/.exec(name)?.[1] : undefined;
    return page === undefined ? [] : [{ page: Number(page), path: `${file.folder}/${name}` }];
  }).sort((a, b) => a.page - b.page);
  if (drawn.length === 0) {
    const why = hermes.redact(done.stderr.trim().split("\n").at(-1) ?? "");
    throw new RpcError(5028, `No page could be drawn${why === "" ? "" : `: ${why}`}`);
  }
  for (const { path } of drawn) await files.chmod(path, 0o600);
  return drawn;
}

/** `null` when the program is not there. */
async function run(
  hermes: Hermes,
  program: string,
  args: readonly string[],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Awaited<ReturnType<typeof runChild>> | null> {
  const command = { program, args, cwd: hermes.home, env: hermes.childEnv(), ...limits };
  const done = await runChild(hermes.platform, command).catch(() => null);
  return done?.code === NOT_FOUND ? null : done;
}
