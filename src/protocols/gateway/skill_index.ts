/**
 * Names of the skills by category, as `session.info` shows them (tui-gateway.md B.0). Read once behind the first
 * session and again with `skills.reload`: an info frame never waits for a folder.
 */
import type { Hermes } from "@/app/mod.ts";

export type SkillNames = Readonly<Record<string, readonly string[]>>;

/** For skills that lie in no folder. */
const TOP = "general";

export class SkillIndex {
  readonly #hermes: Hermes;
  #names: SkillNames = {};
  #loading: Promise<void> | null = null;

  constructor(hermes: Hermes) {
    this.#hermes = hermes;
  }

  /** What was read last; empty until then. */
  get names(): SkillNames {
    return this.#names;
  }

  /** Reads them unless that was done. Never rejects. */
  load(): Promise<void> {
    return this.#loading ??= this.reload().then(() => undefined);
  }

  /** Reads them anew; true when they are others now. What cannot be read has none. */
  async reload(): Promise<boolean> {
    const hermes = this.#hermes;
    const names: Record<string, string[]> = {};
    try {
      await hermes.ready();
      for (const skill of await hermes.skills.list({ settings: hermes.settings(), tools: hermes.tools })) {
        (names[skill.category || TOP] ??= []).push(skill.name);
      }
    } catch (error) {
      hermes.log.debug(`skills for session.info: ${error instanceof Error ? error.message : String(error)}`);
    }
    const changed = JSON.stringify(names) !== JSON.stringify(this.#names);
    this.#names = names;
    return changed;
  }
}
