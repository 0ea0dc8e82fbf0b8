/**
 * No setting is only decoration (core.md E.4, E.5): each key of the schema and each environment name of the contract is
 * read somewhere, or stands below with the reason why it is accepted and changes nothing.
 */
import { listKeys } from "../../src/config/keys.ts";
import { assertEquals } from "../support/assert.ts";

const NO_LOGINS = "logins (OAuth) are not spoken yet";
const NO_JOBS = "there are no scheduled jobs";

/** Accepted, so that a file from elsewhere is no error, and without effect. */
const IGNORED_KEYS: Readonly<Record<string, string>> = {
  "model.auth_mode": NO_LOGINS,
  "agent.verify_on_stop": "the contract wants it off",
  "terminal.backend": "commands run on this machine only",
  "approvals.cron_mode": NO_JOBS,
  "approvals.unattended_mode": "what cannot be asked is always refused",
};

/** Words that also stand for other things: that they occur says nothing. */
const COMMON = new Set([
  "terminal.backend",
]);

/** core.md E.5, without provider keys and addresses (core.md F.1). */
const ENVIRONMENT = [
  ["HERMES_HOME", "HERMES_PROFILE"],
  ["HERMES_INFERENCE_MODEL", "HERMES_MODEL", "HERMES_INFERENCE_PROVIDER", "CUSTOM_BASE_URL"],
  ["API_SERVER_ENABLED", "API_SERVER_KEY", "API_SERVER_HOST", "API_SERVER_PORT", "API_SERVER_CORS_ORIGINS"],
  ["API_SERVER_ALLOWED_HOSTS", "API_SERVER_MODEL_NAME"],
  ["HERMES_ACP_SKIP_CONFIGURED_MCP", "HERMES_ACP_MANIFEST_VERSION", "HERMES_WSL"],
  ["HERMES_TUI_TOOLSETS", "HERMES_TUI_PROVIDER", "HERMES_DESKTOP", "HERMES_SESSION_SOURCE"],
  ["HERMES_YOLO_MODE", "HERMES_REDACT_SECRETS", "HERMES_ALLOW_PRIVATE_URLS", "HERMES_WRITE_SAFE_ROOT"],
  ["SUDO_PASSWORD", "HERMES_EXEC_ASK"],
  ["HERMES_EPHEMERAL_SYSTEM_PROMPT", "HERMES_PREFILL_MESSAGES_FILE", "HERMES_ENVIRONMENT_HINT"],
  ["HERMES_IGNORE_RULES", "HERMES_IGNORE_USER_CONFIG", "HERMES_SAFE_MODE"],
  ["HERMES_MAX_ITERATIONS", "HERMES_API_TIMEOUT", "HERMES_API_CALL_STALE_TIMEOUT"],
  ["HERMES_STREAM_READ_TIMEOUT", "HERMES_STREAM_STALE_TIMEOUT", "HERMES_STREAM_RETRIES"],
  ["HERMES_STREAM_STALE_GIVEUP", "HERMES_CONCURRENT_TOOL_TIMEOUT_S", "TERMINAL_TIMEOUT"],
  ["TERMINAL_MAX_FOREGROUND_TIMEOUT", "TERMINAL_CWD", "DELEGATION_MAX_CONCURRENT_CHILDREN"],
  ["HERMES_DUMP_REQUESTS", "HERMES_QUIET", "HERMES_TIMEZONE"],
].flat();

const IGNORED_ENVIRONMENT: Readonly<Record<string, string>> = {};

/** Code without its comments; where keys are declared does not count as reading them. */
async function readCode(): Promise<string> {
  const declared = ["/config/keys.ts", "/core/settings.ts"];
  const texts: string[] = [];
  const visit = async (directory: URL): Promise<void> => {
    for await (const entry of Deno.readDir(directory)) {
      const url = new URL(entry.isDirectory ? `${entry.name}/` : entry.name, directory);
      if (entry.isDirectory) await visit(url);
      else if (entry.name.endsWith(".ts") && !declared.some((end) => url.pathname.endsWith(end))) {
        texts.push(await Deno.readTextFile(url));
      }
    }
  };
  await visit(new URL("../../src/", import.meta.url));
  return texts.join("\n").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

Deno.test("core E.4: every key of the schema is read, or is listed with the reason why not", async () => {
  const code = await readCode();
  const words = new Set(code.match(/\b\w+\b/g));
  const keys = listKeys();
  const unread = keys.filter(({ key, path }) => !(key in IGNORED_KEYS) && !words.has(path.at(-1)!));
  assertEquals(unread.map(({ key }) => key), []);
  const known = new Set(keys.map(({ key }) => key));
  assertEquals(Object.keys(IGNORED_KEYS).filter((key) => !known.has(key)), [], "no such key");
  const readNow = Object.keys(IGNORED_KEYS).filter((key) =>
    !COMMON.has(key) && words.has(key.slice(key.lastIndexOf(".") + 1))
  );
  assertEquals(readNow, [], "these are read by now");
  const told = keys.filter(({ doc }) => doc.endsWith("Accepted, not used.")).map(({ key }) => key);
  assertEquals(
    told,
    keys.map(({ key }) => key).filter((key) => key in IGNORED_KEYS),
    "the schema says so, too",
  );
});

Deno.test("core E.5: every environment name of the contract is read, or is listed with the reason why not", async () => {
  const code = await readCode();
  const rows = new Set(listKeys().flatMap(({ env }) => env ?? []));
  const isRead = (name: string) => rows.has(name) || new RegExp(`["'.]${name}\\b`).test(code);
  assertEquals(ENVIRONMENT.filter((name) => !(name in IGNORED_ENVIRONMENT) && !isRead(name)), []);
  assertEquals(Object.keys(IGNORED_ENVIRONMENT).filter(isRead), [], "these are read by now");
});
