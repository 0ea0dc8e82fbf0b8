/**
 * Why a model call failed (core.md A.11): status, error body and thrown errors become one `ModelFailure`. The text
 * is for people: one line, at most 500 characters, without the key. Knows no client library: errors are read by shape.
 */
import type { ModelFailure, ModelFailureKind } from "@/core/contract.ts";
import { fittingCap, isImageTooLarge, isLongContextTier } from "./refusals.ts";
import { type HeaderReader, retryAfterMs } from "./retry_after.ts";

export interface FailureContext {
  readonly provider: string;
  readonly model: string;
  /** Takes secrets out, the key of this call included. */
  redact(text: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
}

const RETRYABLE: ReadonlySet<ModelFailureKind> = new Set([
  "rate_limit",
  "upstream_rate_limit",
  "overloaded",
  "server_error",
  "timeout",
  "connection",
  "invalid_response",
  "empty_stream",
  "unknown",
]);

const MAX_MESSAGE = 500;

/** A failure of a known kind. */
export function failureOf(
  kind: ModelFailureKind,
  message: string,
  context: FailureContext,
  extra: Pick<ModelFailure, "status" | "retryAfterMs" | "imageTooLarge"> = {},
): ModelFailure {
  return {
    kind,
    message: oneLine(context.redact(message)),
    provider: context.provider,
    model: context.model,
    retryable: RETRYABLE.has(kind),
    ...(extra.imageTooLarge ? { imageTooLarge: true as const } : {}),
    ...(extra.status === undefined ? {} : { status: extra.status }),
    ...(extra.retryAfterMs === undefined ? {} : { retryAfterMs: extra.retryAfterMs }),
  };
}

/** Control characters and line breaks become blanks; cut on a whole character. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, " ").trim();
  if (flat.length <= MAX_MESSAGE) return flat;
  return flat.slice(0, MAX_MESSAGE - 1).replace(/[\ud800-\udbff]$/, "") + "…";
}

const OVERFLOW =
  /context[ _-]?(length|window|size)|maximum context|max_model_len|prompt is too long|input is too long|too many (input )?tokens|reduce the length|exceeds? the (model'?s )?(maximum|context)|tokens? > \d+ maximum/i;
const OUTPUT_CAP = /max(_completion|_output)?_tokens|max_new_tokens/i;
const BILLING =
  /insufficient[_ ](quota|credits?|balance|funds)|billing|credit balance|payment|out of credits|quota.*exceeded.*plan|exceeded your current quota/i;
const POLICY =
  /content[_ ](policy|filter|management)|safety|moderation|flagged|policy violation|responsible ai/i;
const NO_MODEL =
  /model[^.]{0,80}(not (found|exist|available|supported)|does ?n[o']t exist|unknown|invalid)|no such model|unknown model|model_not_found/i;
const OVERLOADED = /overload|over capacity|at capacity|try again later|temporarily unavailable/i;
/** An aggregator that passes on the limit of the provider behind it. */
const UPSTREAM =
  /rate[- ]?limited (by )?(the )?upstream|upstream[^.]{0,60}rate[- ]?limit|rate[- ]?limit[^.]{0,40}upstream/i;
const VALIDATION = /validation|invalid_request|unrecognized (request )?argument|unknown (parameter|field)/i;

/** The kind for a status and the provider's text and code. */
export function kindOfStatus(status: number, text: string): ModelFailureKind {
  if (status >= 400 && status < 500 && isImageTooLarge(text)) return "format_error";
  const overflows = isOutputCap(text) ? leavesNoRoom(text) : OVERFLOW.test(text);
  switch (status) {
    case 401:
      return "auth";
    case 402:
      return /usage limit/i.test(text) && /try again/i.test(text) ? "rate_limit" : "billing";
    case 403:
      return BILLING.test(text) ? "billing" : POLICY.test(text) ? "content_policy" : "auth";
    case 404:
      return BILLING.test(text) ? "billing" : POLICY.test(text) ? "content_policy" : "model_not_found";
    case 408:
      return "timeout";
    case 413:
      return "payload_too_large";
    case 429:
      if (isLongContextTier(text)) return "context_overflow";
      if (UPSTREAM.test(text)) return "upstream_rate_limit";
      return /insufficient_quota|exceeded your current quota/i.test(text)
        ? "billing"
        : /overload|capacity/i.test(text)
        ? "overloaded"
        : "rate_limit";
    case 503:
    case 529:
      return overflows ? "context_overflow" : "overloaded";
  }
  if (status >= 500) {
    return overflows ? "context_overflow" : VALIDATION.test(text) ? "format_error" : "server_error";
  }
  if (status < 400) return "invalid_response";
  if (isLongContextTier(text)) return "context_overflow";
  if (overflows) return "context_overflow";
  if (POLICY.test(text)) return "content_policy";
  return NO_MODEL.test(text) ? "model_not_found" : "format_error";
}

/** "max_tokens is too large" and the like: the request was wrong, the conversation is not too long. */
export function isOutputCap(text: string): boolean {
  return OUTPUT_CAP.test(text) &&
    /too large|at most|maximum (value|allowed)|less than|exceed|in the completion/i.test(text);
}

/** The prompt alone fills the window, whatever the cap. */
function leavesNoRoom(text: string): boolean {
  return /exceeds? (the )?context limit/i.test(text) && fittingCap(text) === null;
}

export interface ErrorBody {
  readonly message: string;
  /** Message, code and type together, for recognition. */
  readonly text: string;
  readonly status: number | null;
}

/** The provider's own words out of an error body of any shape. */
export function readErrorBody(body: unknown): ErrorBody {
  if (typeof body === "string") return { message: plainText(body), text: body, status: null };
  if (typeof body !== "object" || body === null) return { message: "", text: "", status: null };
  const outer = body as Readonly<Record<string, unknown>>;
  const inner = outer["error"] ?? (Array.isArray(body) ? body[0]?.error : undefined);
  if (typeof inner === "object" && inner !== null) return readErrorBody({ ...inner, error: undefined });
  const message = [inner, outer["message"], outer["detail"], outer["error_description"]]
    .find((value) => typeof value === "string" && value !== "") as string | undefined;
  const code = outer["code"] ?? outer["status"];
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : null;
  const shown = message ?? jsonOf(outer["detail"]);
  return { message: shown, text: [shown, code, outer["type"]].filter(Boolean).join(" "), status };
}

/** Empty for what is absent, or nested too deep to be written. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Error pages of proxies: the title says more than the markup. */
function plainText(body: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(body)?.[1];
  return (title ?? body.replace(/<[^>]{0,300}>/g, " ")).trim();
}

const ADVICE: Partial<Record<ModelFailureKind, string>> = {
  auth: "check the API key: `hermes setup`",
  billing: "check the credit of the account",
  model_not_found: "check the model name and the base URL",
};

const IMAGE_ADVICE =
  "the image is too large for this model: send a smaller one, at most 8000 pixels a side and 5 MB";

/** A refused request: status, body, headers. */
export function failureOfResponse(
  status: number,
  body: unknown,
  header: HeaderReader,
  context: FailureContext,
  /** What is known to be wrong with the address. */
  addressAdvice: string | null = null,
): ModelFailure {
  const { message, text } = readErrorBody(body);
  const kind = kindOfStatus(status, text);
  const imageTooLarge = isImageTooLarge(text);
  const advice = imageTooLarge ? IMAGE_ADVICE : addressAdvice ?? ADVICE[kind];
  const words = message || "no reason given";
  const wait = RETRYABLE.has(kind) ? retryAfterMs(header, context.now()) : undefined;
  // The reason is cut before the advice is, so that a long page leaves room for both.
  const reason = words.length > 400 ? `${words.slice(0, 399)}…` : words;
  return failureOf(
    kind,
    `HTTP ${status} from ${context.provider}: ${reason}${advice ? ` (${advice})` : ""}`,
    context,
    {
      status,
      ...(imageTooLarge ? { imageTooLarge } : {}),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    },
  );
}

/** An error object inside a stream that had begun. */
export function failureOfEvent(error: unknown, context: FailureContext): ModelFailure {
  const { message, text, status } = readErrorBody({ error });
  const kind = status !== null
    ? kindOfStatus(status, text)
    : OVERFLOW.test(text)
    ? "context_overflow"
    : UPSTREAM.test(text)
    ? "upstream_rate_limit"
    : /rate.?limit/i.test(text)
    ? "rate_limit"
    : OVERLOADED.test(text)
    ? "overloaded"
    : POLICY.test(text)
    ? "content_policy"
    : /authentication_error|permission_error/.test(text)
    ? "auth"
    : "server_error";
  return failureOf(
    kind,
    `${context.provider} reported an error in its answer: ${message || "no reason given"}`,
    context,
    status === null ? {} : { status },
  );
}

/** What the user has to mend; a handshake that broke off is a lost connection. */
const CERTIFICATE = /certificate|unknownissuer|self.signed|ssl_ca_cert/i;
const TIMED_OUT = /timed? ?out|deadline/i;

/** A request that got no answer, or whose answer broke off. */
export function failureOfThrown(error: unknown, where: string, context: FailureContext): ModelFailure {
  const text = describeThrown(error);
  const kind: ModelFailureKind = CERTIFICATE.test(text)
    ? "ssl"
    : TIMED_OUT.test(text)
    ? "timeout"
    : "connection";
  const what = kind === "ssl"
    ? `The certificate of ${where} is not trusted (set DENO_CERT or fix the system's store), nor named by ssl_ca_cert of its entry in providers`
    : kind === "timeout"
    ? `No answer from ${where} in time`
    : `Cannot reach ${where}`;
  return failureOf(kind, `${what}: ${text}`, context);
}

/** The innermost reasons of an error chain, shortest useful form. */
export function describeThrown(error: unknown): string {
  const parts: string[] = [];
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    const text = e.message.replace(/^error sending request for url \([^)]*\):?\s*/i, "").replace(
      /^Connection error\.?$/,
      "",
    );
    if (text && !parts.some((p) => p.includes(text))) parts.push(text);
  }
  return parts.join(": ") || String(error);
}
