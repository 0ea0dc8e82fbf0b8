/** Fills a store with many small sessions and one long one, through the store's own door. */
import { createDenoPlatform } from "@/platform/deno.ts";
import { openStore } from "@/store/mod.ts";
import type { Message } from "@/core/mod.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Returns the id of the long session. */
export async function fillSessions(
  path: string,
  size: { sessions: number; messages: number },
): Promise<string> {
  const platform = createDenoPlatform();
  const store = openStore(path, { platform, log: silent });
  const add = async (id: string, messages: Message[]) => {
    await store.createSession({ id, source: "acp", cwd: "/tmp", config: {} });
    await store.appendMessages(id, messages);
  };
  for (let i = 0; i < size.sessions; i++) {
    await add(crypto.randomUUID(), [{ role: "user", content: `question ${i}` }, {
      role: "assistant",
      content: "ok",
    }]);
  }
  const long = crypto.randomUUID();
  await add(
    long,
    Array.from(
      { length: size.messages },
      (_, i): Message =>
        i % 2 === 0
          ? { role: "user", content: `question ${i} ${"x".repeat(200)}` }
          : { role: "assistant", content: `answer ${i} ${"y".repeat(400)}` },
    ),
  );
  store.close();
  return long;
}
