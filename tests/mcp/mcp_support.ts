/** The MCP room over a real temporary home and the scripted server; no core, one host per session. */
import { createConfig } from "@/config/mod.ts";
import {
  type McpServerEntry,
  type SessionTools,
  textOf,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "@/core/mod.ts";
import { createMcp, type Mcp, type McpDeps } from "@/mcp/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";
import { eventually } from "../support/program.ts";

export const SECRET = "zz-SECRET-0123456789";

export interface Seat {
  readonly tools: SessionTools;
  readonly reports: string[];
  changes: number;
  names(): string[];
  context(): ToolContext;
  tool(name: string): Tool;
  /** Waits for a tool to be offered. */
  offered(name: string): Promise<Tool>;
  run(name: string, args?: Record<string, unknown>, options?: RunOptions): Promise<ToolOutcome>;
  /** The text of a result without its wrapper, as JSON. */
  // deno-lint-ignore no-explicit-any
  json(name: string, args?: Record<string, unknown>): Promise<any>;
}

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (text: string) => void;
  /** Answers for the model. */
  readonly sample?: NonNullable<ToolContext["sample"]>;
  readonly sessionId?: string;
}

export interface Bench extends AsyncDisposable {
  readonly home: string;
  readonly work: string;
  readonly mcp: Mcp;
  readonly platform: Platform;
  configure(servers: Record<string, unknown>, more?: Record<string, unknown>): Promise<void>;
  session(options?: { surface?: string; cwd?: string; servers?: readonly McpServerEntry[] }): Seat;
}

export interface BenchOptions {
  readonly servers?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly surface?: string;
  readonly deps?: Partial<McpDeps>;
  readonly clock?: Platform["clock"];
}

export async function makeBench(options: BenchOptions = {}): Promise<Bench> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-mcp-" }));
  const [home, work, user] = [`${base}/home`, `${base}/work`, `${base}/user`];
  for (const dir of [home, work, user]) await Deno.mkdir(dir);
  const env = {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: user,
    HERMES_HOME: home,
    OPENAI_API_KEY: SECRET,
    NOT_ALLOWED: "1",
    ...options.env,
  };
  const configure = (servers: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    Deno.writeTextFile(`${home}/config.jsonc`, JSON.stringify({ mcp_servers: servers, ...more }));
  await configure(options.servers ?? {}, options.config);
  const real = createDenoPlatform();
  const platform: Platform = {
    ...real,
    ...(options.clock ? { clock: options.clock } : {}),
    env: () => ({ ...env }),
    cwd: () => work,
    homeDir: () => user,
  };
  const quiet = () => {};
  const mcp = createMcp({
    platform,
    config: createConfig({ platform }),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    redact: (text) => text.replaceAll(SECRET, "***"),
    keepSecret: () => () => {},
    version: "0.0.0-test",
    surface: options.surface ?? "cli",
    childEnv: () => ({ PATH: env.PATH, HOME: user, SCRUBBED: "yes" }),
    ...options.deps,
  });
  return {
    home,
    work,
    mcp,
    platform,
    configure,
    session: (given = {}) => makeSeat(mcp, platform, home, { cwd: work, ...given }),
    [Symbol.asyncDispose]: async () => {
      await mcp.close();
      await Deno.remove(base, { recursive: true });
    },
  };
}

let sessions = 0;

function makeSeat(
  mcp: Mcp,
  platform: Platform,
  home: string,
  options: { surface?: string; cwd: string; servers?: readonly McpServerEntry[] },
): Seat {
  const reports: string[] = [];
  const tools = mcp.attach({
    sessionId: `s${++sessions}`,
    surface: options.surface ?? "cli",
    cwd: options.cwd,
    report: (text) => void reports.push(text),
    changed: () => void seat.changes++,
  });
  const context = (more: RunOptions): ToolContext => ({
    callId: "call_1",
    signal: new AbortController().signal,
    platform,
    home,
    progress: () => {},
    redact: (text: string) => text.replaceAll(SECRET, "***"),
    sessionId: "s1",
    ...more,
  } as unknown as ToolContext);
  const seat: Seat = {
    tools,
    reports,
    changes: 0,
    context: () => context({}),
    names: () => tools.tools().map((tool) => tool.name),
    tool: (name) => {
      const tool = tools.tools().find((one) => one.name === name);
      if (!tool) throw new Error(`no ${name} among ${seat.names().join(", ") || "none"}`);
      return tool;
    },
    offered: (name) =>
      eventually(() => tools.tools().find((tool) => tool.name === name), 10_000, `the tool ${name}`),
    run: async (name, args = {}, more = {}) => await (await seat.offered(name)).execute(args, context(more)),
    json: async (name, args) => JSON.parse(unwrap(textOf((await seat.run(name, args)).content))),
  };
  if (options.servers) tools.setServers(options.servers);
  return seat;
}

/** What stands inside the untrusted wrapper; the text itself when there is none. */
export function unwrap(text: string): string {
  return /^<untrusted_tool_result[^>]*>\n[^\n]*\n\n([\s\S]*)\n<\/untrusted_tool_result>$/.exec(text)?.[1] ??
    text;
}
