/** Words of the user for every turn of this door (`/prompt`, tui-gateway.md B.14 `prompt`). */
import type { Hermes } from "@/app/mod.ts";

/** Empty when there are none. */
export function customPrompt(hermes: Hermes): string {
  const value = hermes.config.get("gateway.prompt");
  return typeof value === "string" ? value.trim() : "";
}
