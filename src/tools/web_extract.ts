/**
 * `web_extract`: up to five pages as text (core.md B.9), by the service that is set up for it or by a fetch of our
 * own. Every URL is judged before anything is sent anywhere (C.11). Long pages keep their head and tail; the whole
 * text is in a file that is named. Each page fails by itself; results are wrapped as a stranger's words.
 */
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { scanForInjection } from "@/lib/injection_scan.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
import { checkPublicUrl } from "@/lib/url_safety.ts";
import { type Args, readInteger, ToolError } from "./args.ts";
import { addresses, webExtract } from "./cards/work.ts";
import { settle, succeed } from "./result.ts";
import { type Backend, chooseBackend } from "./web_backends.ts";
import { type Blocklist, readBlocklist, secretInUrl } from "./web_rules.ts";
import type { Page } from "./web_services.ts";

const MAX_URLS = 5;
const MIN_CHARS = 2_000;
const MAX_CHARS = 500_000;
const MAX_CACHED = 2_000_000;
const HEAD_PART = 0.75;
const encoder = new TextEncoder();

export function createWebExtract(env: (name: string) => string | undefined): Tool {
  return {
    name: "web_extract",
    toolset: "web",
    description:
      "Reads web pages as text. Long ones are cut in the middle; the whole text is kept in a file.",
    parameters: {
      type: "object",
      properties: {
        urls: { type: "array", items: { type: "string" }, maxItems: MAX_URLS },
        char_limit: { type: "integer", maximum: MAX_CHARS },
      },
      required: ["urls"],
    },
    parallel: "safe",
    available: ({ settings }) => !("problem" in chooseBackend("extract", settings, env)),
    describe: webExtract,
    execute(args, context) {
      return settle(() => extract(args, context, env)).then((outcome) => wrapped("web_extract", outcome));
    },
  };
}

/** The outcome as a stranger's words (core.md A.13). */
export function wrapped(tool: string, outcome: ToolOutcome): ToolOutcome {
  return typeof outcome.content === "string"
    ? { ...outcome, content: wrapUntrusted(tool, outcome.content) }
    : outcome;
}

async function extract(
  args: Args,
  context: ToolContext,
  env: (name: string) => string | undefined,
): Promise<ToolOutcome> {
  const urls = [...new Set(addresses(args["urls"]))];
  if (urls.length === 0) throw new ToolError("Missing required argument 'urls'");
  if (urls.length > MAX_URLS) {
    throw new ToolError(`${urls.length} URLs were given, at most ${MAX_URLS} are read at once`);
  }
  const or = context.settings.web?.extract_char_limit ?? 15_000;
  const limit = Math.max(MIN_CHARS, readInteger(args, "char_limit", { or, min: MIN_CHARS, max: MAX_CHARS }));
  const backend = chooseBackend("extract", context.settings, env);
  if ("problem" in backend) throw new ToolError(`web_extract cannot be used: ${backend.problem}`);
  const isBlocked = await readBlocklist(context);
  const pages = backend.name === "plain"
    ? await Promise.all(urls.map((url) => fetchOne(url, isBlocked, context)))
    : await throughService(urls, backend, isBlocked, context);
  const results = await Promise.all(pages.map((page) => shown(page, limit, context)));
  return { ...succeed({ results }), isError: results.every((result) => "error" in result) };
}

/** Why a URL is not opened at all, or `null`. */
async function refusal(url: string, isBlocked: Blocklist, context: ToolContext): Promise<string | null> {
  const parsed = URL.parse(url);
  if (parsed === null) return "it is not a valid URL";
  const secret = secretInUrl(parsed, context);
  if (secret) return secret;
  const verdict = await checkPublicUrl(parsed, {
    resolve: (host) => context.platform.resolve(host),
    allowPrivate: context.settings.security.allow_private_urls,
  });
  return verdict.ok ? isBlocked(parsed) : verdict.reason;
}

async function fetchOne(url: string, isBlocked: Blocklist, context: ToolContext): Promise<Page> {
  // The guard of the fetch judges the address; a secret must not even be looked up.
  const parsed = URL.parse(url);
  const secret = parsed === null ? "it is not a valid URL" : secretInUrl(parsed, context);
  if (secret) return refused(context.redact(url, "full"), secret);
  const { fetchPage } = await import("./web_fetch.ts");
  return await fetchPage(url, isBlocked, context);
}

async function throughService(
  urls: readonly string[],
  backend: Backend,
  isBlocked: Blocklist,
  context: ToolContext,
): Promise<Page[]> {
  const reasons = await Promise.all(urls.map((url) => refusal(url, isBlocked, context)));
  const wanted = urls.filter((_, at) => reasons[at] === null);
  const [{ extractWith }, { askService }] = await Promise.all([
    import("./web_services.ts"),
    import("./web_call.ts"),
  ]);
  const found = wanted.length === 0 ? [] : await extractWith(backend, wanted, askService(backend, context));
  return urls.map((url, at) => {
    const reason = reasons[at];
    return reason ? refused(context.redact(url, "full"), reason) : found[wanted.indexOf(url)]!;
  });
}

export function refused(url: string, reason: string): Page {
  return { url, title: "", content: "", error: `Blocked: ${reason}` };
}

async function shown(page: Page, limit: number, context: ToolContext): Promise<Record<string, unknown>> {
  const { url, title, error } = page;
  if (error !== undefined) return { url, title, content: "", error };
  const signs = scanForInjection(`${title}\n${page.content}`, "all");
  const content = page.content.length <= limit ? page.content : await cutMiddle(page, limit, context);
  return { url, title, content, ...(signs.length > 0 ? { injection_signs: signs } : {}) };
}

/** Head and tail, and where the rest is. */
async function cutMiddle({ url, content }: Page, limit: number, context: ToolContext): Promise<string> {
  const head = Math.floor(limit * HEAD_PART);
  const tail = limit - head;
  const saved = await save(url, content.slice(0, MAX_CACHED), context);
  const left = content.length - limit;
  return [
    content.slice(0, head).toWellFormed(),
    `\n\n[… ${left} of ${content.length} characters left out …]\n\n`,
    content.slice(-tail).toWellFormed(),
    saved
      ? `\n\n[The full text is in ${saved}; read it with read_file]`
      : "\n\n[The full text could not be saved]",
  ].join("");
}

async function save(url: string, content: string, { platform, home }: ToolContext): Promise<string | null> {
  const folder = `${home}/cache/web`;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(url)));
  const path = `${folder}/${
    [...digest.subarray(0, 12)].map((b) => b.toString(16).padStart(2, "0")).join("")
  }.md`;
  try {
    await platform.files.mkdir(folder, { mode: 0o700 });
    await platform.files.write(path, encoder.encode(content.toWellFormed()), { mode: 0o600 });
    return path;
  } catch {
    return null; // the result says so
  }
}
