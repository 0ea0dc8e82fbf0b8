/**
 * What sends requests, one per endpoint and key: setting one up takes a tenth of a short turn. Bounded, the oldest go
 * first; what could not be set up is tried again. Lives in memory only, since the names hold keys.
 */
import type { Platform } from "@/platform/mod.ts";
import type { Runtime } from "../runtime.ts";
import type { Send, Wire } from "./wire.ts";

const MAX = 16;

export class Senders {
  readonly #made = new Map<string, Send>();

  /** Throws when the address or a header cannot be used. */
  async of(wire: Wire, runtime: Runtime, platform: Platform): Promise<Send> {
    const { apiMode, baseUrl } = runtime.model;
    const name = JSON.stringify([apiMode, baseUrl, runtime.apiKey, runtime.headers]);
    const known = this.#made.get(name);
    if (known) return known;
    const send = await wire.createSender(runtime, platform);
    this.#made.set(name, send);
    if (this.#made.size > MAX) this.#made.delete(this.#made.keys().next().value!);
    return send;
  }
}
