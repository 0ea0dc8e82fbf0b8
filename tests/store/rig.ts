/** A store of its own for one test: a real file in a temporary directory, or memory; closed and removed at the end. */
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { openStore } from "../../src/store/mod.ts";
import type { Message, NewSessionRow, Store } from "../../src/core/mod.ts";

export interface StoreRig extends AsyncDisposable {
  readonly path: string;
  readonly directory: string;
  readonly warnings: string[];
  readonly store: Store;
  open(): Store;
}

export async function makeStore(options: { file?: boolean } = {}): Promise<StoreRig> {
  const directory = await Deno.makeTempDir({ prefix: "hermes-store-" });
  const path = options.file ? `${directory}/home/hermes.db` : ":memory:";
  const warnings: string[] = [];
  const opened: Store[] = [];
  const log = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} };
  const open = () => {
    const store = openStore(path, { platform: createDenoPlatform(), log });
    opened.push(store);
    return store;
  };
  return {
    path,
    directory,
    warnings,
    store: open(),
    open,
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) store.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

export function sessionRow(id: string, extra: Partial<NewSessionRow> = {}): NewSessionRow {
  return { id, source: "acp", cwd: "/work", config: {}, ...extra };
}

export const user = (content: string): Message => ({ role: "user", content });
export const agent = (content: string): Message => ({ role: "assistant", content });

/** Texts of messages, for short comparisons. */
export function texts(messages: readonly Message[]): string[] {
  return messages.map((message) => typeof message.content === "string" ? message.content : "?");
}
