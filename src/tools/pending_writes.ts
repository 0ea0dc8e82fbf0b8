/**
 * Writes that wait for the user's word (`memory.write_approval`, `skills.write_approval`): kept as one file each below
 * the data home, with everything needed to make or drop them later. Nothing is applied here.
 */
import { join } from "node:path";
import type { ToolContext, ToolOutcome } from "@/core/contract.ts";
import { succeed } from "./result.ts";

/** Stores the request and tells the model that nothing has been changed yet. */
export async function stageWrite(
  kind: "memory" | "skill",
  request: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { platform, home, sessionId } = context;
  const id = `${kind}-${platform.ids.hex(8)}`;
  const directory = join(home, "pending");
  const path = join(directory, `${id}.json`);
  const body = { id, kind, sessionId, createdAt: platform.clock.now() / 1000, request };
  await platform.files.mkdir(directory, { mode: 0o700 });
  await platform.files.write(path, new TextEncoder().encode(JSON.stringify(body, null, 2)), { mode: 0o600 });
  return succeed({
    success: true,
    staged: true,
    pending_id: id,
    message: `Nothing has been written yet: the change waits for the user in ${path}. Tell them so.`,
  });
}
