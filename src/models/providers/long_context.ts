/** The beta for conversations beyond the ordinary window, which a user may name in `extra_headers` (core.md A.11). */
import type { Runtime } from "../runtime.ts";

const HEADER = "anthropic-beta";
const BETA = /^context-\d+[mk]/i;

/** Of the Messages wire, which is the one that has such a beta. */
export function namesLongContext({ model, headers }: Runtime): boolean {
  if (model.apiMode !== "anthropic_messages") return false;
  return betasOf(new Headers(headers)).some((name) => BETA.test(name));
}

/** The headers without it; the other betas stay. */
export function withoutLongContext(headers: Headers): Headers {
  const fewer = new Headers(headers);
  const kept = betasOf(headers).filter((name) => !BETA.test(name));
  if (kept.length > 0) fewer.set(HEADER, kept.join(","));
  else fewer.delete(HEADER);
  return fewer;
}

function betasOf(headers: Headers): string[] {
  return (headers.get(HEADER) ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}
