/** What a live session is made from: a new one, one from the store, or a child's. */
import type { ChildLink } from "./delegation.ts";
import type { Message, Usage } from "./messages.ts";
import type { EditPolicy, FileAccess, SessionConfig } from "./ports.ts";

export interface SessionSeed {
  readonly id: string;
  readonly headId: string;
  readonly source: string;
  readonly surface: string;
  readonly stored: boolean;
  readonly createdAt: number;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly config: SessionConfig;
  readonly title: string | null;
  readonly parentId: string | null;
  readonly sessionKey: string | null;
  readonly systemPrompt: string | null;
  readonly editPolicy: EditPolicy;
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly calls: number;
  readonly files: FileAccess;
  /** Absent: nobody's child. */
  readonly child?: ChildLink;
}
