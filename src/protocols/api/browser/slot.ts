/**
 * Where the server keeps its browsers: empty, and free of cost, until the first controller is registered. Turns ask
 * it for the tools of their lane.
 */
import type { Session, SubmitOptions, Tool } from "@/core/contract.ts";
import type { ApiService } from "../service.ts";
import type { LaneName } from "./protocol.ts";
import type { BrowserControl } from "./control.ts";

export class BrowserSlot {
  #control: BrowserControl | null = null;
  #loading: Promise<BrowserControl> | null = null;

  /** What there is; `null` before the first registration. */
  get current(): BrowserControl | null {
    return this.#control;
  }

  /** Made at the first call. */
  load(make: () => Promise<BrowserControl>): Promise<BrowserControl> {
    this.#loading ??= make().then(
      (control) => this.#control = control,
      (error) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  /** Ends all connections; the server goes away. */
  close(): void {
    this.#control?.close();
  }
}

/** For the options of a turn that the caller submits: the tools of the browser that was lent to its lane. */
export function doorTools(api: ApiService, session: Session): Pick<SubmitOptions, "doorTools"> {
  const { current } = api.browsers;
  if (current === null || api.family === undefined) return {};
  const lane: LaneName = { sessionId: session.id, keyId: api.caller.keyId, family: api.family };
  const tools: readonly Tool[] = current.toolsOf(lane, session.headId);
  return tools.length === 0 ? {} : { doorTools: tools };
}
