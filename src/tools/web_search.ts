/**
 * `web_search`: asks a search service (core.md B.9). Offered only where one is set up. What comes back is a stranger's
 * text and is wrapped as such; addresses of blocked sites are left out.
 */
import type { Tool } from "@/core/contract.ts";
import { scanForInjection } from "@/lib/injection_scan.ts";
import { readInteger, readText, ToolError } from "./args.ts";
import { webSearch } from "./cards/work.ts";
import { settle, succeed } from "./result.ts";
import { chooseBackend } from "./web_backends.ts";
import { readBlocklist } from "./web_rules.ts";
import { wrapped } from "./web_extract.ts";

const MAX_QUERY = 2_000;

export function createWebSearch(env: (name: string) => string | undefined): Tool {
  return {
    name: "web_search",
    toolset: "web",
    description:
      "Searches the web: titles, addresses and short descriptions. Read a page itself with web_extract.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string" },
        limit: { type: "integer", maximum: 100, default: 5 },
      },
      required: ["query"],
    },
    parallel: "safe",
    available: ({ settings }) => !("problem" in chooseBackend("search", settings, env)),
    describe: webSearch,
    execute(args, context) {
      return settle(async () => {
        const query = readText(args, "query").trim();
        if (query.length > MAX_QUERY) {
          throw new ToolError(`The query has ${query.length} characters, at most ${MAX_QUERY} are taken`);
        }
        if (context.redact(query, "terminal") !== query) {
          throw new ToolError("The query has a key or a token in it and was not sent");
        }
        const limit = readInteger(args, "limit", { or: 5, min: 1, max: 100 });
        const backend = chooseBackend("search", context.settings, env);
        if ("problem" in backend) throw new ToolError(`web_search cannot be used: ${backend.problem}`);
        const isBlocked = await readBlocklist(context);
        const [{ searchWith }, { askService }] = await Promise.all([
          import("./web_services.ts"),
          import("./web_call.ts"),
        ]);
        const found = await searchWith(backend, query, limit, askService(backend, context));
        const shown = found.filter(({ url }) => URL.canParse(url) && isBlocked(new URL(url)) === null);
        const web = shown.map((hit, at) => ({ ...hit, position: at + 1 }));
        const signs = scanForInjection(
          web.map((hit) => `${hit.title}\n${hit.description}`).join("\n"),
          "all",
        );
        return succeed({
          success: true,
          data: { web },
          ...(signs.length > 0 ? { injection_signs: signs } : {}),
        });
      }, { success: false }).then((outcome) => wrapped("web_search", outcome));
    },
  };
}
