/** Responses on disk, or in memory while the disk fails (api-server.md A1 step 3, B3). */
import type { ResponseRow, ResponseStore } from "@/core/contract.ts";
import { type Fallback, isDiskFailure } from "./fallback.ts";

export class KeptResponses implements ResponseStore {
  readonly #fallback: Fallback;

  constructor(fallback: Fallback) {
    this.#fallback = fallback;
  }

  async put(row: ResponseRow, limit: number): Promise<void> {
    const fallback = this.#fallback;
    await fallback.write("responses", (disk) => disk.responses.put(row, limit), () => Promise.resolve());
    // From the first failure on it has the newest of everything, so that names never point at what came before.
    await fallback.memory?.responses.put(row, limit);
  }

  async get(id: string): Promise<ResponseRow | null> {
    const { memory, disk } = this.#fallback;
    return await memory?.responses.get(id) ?? await disk.responses.get(id);
  }

  async delete(id: string): Promise<boolean> {
    const { memory, disk } = this.#fallback;
    const wasHere = await memory?.responses.delete(id) ?? false;
    try {
      return await disk.responses.delete(id) || wasHere;
    } catch (error) {
      // Of one that the disk has never had nothing is left.
      if (wasHere && isDiskFailure(error) && await disk.responses.get(id) === null) return true;
      throw error;
    }
  }

  findByConversation(name: string): string | null {
    const { memory, disk } = this.#fallback;
    return memory?.responses.findByConversation(name) ?? disk.responses.findByConversation(name);
  }
}
