/**
 * Skills that the start of the program names for every session (`HERMES_TUI_SKILLS`, tui-gateway.md I): read once per
 * session, and told to the model with each of its turns. A name that is no usable skill is reported, never guessed.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Session } from "@/core/contract.ts";

export class PreloadedSkills {
  readonly #hermes: Hermes;
  readonly #names: readonly string[];
  #text: string | null;
  #loading: Promise<readonly string[]> | null = null;

  constructor(hermes: Hermes) {
    this.#hermes = hermes;
    this.#names = namesIn(hermes.config.env("HERMES_TUI_SKILLS") ?? "");
    this.#text = this.#names.length === 0 ? "" : null;
  }

  get isLoaded(): boolean {
    return this.#text !== null;
  }

  /** What the model is told; empty as long as nothing is loaded. */
  get text(): string {
    return this.#text ?? "";
  }

  /** The names that are no usable skill; told to the first caller only. Never rejects. */
  async load(session: Session, signal: AbortSignal): Promise<readonly string[]> {
    if (this.isLoaded) return [];
    if (this.#loading) {
      await this.#loading;
      return [];
    }
    return await (this.#loading = this.#read(session, signal));
  }

  async #read(session: Session, signal: AbortSignal): Promise<readonly string[]> {
    const texts: string[] = [];
    const missing: string[] = [];
    for (const name of this.#names) {
      const text = await this.#textOf(name, session, signal);
      if (text === null) missing.push(name);
      else texts.push(text);
    }
    this.#text = texts.join("\n\n");
    return missing;
  }

  async #textOf(name: string, session: Session, signal: AbortSignal): Promise<string | null> {
    const hermes = this.#hermes;
    try {
      await hermes.ready();
      const context = { settings: hermes.settings(), sessionId: session.id, signal };
      return await hermes.skills.invocation(name, "", context);
    } catch (error) {
      hermes.log.warn(`Skill ${name}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }
}

/** By commas or lines, each name once. */
function namesIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((name) => name.trim()).filter((name) => name !== ""))];
}
