/**
 * The scripted model of the benchmark, in a process of its own: the last user message says what to answer.
 * `stream N` = N short deltas, `slow` = a delta every 20 ms until the client leaves, `paced N` = N deltas 10 ms
 * apart, anything else = one delta at once.
 */
import { startModelServer } from "../../tests/support/model_server.ts";

function lastUserText(body: { messages?: { role: string; content: unknown }[] }): string {
  const last = body.messages?.findLast((message) => message.role === "user")?.content;
  return typeof last === "string" ? last : JSON.stringify(last ?? "");
}

const server = await startModelServer({
  respond: ({ body }) => {
    const [word, count] = (/(stream|slow|paced) ?(\d*)\s*$/.exec(lastUserText(body)) ?? []).slice(1);
    const usage = { usage: { prompt_tokens: 100, completion_tokens: 5 } };
    if (word === "stream") return { steps: [{ text: "token ", repeat: Number(count) }, usage] };
    if (word === "slow") return { steps: [{ text: "token ", repeat: 3000, delay_ms: 20 }] };
    if (word === "paced") return { steps: [{ text: "token ", repeat: Number(count), delay_ms: 10 }, usage] };
    return { steps: [{ text: "ok" }, usage] };
  },
});
await Deno.stdout.write(new TextEncoder().encode(`${server.port}\n`));
// Ends with its parent: stdin closes.
for await (const _ of Deno.stdin.readable);
Deno.exit(0);
