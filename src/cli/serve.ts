/**
 * `hermes serve`: the OpenAI-compatible API server as a command. Reads the flags and hands them to the door with the
 * light half of the program, which brings the rest when it is needed; the exit code says whether it started and
 * ended in good order.
 */
import { startHermes } from "@/app/base.ts";
import type { Hermes, HermesStart } from "@/app/mod.ts";
import { serveApi } from "@/protocols/api/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, UsageError } from "./args.ts";
import { hermesOptions } from "./hermes_session.ts";
import { SERVE } from "./specs.ts";

/** Throws `UsageError` for flags that cannot be meant. */
export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(SERVE, args);
  if (parsed.positionals.length > 0) throw new UsageError(`unexpected argument "${parsed.positionals[0]}"`);
  const host = parsed.value("host");
  const port = portOf(parsed.value("port"));
  const flags = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
  const options = { ...hermesOptions(parsed), surface: "api_server" };
  const hermes = startHermes(platform, options);
  let loaded: Promise<Hermes> | null = null;
  const start: HermesStart = { ...hermes, load: () => loaded ??= hermes.load() };
  try {
    return await serveApi(start, flags);
  } finally {
    await (await (loaded as Promise<Hermes> | null)?.catch(() => null))?.shutdown("server_shutdown");
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65535)) throw new UsageError(`--port takes a number from 0 to 65535; got "${text}"`);
  return port;
}
