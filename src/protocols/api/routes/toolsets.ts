/** `GET /v1/skills` and `GET /v1/toolsets` (api-server.md B10): what the agent of this server can use. */
import type { Tool } from "@/core/contract.ts";
import type { ApiService } from "../service.ts";

export async function listSkills(api: ApiService): Promise<Response> {
  const { hermes } = api;
  const data = await hermes.skills.list({ settings: hermes.settings() });
  return Response.json({ object: "list", data });
}

export async function listToolsets(api: ApiService): Promise<Response> {
  const { hermes } = api;
  const offered = await offeredTools(api);
  const names = new Set(offered.map((tool) => tool.name));
  const groups = new Map<string, Tool[]>();
  for (const tool of [...hermes.tools, ...offered.filter((tool) => !hermes.tools.includes(tool))]) {
    const group = groups.get(tool.toolset) ?? [];
    group.push(tool);
    groups.set(tool.toolset, group);
  }
  const data = [...groups].map(([name, tools]) => ({
    name,
    label: labelOf(name),
    description: tools.map((tool) => tool.name).join(", "),
    enabled: tools.some((tool) => names.has(tool.name)),
    configured: true,
    tools: tools.map((tool) => tool.name),
  }));
  return Response.json({ object: "list", platform: "api_server", data });
}

/**
 * What any turn of this door would have, so without `clarify`, which is for runs that say that they can answer. The
 * session is made for the question and never stored.
 */
async function offeredTools(api: ApiService): Promise<readonly Tool[]> {
  const session = await api.pool.create(`toolsets-${api.hermes.platform.ids.hex(16)}`, {
    sessionKey: null,
    passing: true,
  });
  if (!session) return [];
  try {
    return session.tools().filter((tool) => tool.name !== "clarify");
  } finally {
    await session.close("listing");
  }
}

function labelOf(name: string): string {
  const words = name.replaceAll(/[-_]+/g, " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
