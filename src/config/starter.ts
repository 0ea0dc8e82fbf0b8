/** The first `config.jsonc` of a home: short, commented, nothing switched on that is not the default anyway. */

/** The schema lies beside the file, so editors need no network. */
export const SCHEMA_LINK = "./config.schema.json";

export function starterText(): string {
  return `{
  // Settings of hermes. Comments and trailing commas are fine here, and every write keeps them.
  // All keys with their meaning: hermes config schema. One value: hermes config get|set <key>.
  "$schema": "${SCHEMA_LINK}",

  // The model of new sessions, e.g. "openrouter:anthropic/claude-sonnet-4.6", or "builtin:demo" to look around.
  // Keys belong into .env beside this file: hermes config set OPENROUTER_API_KEY <key>
  // "model": { "default": "", "provider": "auto" },

  // manual asks before dangerous commands, smart lets a model look first, off asks nothing.
  // "approvals": { "mode": "manual", "timeout": 300 },
}
`;
}

/** A file that holds only what is about to be written. */
export function bareText(): string {
  return `{\n  "$schema": "${SCHEMA_LINK}"\n}\n`;
}

/** The file made from an existing install's YAML. */
export function importedText(values: Record<string, unknown>): string {
  const body = JSON.stringify({ $schema: SCHEMA_LINK, ...values }, null, 2);
  return body.replace("{\n", "{\n  // Imported from config.yaml, which is not read any more.\n") + "\n";
}
