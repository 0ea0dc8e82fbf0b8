/**
 * Which addresses an agent may send a browser to (core.md C.11): http and https, nothing with a secret in it, no
 * blocked site, never a cloud's metadata service. A browser on this machine reaches what the agent's own commands
 * reach anyway; one elsewhere stands in a stranger's network, whose private addresses are refused unless allowed.
 */
import type { ToolContext } from "@/core/contract.ts";
import { within } from "@/lib/abort.ts";
import { checkPublicUrl } from "@/lib/url_safety.ts";
import { ToolError } from "./args.ts";
import { readBlocklist, secretInUrl } from "./web_rules.ts";

const RESOLVE_MS = 2_000;
/** Stands for a name that is known only where the browser is: some public address. */
const ELSEWHERE = ["1.1.1.1"];
const BLANK = "about:blank";

/** Throws `ToolError` with the reason for an address that must not be opened. */
export async function checkAddress(address: string, isLocal: boolean, context: ToolContext): Promise<void> {
  const { platform, settings } = context;
  if (address.trim().toLowerCase() === BLANK) return;
  const verdict = await checkPublicUrl(address, {
    allowPrivate: isLocal || settings.security.allow_private_urls,
    resolve: async (host) => {
      if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1"];
      const found = await within(platform.resolve(host).catch(() => ELSEWHERE), RESOLVE_MS);
      return found ?? ELSEWHERE;
    },
  });
  if (!verdict.ok) throw new ToolError(`Blocked: ${verdict.reason}`);
  const problem = secretInUrl(verdict.url, context) ?? (await readBlocklist(context))(verdict.url);
  if (problem !== null) throw new ToolError(`Blocked: ${problem}`);
}
