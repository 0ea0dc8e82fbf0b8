/** The start of a door that must answer at once: the foundation now, the rest behind the first answer. */
import type { Platform } from "@/platform/mod.ts";
import { createBase } from "./foundation.ts";
import type { Hermes, HermesBase, HermesOptions, HermesStart } from "./mod.ts";

/** Starts light; `open()` brings sessions and store, `load()` the whole program. */
export function startHermes(platform: Platform, options: HermesOptions): HermesStart {
  const base = createBase(platform, options);
  let opening: Promise<Hermes> | null = null;
  const open = () => opening ??= openRest(base, options);
  return {
    ...base,
    open,
    load: async () => {
      const hermes = await open();
      await hermes.ready();
      return hermes;
    },
  };
}

/** Settings of an older install are taken over once, before anything reads them for good (core.md D7). */
async function openRest(base: HermesBase, options: HermesOptions): Promise<Hermes> {
  const [{ openHermes }] = await Promise.all([import("./open.ts"), base.config.importLegacy()]);
  return openHermes(base, options);
}
