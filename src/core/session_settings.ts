/**
 * What a session has chosen (model, mode, effort, …) and where it works: in force at once, and taken back where it
 * cannot be stored, so that memory and row never tell two stories.
 */
import type { SessionConfig, SessionPatch } from "./ports.ts";
import type { CoreServices } from "./services.ts";

export interface SettingsOwner {
  readonly id: string;
  readonly services: Pick<CoreServices, "log">;
  readonly record: { update(patch: SessionPatch): Promise<void> };
}

export interface Place {
  readonly cwd: string;
  readonly additional: readonly string[];
}

/** `undefined` takes a setting out. */
export type ConfigChanges = { readonly [K in keyof SessionConfig]?: SessionConfig[K] | undefined };

export class SessionSettings {
  readonly #owner: SettingsOwner;
  config: SessionConfig;
  /** As it was last kept, as far as `change` changes it: what a refused change goes back to. */
  #kept: SessionConfig;
  #place: Place;
  #keptPlace: Place;

  constructor(owner: SettingsOwner, config: SessionConfig, place: Place) {
    this.#owner = owner;
    this.config = this.#kept = config;
    this.#place = this.#keptPlace = place;
  }

  get place(): Place {
    return this.#place;
  }

  /** What cannot be stored is taken back, unless it was changed again meanwhile. */
  async change(changes: ConfigChanges, patch: SessionPatch = {}): Promise<void> {
    const config = this.config = withChanges(this.config, changes);
    try {
      await this.#owner.record.update({ ...patch, config });
      this.#kept = withChanges(this.#kept, changes);
    } catch (error) {
      await this.#takeBack(changes, config);
      throw error;
    }
  }

  async move(cwd: string, additional: readonly string[] = this.#place.additional): Promise<void> {
    const place = this.#place = { cwd, additional: [...additional] };
    try {
      await this.change({ additionalDirectories: place.additional }, { cwd });
      this.#keptPlace = place;
    } catch (error) {
      if (this.#place === place) this.#place = this.#keptPlace;
      throw error;
    }
  }

  async #takeBack(changes: ConfigChanges, written: SessionConfig): Promise<void> {
    const hasOthers = this.config !== written;
    const mine = (Object.keys(changes) as (keyof SessionConfig)[])
      .filter((key) => this.config[key] === changes[key]);
    this.config = withChanges(this.config, Object.fromEntries(mine.map((key) => [key, this.#kept[key]])));
    if (!hasOthers) return;
    const { record, services, id } = this.#owner;
    try {
      // A change beside it has been written with all that was in force then.
      await record.update({ config: this.config });
    } catch (error) {
      services.log.warn(`Settings of session ${id} are not stored as they are: ${String(error)}`);
    }
  }
}

function withChanges(config: SessionConfig, changes: ConfigChanges): SessionConfig {
  const all = Object.entries({ ...config, ...changes });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
