/** The one-time import of an existing install's `config.yaml` (core.md D7). The YAML file is never written. */
import { HermesError } from "@/core/contract.ts";
import { loadYaml } from "@/lib/yaml.ts";
import { isTree, type Tree } from "./tree.ts";

/** Plain JSON only: dates and the like become texts, names that are no texts too. */
function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? {}));
}

/** Parses YAML. Throws `config_invalid`. */
export async function parseLegacy(path: string, text: string): Promise<Tree> {
  const yaml = await loadYaml();
  try {
    const value = toJson(yaml.parse(text, { schema: "core", maxAliasCount: 100, logLevel: "error" }));
    if (isTree(value)) return value;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new HermesError("config_invalid", `Cannot import ${path}: ${reason}`, { path });
  }
  throw new HermesError("config_invalid", `Cannot import ${path}: it must hold a mapping`, { path });
}
