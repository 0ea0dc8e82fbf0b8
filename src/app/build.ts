/** The whole record at once, for tests and for whoever has no first answer to hurry for. */
import type { Platform } from "@/platform/mod.ts";
import { createBase } from "./foundation.ts";
import type { Hermes, HermesOptions } from "./mod.ts";
import { openHermes } from "./open.ts";
import { createRooms } from "./rooms.ts";

/** Builds the program for one surface; throws nothing: what is missing shows when it is used. */
export function buildHermes(platform: Platform, options: HermesOptions): Hermes {
  return openHermes(createBase(platform, options), options, createRooms);
}
