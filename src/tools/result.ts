/** Results of tools: JSON text for the model (core.md B.1), and the one way an expected failure becomes one. */
import { isAbort } from "@/lib/abort.ts";
import type { FileEdit, ToolOutcome } from "@/core/contract.ts";
import { ToolError } from "./args.ts";

export function succeed(body: Record<string, unknown>, edits?: readonly FileEdit[]): ToolOutcome {
  return { content: JSON.stringify(body), isError: false, ...(edits?.length ? { edits } : {}) };
}

/** `effect: "none"`: nothing has been changed. */
export function fail(error: string, data: Record<string, unknown> = {}): ToolOutcome {
  return { content: JSON.stringify({ ...data, error }), isError: true, effect: "none" };
}

/** Runs a tool's body; a `ToolError` and an I/O error become error results, an abort and a bug go on as throws. */
export async function settle(
  body: () => Promise<ToolOutcome>,
  extra: Record<string, unknown> = {},
): Promise<ToolOutcome> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof ToolError) return fail(error.message, { ...extra, ...error.data });
    if (isAbort(error) || !(error instanceof Error) || !isIoError(error)) throw error;
    return fail(error.message, extra);
  }
}

function isIoError(error: Error): boolean {
  return typeof (error as { code?: unknown }).code === "string" ||
    ["NotFound", "PermissionDenied", "IsADirectory", "NotADirectory", "AlreadyExists", "FilesystemLoop"]
      .includes(error.name);
}
