/**
 * The model behind the attacks: it does what the prompt says ("work": tools and an approval) and refuses every history
 * that a strict provider would refuse, which is then a finding.
 */
import { type ModelServer, type ScriptTurn, startModelServer } from "../../tests/support/model_server.ts";
import { sent, strictFault } from "../../tests/support/core_driver.ts";
import { modelConfig } from "../../tests/support/program.ts";
import { type Judge, SECRET } from "./judge.ts";

/** What a tool run sleeps, so that the harness can tell its processes from others. */
export const SLEEP = "sleep 0.3";

export const WORK: ScriptTurn = {
  steps: [
    { reasoning: "First the file." },
    { text: "Working. " },
    { tool: "write_file", args: { path: "a.txt", content: "a\n" } },
    { tool: "terminal", args: { command: `cat a.txt; ${SLEEP}` } },
    { tool: "terminal", args: { command: "rm -rf build" } },
    { tool: "read_file", args: { path: "a.txt" } },
  ],
};

export function startTortureModel(judge: Judge): Promise<ModelServer> {
  let count = 0;
  return startModelServer({
    respond: (request) => {
      const messages = sent(request);
      const fault = strictFault(messages);
      if (fault) {
        judge.report(`a strict model refuses the history: ${fault}`, JSON.stringify(messages).slice(-1_400));
        return { steps: [{ error: { status: 400, message: `Invalid history: ${fault}` } }] };
      }
      const last = messages.at(-1);
      // Prompts of killed turns stand before the last one, in the same message.
      const wantsWork = last?.role === "user" && /work"(\}\])?$/.test(JSON.stringify(last.content));
      return wantsWork ? WORK : { steps: [{ text: "Answer " }, { text: `number ${++count}.` }] };
    },
  });
}

/** A config that names the model, with a key that nobody may see, and short waits. */
export function tortureConfig(url: string, model: Record<string, unknown> = {}): Record<string, unknown> {
  const config = modelConfig(url, {
    approvals: { timeout: 20 },
    agent: { api_max_retries: 2 },
    terminal: { timeout: 10 },
  });
  Object.assign(config["model"] as Record<string, unknown>, { api_key: SECRET, ...model });
  return config;
}
