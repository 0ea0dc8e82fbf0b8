/**
 * First import of `main.ts`: in a stdio server stdout belongs to the protocol, so every console method and
 * `process.stdout.write` is pointed at stderr before any other module can run (acp.md B3, FC-01).
 * What must reach stdout is written by a transport or by `cli` through `Deno.stdout`.
 */
import process from "node:process";

const encoder = new TextEncoder();

function toStderr(...args: unknown[]): void {
  const text = args.map((a) => typeof a === "string" ? a : Deno.inspect(a)).join(" ");
  try {
    Deno.stderr.writeSync(encoder.encode(text + "\n"));
  } catch {
    // stderr is closed: there is nobody left to tell.
  }
}

const QUIET = [
  "log",
  "info",
  "debug",
  "table",
  "dir",
  "dirxml",
  "group",
  "groupCollapsed",
  "timeEnd",
  "timeLog",
];
for (const name of [...QUIET, "count", "trace", "warn", "error"]) {
  (globalThis.console as unknown as Record<string, unknown>)[name] = toStderr;
}

process.stdout.write = ((chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
  toStderr(typeof chunk === "string" ? chunk.replace(/\n$/, "") : new TextDecoder().decode(chunk));
  const done = rest.find((r) => typeof r === "function") as (() => void) | undefined;
  done?.();
  return true;
}) as typeof process.stdout.write;
