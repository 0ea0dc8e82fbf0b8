/** What a program without MCP servers must not load. */
import { assert, assertEquals } from "../support/assert.ts";

const ROOT = new URL("../../", import.meta.url);

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** All that is loaded with a file: imports that are made at once, without types and without lazy ones. */
async function loadedWith(file: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", file],
    cwd: ROOT,
    stderr: "null",
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: Module[] };
  const byName = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { isDynamic, code } of byName.get(name)?.dependencies ?? []) {
      if (!isDynamic && code?.specifier) visit(code.specifier);
    }
  };
  visit(new URL(file, ROOT).href);
  return [...seen].map((name) => name.replace(ROOT.href, ""));
}

Deno.test("the front of the room loads four small files and no package", async () => {
  const loaded = await loadedWith("src/mcp/mod.ts");
  assertEquals(loaded.filter((name) => name.startsWith("src/mcp/")).sort(), [
    "src/mcp/mod.ts",
    "src/mcp/names.ts",
    "src/mcp/selection.ts",
    "src/mcp/service.ts",
  ]);
  assertEquals(loaded.filter((name) => name.startsWith("npm:")), []);
});

Deno.test("the room loads the SDK with its first connection only", async () => {
  const loaded = await loadedWith("src/mcp/room.ts");
  assert(loaded.includes("src/mcp/server.ts"));
  assertEquals(loaded.filter((name) => name.startsWith("npm:")), []);
  assert(
    (await loadedWith("src/mcp/connection.ts")).some((name) => name.includes("@modelcontextprotocol/client")),
  );
});
