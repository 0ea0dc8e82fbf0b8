/** One turn of a gateway session on stdio, from the prompt to its completion. */
import { patient } from "../../tests/support/patience.ts";
import type { Json, StdioProgram } from "./stdio_program.ts";

/** The status it ended with, the text of a refusal, or `late`. */
export async function turnOn(
  program: StdioProgram,
  session: string,
  text: string,
  timeoutMs = 20_000,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  program.onFrame = ({ params }: Json) => {
    if (params?.type === "approval.request" && params.session_id === session) {
      deny(program, params.payload, session);
    }
    if (params?.type === "message.complete" && params.session_id === session) resolve(params.payload.status);
  };
  const timer = setTimeout(() => resolve("late"), patient(timeoutMs));
  const id = `p${program.frames.length}-${text.slice(0, 40)}`;
  const answer = await program.ask(id, "prompt.submit", { session_id: session, text }, timeoutMs);
  if (answer === null) resolve(program.ended ? `ended: ${program.stderr.slice(-300)}` : "late");
  if (answer?.error) resolve(answer.error.message);
  const status = await promise;
  clearTimeout(timer);
  return status;
}

function deny(program: StdioProgram, payload: Json, session_id: string): void {
  const params = { session_id, request_id: payload.request_id, choice: "deny" };
  const frame = { jsonrpc: "2.0", id: `d${payload.request_id}`, method: "approval.respond", params };
  void program.write(`${JSON.stringify(frame)}\n`);
}
