/**
 * `hermes serve health`: asks the server of these settings whether it is up, for containers and supervisors that have
 * no other program to ask with. Needs no key, because `/health` needs none. Exit 0 when it answers, else 1.
 */
import { startHermes } from "@/app/base.ts";
import type { Platform } from "@/platform/mod.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import { withTerminal } from "./terminal.ts";

const TIMEOUT_MS = 5_000;
const ANY_ADDRESS = new Set(["0.0.0.0", "::", ""]);

/** `port`: of the flag, if there was one. */
export async function runHealth(
  parsed: ParsedArgs,
  words: readonly string[],
  port: number | undefined,
  platform: Platform,
): Promise<number> {
  if (words.length > 0) throw new UsageError(`unexpected argument "${words[0]}"`);
  const server = startHermes(platform, { surface: "cli" }).settings().gateway.api_server;
  const host = (parsed.value("host") ?? server.host).trim().replace(/^\[(.*)\]$/, "$1");
  const url = `http://${addressOf(host)}:${port ?? server.port}/health`;
  return await withTerminal(platform, async (terminal) => {
    const problem = await problemOf(url, platform);
    if (problem !== null) terminal.note(`hermes: ${url} ${problem}`);
    else terminal.line("ok");
    return problem === null ? 0 : 1;
  });
}

/** A server on every address is asked on the loopback one. */
function addressOf(host: string): string {
  if (ANY_ADDRESS.has(host)) return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

async function problemOf(url: string, platform: Platform): Promise<string | null> {
  try {
    const response = await platform.fetch(url, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: "error",
    });
    const body = await response.json().catch(() => null) as { status?: unknown } | null;
    if (response.ok && body?.status === "ok") return null;
    return `answers ${response.status}, not as this server does`;
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError"
      ? `does not answer within ${TIMEOUT_MS / 1000} s`
      : "does not answer";
  }
}
