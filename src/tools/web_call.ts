/**
 * One request to a web service that the user has chosen: its address is configuration, so it may be anywhere (C.11),
 * but it answers in time, within bounds, and never sends the key on to another place.
 */
import type { ToolContext } from "@/core/contract.ts";
import { abortable, AbortError, throwIfAborted } from "@/lib/abort.ts";
import { readBounded } from "@/lib/bounded_body.ts";
import { ToolError } from "./args.ts";
import type { Backend } from "./web_backends.ts";
import type { Ask } from "./web_services.ts";

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 20 << 20;
const REASON_CHARS = 200;

export function askService(backend: Backend, context: ToolContext): Ask {
  return (url, { headers = {}, json, form }) => {
    const init: RequestInit = { redirect: "manual", headers: { "user-agent": USER_AGENT, ...headers } };
    if (json !== undefined) {
      init.method = "POST";
      init.body = JSON.stringify(json);
      init.headers = { ...init.headers, "content-type": "application/json", accept: "application/json" };
    } else if (form !== undefined) {
      init.method = "POST";
      init.body = form;
      init.headers = { ...init.headers, "content-type": "application/x-www-form-urlencoded" };
    }
    const text = () => send(url, init, backend, context);
    return {
      text,
      json: async () => {
        const value = parsed(await text());
        if (value === null) throw new ToolError(`${backend.name} answered with something that is not JSON`);
        return value;
      },
    };
  };
}

/** Tells sites what is calling. */
export const USER_AGENT = "Mozilla/5.0 (compatible; hermes)";

async function send(url: string, init: RequestInit, backend: Backend, context: ToolContext): Promise<string> {
  throwIfAborted(context.signal);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIMEOUT_MS);
  const signal = AbortSignal.any([context.signal, limit.signal]);
  try {
    return await abortable(exchange(url, { ...init, signal }, backend, context, signal), signal);
  } catch (error) {
    if (context.signal.aborted) throw new AbortError();
    if (error instanceof ToolError) throw error;
    const why = limit.signal.aborted ? `no answer in ${TIMEOUT_MS / 1000} s` : messageOf(error);
    throw new ToolError(`${backend.name} cannot be reached: ${context.redact(why, "full")}`);
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  url: string,
  init: RequestInit,
  backend: Backend,
  context: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  const response = await context.platform.fetch(url, init);
  const { body, truncated } = await readBounded(response, MAX_BYTES, signal);
  if (truncated) throw new ToolError(`${backend.name} answered with more than ${MAX_BYTES} bytes`);
  const text = new TextDecoder().decode(body);
  if (response.status >= 200 && response.status < 300) return text;
  const reason = context.redact(reasonOf(text), "full");
  throw new ToolError(
    `${backend.name} answered with status ${response.status}${reason ? `: ${reason}` : ""}`,
  );
}

function reasonOf(text: string): string {
  const body = parsed(text);
  const error = body?.["error"];
  const detail = body?.["detail"];
  const inner = [error, detail, body?.["message"]].flatMap((value) => {
    if (typeof value === "string") return [value];
    const nested = value as { message?: unknown; error?: unknown } | null | undefined;
    return [nested?.message, nested?.error].filter((item) => typeof item === "string");
  });
  return (inner[0] ?? "").replace(/\s+/g, " ").slice(0, REASON_CHARS);
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : null;
  } catch {
    return null; // the caller says what that means
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
