/**
 * A browser that somebody else holds, as tools reach it: a door knows the wire to it, the tools know what to ask and
 * what to make of the answer. Neither knows the other.
 */

/** What came of one action; final, never to be tried elsewhere. */
export type BrowserOutcome =
  | { readonly ok: true; readonly result: unknown }
  | {
    readonly ok: false;
    /** For the model. */
    readonly error: string;
    /** A documented code, where there is one. */
    readonly code?: string;
    /** Written by whoever holds the browser: a stranger's words. */
    readonly fromBrowser?: true;
    /** It may have happened nevertheless. */
    readonly mayHaveRun: boolean;
  };

export interface BrowserCall {
  readonly callId: string;
  readonly signal: AbortSignal;
}

export interface BrowserDriver {
  /** Actions that are taken now; tools for others are not offered. */
  readonly actions: readonly string[];
  /** The browser runs on this machine: places that only this machine reaches are no secret to the agent. */
  readonly isLocal: boolean;
  /** Never rejects. Bounded by the driver; an abort ends it at once. */
  run(action: string, args: Readonly<Record<string, unknown>>, call: BrowserCall): Promise<BrowserOutcome>;
}
