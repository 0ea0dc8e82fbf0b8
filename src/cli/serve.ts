/**
 * `hermes serve`: the OpenAI-compatible API server as a command. Reads the flags and hands them to the door with the
 * light half of the program, which brings the rest when it is needed; the exit code says whether it started and
 * ended in good order. `hermes serve keys` manages the keys of the server and starts nothing.
 */
import { startHermes } from "@/app/base.ts";
import type { Hermes, HermesStart } from "@/app/mod.ts";
import { serveApi, type ServeFlags } from "@/protocols/api/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { hermesOptions } from "./hermes_session.ts";
import { recordOption } from "./record_option.ts";
import { SERVE } from "./specs.ts";

/** Seconds; whoever stops a service kills it after some minutes. */
const MAX_DRAIN = 600;

/** Throws `UsageError` for flags that cannot be meant. */
export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(SERVE, args);
  const [first, ...words] = parsed.positionals;
  if (first === "keys") return await (await import("./serve_keys.ts")).runKeys(parsed, words, platform);
  if (first === "health") {
    const { runHealth } = await import("./serve_health.ts");
    return await runHealth(parsed, words, portOf(parsed.value("port")), platform);
  }
  if (first !== undefined) throw new UsageError(`unexpected argument "${first}"`);
  const flags = flagsOf(parsed);
  const logFormat = flags.logFormat ?? "text";
  const options = { ...hermesOptions(parsed), ...await recordOption(parsed, platform) };
  const hermes = startHermes(platform, { ...options, surface: "api_server", logFormat });
  let loaded: Promise<Hermes> | null = null;
  const start: HermesStart = { ...hermes, load: () => loaded ??= hermes.load() };
  try {
    return await serveApi(start, flags);
  } finally {
    await (await (loaded as Promise<Hermes> | null)?.catch(() => null))?.shutdown("server_shutdown");
  }
}

function flagsOf(parsed: ParsedArgs): ServeFlags {
  for (const name of ["scopes", "workspace", "rate-limit"]) {
    if (parsed.value(name) !== undefined) throw new UsageError(`--${name} belongs to hermes serve keys add`);
  }
  const host = parsed.value("host");
  const port = portOf(parsed.value("port"));
  const drain = parsed.positive("drain");
  if (drain !== undefined && drain > MAX_DRAIN) {
    throw new UsageError(`--drain takes at most ${MAX_DRAIN} seconds; got "${parsed.value("drain")}"`);
  }
  const logFormat = parsed.value("log-format");
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(drain === undefined ? {} : { drain }),
    ...(logFormat === "json" || logFormat === "text" ? { logFormat } : {}),
  };
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65535)) throw new UsageError(`--port takes a number from 0 to 65535; got "${text}"`);
  return port;
}
