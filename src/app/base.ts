/** The start of a door that must answer at once: the foundation now, the rest behind the first answer. */
import type { Platform } from "@/platform/mod.ts";
import { createBase } from "./foundation.ts";
import type { Hermes, HermesBase, HermesOptions, HermesStart } from "./mod.ts";

/** Starts light; `load()` brings the whole program. */
export function startHermes(platform: Platform, options: HermesOptions): HermesStart {
  const base = createBase(platform, options);
  let loading: Promise<Hermes> | null = null;
  return {
    ...base,
    load: () => {
      loading ??= loadRest(base, options);
      return loading;
    },
  };
}

/** Settings of an older install are taken over once, before anything reads them for good (core.md D7). */
async function loadRest(base: HermesBase, options: HermesOptions): Promise<Hermes> {
  const [{ completeHermes }] = await Promise.all([import("./build.ts"), base.config.importLegacy()]);
  return completeHermes(base, options);
}
