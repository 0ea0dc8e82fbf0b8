/** One page by a guarded fetch of our own, as text (core.md B.9 "plain"). Loaded at the first page. */
import type { ToolContext } from "@/core/contract.ts";
import { guardedFetch } from "@/lib/guarded_fetch.ts";
import { USER_AGENT } from "./web_call.ts";
import { refused } from "./web_extract.ts";
import type { Blocklist } from "./web_rules.ts";
import type { Page } from "./web_services.ts";

const MAX_BYTES = 10 << 20;
/** Characters of markup that are turned into text. */
const MAX_MARKUP = 4 << 20;
const ACCEPT = "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5";

/** Never throws but `AbortError`. */
export async function fetchPage(url: string, isBlocked: Blocklist, context: ToolContext): Promise<Page> {
  const answer = await guardedFetch(url, {
    net: context.platform,
    signal: context.signal,
    headers: { accept: ACCEPT, "user-agent": USER_AGENT },
    allowPrivate: context.settings.security.allow_private_urls,
    check: isBlocked,
    maxBytes: MAX_BYTES,
    overflow: "cut",
  });
  if (!answer.ok) {
    const reason = context.redact(answer.reason, "full");
    return answer.kind === "refused" ? refused(url, reason) : failed(url, reason);
  }
  if (answer.status >= 400) return failed(url, `the server answered with status ${answer.status}`);
  const type = typeOf(answer.headers.get("content-type"), answer.body);
  if (type === "binary") {
    const what = answer.headers.get("content-type")?.slice(0, 100) || "binary data";
    const advice = /^image\//.test(what) ? "; look at it with vision_analyze" : "";
    return failed(url, `it is ${what}, not text${advice}`);
  }
  const text = decode(answer.body, answer.headers.get("content-type"), type);
  if (type === "text") return { url, title: "", content: text.trim() };
  const { pageText } = await import("./web_page.ts");
  const page = await pageText(text.slice(0, MAX_MARKUP), answer.url, context.signal);
  return { url, title: page.title, content: page.text };
}

function failed(url: string, error: string): Page {
  return { url, title: "", content: "", error };
}

/** By the header, and where that says nothing by the beginning of the content. */
function typeOf(header: string | null, body: Uint8Array): "html" | "text" | "binary" {
  const type = header?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (/^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|x-yaml|x-ndjson|toml|x-sh)$/.test(type)) {
    return "text";
  }
  if (type !== "" && type !== "application/octet-stream" && type !== "binary/octet-stream") return "binary";
  const head = body.subarray(0, 1_024);
  if (head.includes(0)) return "binary";
  return /^\s*(?:<!doctype html|<html|<head|<body)/i.test(new TextDecoder().decode(head)) ? "html" : "text";
}

/** In the character set that header or page name; UTF-8 when they name none that is known. */
function decode(body: Uint8Array, header: string | null, type: "html" | "text"): string {
  const named = /charset\s*=\s*["']?([\w.:-]+)/i.exec(header ?? "")?.[1] ??
    (type === "html"
      ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i
        .exec(new TextDecoder("latin1").decode(body.subarray(0, 2_048)))?.[1]
      : undefined);
  try {
    return new TextDecoder(named ?? "utf-8").decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
