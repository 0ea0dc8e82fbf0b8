/**
 * Checks the import rule against one written drawing: imports go down only, siblings are blind to each other, other
 * rooms are entered by their door (`mod.ts`), each package has one home. Run by `deno task layers`.
 *
 *   6 main.ts · 5 cli · 4 protocols/{acp,gateway,api} · 3 app
 *   2 commands tools approvals models store config · 1.5 core · 1 platform · 0 lib
 */

interface Room {
  readonly level: number;
  /** Files that other rooms may import; `*` = every file. */
  readonly doors: readonly string[];
}

const DRAWING: Readonly<Record<string, Room>> = {
  "main.ts": { level: 6, doors: [] },
  "src/cli": { level: 5, doors: ["mod.ts", "first_run.ts"] },
  "src/protocols/acp": { level: 4, doors: ["mod.ts", "self_check.ts"] },
  "src/protocols/gateway": { level: 4, doors: ["mod.ts"] },
  "src/protocols/api": { level: 4, doors: ["mod.ts"] },
  "src/app": { level: 3, doors: ["mod.ts", "base.ts", "open.ts", "build.ts", "version.ts"] },
  "src/commands": { level: 2, doors: ["mod.ts"] },
  "src/tools": { level: 2, doors: ["mod.ts", "local_files.ts", "cards/mod.ts"] },
  "src/approvals": { level: 2, doors: ["mod.ts"] },
  "src/mcp": { level: 2, doors: ["mod.ts"] },
  "src/models": { level: 2, doors: ["mod.ts"] },
  "src/store": { level: 2, doors: ["mod.ts", "version.ts"] },
  "src/config": { level: 2, doors: ["mod.ts"] },
  "src/core": { level: 1.5, doors: ["mod.ts", "contract.ts", "live.ts"] },
  "src/lib": { level: 0, doors: ["*"] },
  "src/platform": { level: 1, doors: ["mod.ts"] },
};

/** Where each package may be imported. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  "@agentclientprotocol/sdk": ["src/protocols/acp"],
  "@clack/prompts": ["src/cli"],
  "hono": ["src/protocols/api"],
  "@modelcontextprotocol/client": ["src/mcp"],
  "openai": ["src/models"],
  "jsonc-parser": ["src/config", "src/models"],
  "yaml": ["src/lib/yaml.ts"],
  "zod": ["src/protocols"],
  "diff": ["src/tools", "src/protocols/gateway"],
  "fast-check": ["tests/properties"],
  "htmlparser2": ["src/tools"],
  "ignore": ["src/tools"],
  "re2js": ["src/tools"],
  "jpeg-js": ["src/cli/image_fit"],
  "smol-toml": ["src/tools"],
  "node:sqlite": ["src/store/db.ts"],
  "node:child_process": ["src/platform/deno.ts"],
};

const EXCEPTIONS: readonly (readonly [string, string])[] = [
  ["main.ts", "src/platform/deno.ts"],
  ["main.ts", "src/platform/code_cache.ts"],
  // Loaded and not used: the runtime keeps their compiled code.
  ["src/cli/first_run.ts", "src/protocols/acp/methods.ts"],
  ["src/cli/first_run.ts", "src/protocols/api/app.ts"],
  ["src/cli/first_run.ts", "src/protocols/api/service.ts"],
  ["src/cli/first_run.ts", "src/protocols/gateway/server.ts"],
];

interface Dependency {
  readonly specifier: string;
  readonly code?: { readonly specifier?: string };
  readonly type?: { readonly specifier?: string };
}

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly Dependency[];
}

const ROOT = new URL("../", import.meta.url).href;

async function readGraph(): Promise<readonly GraphModule[]> {
  const { stdout, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: new URL(ROOT),
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return (JSON.parse(new TextDecoder().decode(stdout)) as { modules: GraphModule[] }).modules;
}

function roomOf(path: string): string | null {
  return Object.keys(DRAWING).find((room) => path === room || path.startsWith(`${room}/`)) ?? null;
}

/** `npm:/hono@4.1.0/x` → `hono`; `node:fs` stays. */
function packageOf(specifier: string): string | null {
  if (specifier.startsWith("node:")) return specifier;
  const match = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)/.exec(specifier);
  return match?.[1] ?? null;
}

function checkFileEdge(from: string, to: string): string | null {
  const [a, b] = [roomOf(from), roomOf(to)];
  if (to === "deno.json" || to === "acp_registry/agent.json") return null;
  if (!a || !b) return `${b ? from : to} is in no room of the drawing`;
  if (a === b || EXCEPTIONS.some(([f, t]) => f === from && t === to)) return null;
  if (DRAWING[b]!.level >= DRAWING[a]!.level) return `${from} imports ${to}: imports go down only`;
  const { doors } = DRAWING[b]!;
  const inside = to.slice(b.length + 1);
  if (!doors.includes("*") && !doors.includes(inside)) return `${from} imports ${to}: enter ${b} by its door`;
  return null;
}

function checkPackageEdge(from: string, name: string): string | null {
  if (name.startsWith("node:") && !HOMES[name]) return null;
  const homes = HOMES[name];
  if (!homes) return `${from} imports ${name}: the package has no home in the drawing`;
  if (homes.some((home) => from === home || from.startsWith(`${home}/`))) return null;
  return `${from} imports ${name}: its home is ${homes.join(", ")}`;
}

function problemsOf(module: GraphModule): string[] {
  if (!module.specifier.startsWith(ROOT)) return [];
  const from = module.specifier.slice(ROOT.length);
  const problems: string[] = [];
  for (const dependency of module.dependencies ?? []) {
    const target = dependency.code?.specifier ?? dependency.type?.specifier ?? dependency.specifier;
    const name = packageOf(target);
    const problem = name
      ? checkPackageEdge(from, name)
      : target.startsWith(ROOT)
      ? checkFileEdge(from, target.slice(ROOT.length))
      : null;
    if (problem) problems.push(problem);
  }
  return problems;
}

/** Module state that can change is built by someone and closed by someone, never a top-level `let`. */
async function checkTopLevelState(modules: readonly GraphModule[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { specifier } of modules) {
    if (!specifier.startsWith(`${ROOT}src/`)) continue;
    const text = await Deno.readTextFile(new URL(specifier));
    if (/^(export )?(let|var) /m.test(text)) {
      problems.push(`${specifier.slice(ROOT.length)} has a top-level let`);
    }
  }
  return problems;
}

const modules = await readGraph();
const problems = [...modules.flatMap(problemsOf), ...await checkTopLevelState(modules)];
const lines = problems.length > 0 ? problems : [`layers ok: ${modules.length} modules`];
await Deno.stdout.write(new TextEncoder().encode(lines.join("\n") + "\n"));
Deno.exit(problems.length > 0 ? 1 : 0);
