import { assert, assertEquals } from "../support/assert.ts";

interface Locked {
  readonly dependencies?: readonly string[];
}

/**
 * The MCP library uses all of zod, the doors a few functions of it. With one copy the bundler shares the whole of it,
 * and every door pays some milliseconds at its first session; with a copy of its own only MCP pays.
 */
Deno.test("deno.lock gives the MCP library a zod of its own, so that the doors load only what they use", async () => {
  const lock = JSON.parse(await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)));
  const packages = Object.entries(lock.npm as Record<string, Locked>);
  const zodOf = (prefix: string) =>
    new Set(
      packages.filter(([name]) => name.startsWith(prefix)).flatMap(([, { dependencies }]) =>
        dependencies?.filter((d) => d.startsWith("zod")) ?? []
      ),
    );
  const mcp = zodOf("@modelcontextprotocol/");
  assertEquals(mcp.size, 1);
  assert(!zodOf("@agentclientprotocol/").has([...mcp][0]!));
});
