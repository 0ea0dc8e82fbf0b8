/** The states of a run (api-server.md B4.2), for the code that changes them and for the schemas. */
export const RUN_STATUSES = [
  "queued",
  "running",
  "waiting_for_approval",
  "waiting_for_clarify",
  "stopping",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
] as const;

export type RunStatus = typeof RUN_STATUSES[number];

export function isRunStatus(text: string): text is RunStatus {
  return (RUN_STATUSES as readonly string[]).includes(text);
}
