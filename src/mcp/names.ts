/** Names under which a server's tools are offered (core.md G.2, D3). Pure. */

/** The strictest providers take no longer ones. */
const MAX_NAME = 64;

function clean(part: string): string {
  return part.replace(/[^A-Za-z0-9_]/g, "_");
}

/** FNV-1a, eight hexadecimal digits: tells shortened names apart. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** `mcp__<server>__<tool>`; a name over 64 characters is cut and ends in a digest of the whole. */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${clean(server)}__${clean(tool)}`;
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, MAX_NAME - 9)}_${digest(`${server}\n${tool}`)}`;
}

export function toolsetName(server: string): string {
  return `mcp-${server}`;
}

/** The part of a file name that stands for a server. */
export function fileLabel(server: string): string {
  return server.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60) || "server";
}

/** File of a server's login. Names that need other characters are told apart by a digest. */
export function tokenFile(server: string): string {
  const label = fileLabel(server);
  return label === server ? `${label}.json` : `${label}-${digest(server)}.json`;
}
