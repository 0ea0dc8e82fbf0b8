/**
 * What a session uses of its client beside updates and questions: files and terminals (acp.md C8.5, C8.6). Every
 * request has a bound; those of the files belong to a turn or to a prompt that is being read, and end with it.
 */
import type { WorkspaceShell } from "@/core/contract.ts";
import { ClientFiles } from "./client_files.ts";
import { ClientTerminals } from "./client_terminals.ts";
import type { SessionView } from "./view.ts";

export function clientFilesOf(view: SessionView): ClientFiles {
  const { connection } = view;
  const { hermes } = connection;
  const terminals = clientTerminalsOf(view);
  return new ClientFiles({
    disk: hermes.disk,
    files: hermes.platform.files,
    offers: () => ({ read: connection.client.readTextFile, write: connection.client.writeTextFile }),
    roots: () => view.session?.roots ?? [],
    request: (method, params, signal) => requestInTurn(view, method, params, signal),
    shell: (): WorkspaceShell | null =>
      connection.client.terminal && hermes.settings().acp.use_client_terminal ? terminals : null,
  });
}

function clientTerminalsOf(view: SessionView): ClientTerminals {
  const { peer, hermes } = view.connection;
  return new ClientTerminals({
    request: (method, params, options) => peer.request(method, { sessionId: view.id, ...params }, options),
    answerMs: () => hermes.settings().acp.fs_timeout_s * 1000,
    show: (callId, terminalId) => view.updates.showTerminal(callId, terminalId),
  });
}

/**
 * Asks the client on behalf of the running turn, or of the prompt whose signal is given, at most
 * `acp.fs_timeout_s`; a cancel withdraws the question.
 */
async function requestInTurn(
  view: SessionView,
  method: string,
  params: Readonly<Record<string, unknown>>,
  prompt?: AbortSignal,
): Promise<unknown> {
  const { hermes, peer } = view.connection;
  const turn = prompt ?? view.prompts.turnSignal;
  if (!turn) throw new Error(`No turn runs: ${method} was not asked`);
  const seconds = hermes.settings().acp.fs_timeout_s;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), seconds * 1000);
  try {
    const signal = AbortSignal.any([turn, limit.signal]);
    return await peer.request(method, { sessionId: view.id, ...params }, { signal });
  } catch (error) {
    if (!limit.signal.aborted || turn.aborted) throw error;
    throw new Error(`The editor did not answer ${method} within ${seconds} s`);
  } finally {
    clearTimeout(timer);
  }
}
