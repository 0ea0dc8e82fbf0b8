/** What the server keeps of its runs and responses, and whether that outlives it (api-server.md A1 step 3, B5, B9). */
import type { Hermes } from "@/app/mod.ts";
import type { ResponseStore, RunCallbacks, RunStore } from "@/core/contract.ts";
import { KeptCallbacks } from "./callbacks.ts";
import { Fallback, type Part } from "./fallback.ts";
import { KeptResponses } from "./responses.ts";
import { KeptRuns } from "./runs.ts";

export interface Kept {
  readonly responses: ResponseStore;
  readonly runs: RunStore;
  readonly callbacks: RunCallbacks;
  /** `null` when what comes next is kept on disk, else why it is not. */
  trouble(part: Part): "memory" | "store_failed" | null;
  close(): void;
}

export function keepThings(hermes: Pick<Hermes, "store" | "platform" | "log">): Kept {
  const fallback = new Fallback(hermes);
  return {
    responses: new KeptResponses(fallback),
    runs: new KeptRuns(fallback),
    callbacks: new KeptCallbacks(fallback),
    trouble: (part) => {
      if (!isReadable(fallback, part)) return "store_failed";
      return fallback.isFailing(part) ? "memory" : null;
    },
    close: () => fallback.close(),
  };
}

/** A question whose answer is known. */
function isReadable(fallback: Fallback, part: Part): boolean {
  try {
    if (part === "runs") fallback.disk.runs.get("");
    else fallback.disk.responses.findByConversation("");
    return true;
  } catch {
    return false;
  }
}
