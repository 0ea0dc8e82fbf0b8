/** What to do about an MCP server that does not work, by what it failed with. Pure. */
import type { McpServerStatus } from "@/core/contract.ts";

const BY_HAND = "run the command of the entry by hand and see what it says";

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/ENOENT|No such file|cannot find/i, "install the program, or give its full path in command"],
  [/ended with code/i, BY_HAND],
  [/UnknownIssuer|self.signed|invalid peer certificate/i, "name the file of its CA in ssl_verify"],
  [
    /HTTP 40[13]|other credentials/i,
    'give a token in headers.Authorization, or "auth": "oauth" and: hermes mcp login <name>',
  ],
  [/HTTP 404/i, 'mend url; servers of the old kind want "transport": "sse"'],
  [/refused|dns|resolve|connect/i, "start the server, or mend url"],
];

/** `null` where the reason says it all. */
export function adviceFor(
  { name, status, transport, error }: McpServerStatus,
  seconds: number,
): string | null {
  if (status === "connecting" && !error) {
    const more = Math.max(60, Math.ceil(seconds * 4));
    return transport === "stdio"
      ? `hermes mcp test ${name} --timeout ${more} gives it more time: npx and the like download at a first start`
      : `hermes mcp test ${name} --timeout ${more} gives it more time`;
  }
  // A program that ends at once may be told as a line that broke: there is no address to mend.
  if (transport === "stdio" && error && /connect|EPIPE/i.test(error)) return BY_HAND;
  return error ? adviceForError(error, name) : null;
}

export function adviceForError(error: string, name: string): string | null {
  if (/hermes mcp login/.test(error)) return null;
  const known = ADVICE.find(([pattern]) => pattern.test(error));
  return known ? known[1].replace("<name>", name) : null;
}
