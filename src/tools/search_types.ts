/** What a search is asked and what its two back ends (ripgrep and the built-in walker) find. */

export interface ContentQuery {
  readonly pattern: string;
  /** Absolute file or directory. */
  readonly root: string;
  readonly glob: string | null;
  /** Lines before and after each match. */
  readonly context: number;
}

export interface Found {
  /** Absolute. */
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
}

/** Takes what is found, in order of path and line. False = enough, stop. */
export type Sink = (found: Found) => boolean;

export interface SearchEnd {
  /** Why not everything was searched; `null` when it was. */
  readonly limitReason: "timeout" | "cancelled" | null;
  readonly warning?: string;
}

/** Files and directories of one search that a back end may not open. */
export interface SearchScope {
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Credential files are left out; each is counted. */
  isOmitted(path: string): boolean;
}
