/**
 * Where files of the workspace are read and written, and where commands run, when that is not this machine's own disk
 * and shell (acp.md C8.6).
 */

/** Reading and writing of workspace files; the client's own buffers when an editor offers them. */
export interface FileAccess {
  read(path: string): Promise<Uint8Array>;
  /** `null` when absent. */
  exists(path: string): Promise<boolean>;
  /**
   * Atomic where the backend can; creates parents. With `real`, where the path must lead with its links followed:
   * fails and writes nothing when it leads elsewhere.
   */
  write(path: string, data: Uint8Array, real?: string): Promise<void>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** True where reading may not give at once, or not exactly, what was written (an editor that formats on saving). */
  reshapes?(path: string): Promise<boolean>;
  /**
   * The session's directory where it was opened without one that is there, and there is none yet: file and terminal
   * tools do not run (acp.md C4). `null` or absent: they do.
   */
  missing?(): string | null;
  /** Where foreground commands run when it is not a shell of ours (an editor's terminals); `null` or absent: ours. */
  shell?(): WorkspaceShell | null;
}

/** Runs commands where the workspace's owner wants to see them (acp.md C8.6). */
export interface WorkspaceShell {
  /**
   * Resolves when the command has ended, or was ended for the time or the signal, and what it ran in was given
   * back. Rejects with an `Error` whose text is for the model when it could not be run.
   */
  run(request: ShellRequest): Promise<ShellEnd>;
}

export interface ShellRequest {
  readonly callId: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Added to the environment that commands have there. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bytes of output that are wanted back, from its end. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export interface ShellEnd {
  readonly end: "exited" | "timeout" | "interrupted";
  /** As a shell would show it. */
  readonly code: number;
  readonly output: string;
  /** The beginning of the output is missing. */
  readonly truncated: boolean;
}
