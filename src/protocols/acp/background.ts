/**
 * Background processes of one session for clients that show them (acp.md C11; `clientCapabilities._meta.hermes.background`):
 *
 *   _hermes/process        one starts, and ends, whoever has ended it
 *   _hermes/notification   what waits to be told to the model, while no turn runs; it is told all the same
 *
 * Other clients get neither frame.
 */
import type { Session, SessionNotice } from "@/core/contract.ts";
import { readResult } from "./render/results.ts";
import type { SessionView } from "./view.ts";

/** How the texts for the model are wrapped. */
const WRAPPED = /^\[IMPORTANT: ([\s\S]*)\]$/;

export class BackgroundNews {
  readonly #view: SessionView;
  readonly #told = new WeakSet<SessionNotice>();

  constructor(view: SessionView) {
    this.#view = view;
  }

  get #isWanted(): boolean {
    return this.#view.connection.client.background;
  }

  /** A finished call of `terminal` may have left a process behind. */
  onToolEnd(call: { readonly id: string; readonly name: string }, result: string): void {
    const { session } = this.#view;
    if (!this.#isWanted || call.name !== "terminal" || !session) return;
    const processId = readResult(result)?.session_id;
    if (typeof processId === "string") void this.#follow(session, call.id, processId);
  }

  /** Never rejects; ends at the latest with the session. */
  async #follow(session: Session, toolCallId: string, processId: string): Promise<void> {
    const processes = this.#view.connection.hermes.processes(session);
    const started = processes.list().find((entry) => entry.session_id === processId);
    if (!started) return;
    const { command } = started;
    this.#notify("process", { toolCallId, processId, command, status: "running" });
    const ended = await processes.ended(processId);
    if (!ended || this.#view.session !== session) return;
    const { exit_code: exitCode, completion_reason: reason } = ended;
    this.#notify("process", {
      toolCallId,
      processId,
      command,
      status: "exited",
      ...(typeof exitCode === "number" ? { exitCode } : {}),
      ...(typeof reason === "string" ? { reason } : {}),
    });
  }

  /** Shows what has not been shown yet, each notice once. The caller knows that no turn runs. */
  showWaiting(): void {
    const { session } = this.#view;
    if (!this.#isWanted || !session) return;
    for (const notice of session.waitingNotices()) {
      if (notice.quiet || this.#told.has(notice)) continue;
      this.#told.add(notice);
      const text = WRAPPED.exec(notice.text)?.[1] ?? notice.text;
      const title = text.split("\n", 1)[0]!;
      const notificationIds = [this.#view.connection.hermes.platform.ids.uuid()];
      this.#notify("notification", { kind: notice.kind, title, text, notificationIds });
    }
  }

  #notify(name: string, params: Record<string, unknown>): void {
    this.#view.connection.peer.notify(`_hermes/${name}`, { sessionId: this.#view.id, ...params });
  }
}
