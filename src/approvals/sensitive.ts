/**
 * Which files a change must be asked about whatever the policy, and which only an explicit answer may change
 * (acp.md C7, core.md C.8). Judges one path by its text; `paths.ts` says which texts a path has.
 */

export type Sensitivity =
  /** Asked about where edits are shown as diffs (ACP), refused elsewhere. */
  | { readonly level: "deny"; readonly why: string }
  /** Asked about on every surface. */
  | { readonly level: "ask"; readonly why: string };

export interface Places {
  /** The user's home and what it really is; absolute. */
  readonly homes: readonly string[];
  /** The data home and what it really is; absolute. */
  readonly data: readonly string[];
  /** The temporary directory, both forms. */
  readonly temp: readonly string[];
  readonly foldCase: boolean;
  readonly protectInstructions: boolean;
}

const HOME_FOLDERS = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud"];
const HOME_FILES = [".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials"];
/** What runs, or says what runs, when this user logs in or uses git: a way to act without being asked later. */
const HOME_STARTUP = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".xprofile",
  ".xsessionrc",
  ".gitconfig",
  ".config/git",
  ".config/fish",
  ".config/autostart",
  ".config/environment.d",
  ".config/systemd",
  ".local/share/systemd",
  "Library/LaunchAgents",
];
const DATA_DENY = [
  ".env",
  ".anthropic_oauth.json",
  "mcp-tokens",
  "pairing",
  "auth.json",
  "config.jsonc",
  "config.yaml",
  "snapshots",
];
const SYSTEM = [
  "/etc",
  "/boot",
  "/usr/lib/systemd",
  "/private/etc",
  "/private/var",
  "/var/run/docker.sock",
  "/run/docker.sock",
];
const FOLDERS = new Set([".git", ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"]);
const FILES = new Set(
  [
    "id_rsa",
    "id_ed25519",
    "id_dsa",
    "id_ecdsa",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".envrc",
  ],
);
const KEY_FILE = /\.(?:pem|key|p12|pfx)$/;
const ENV_FILE = /^\.env(?:\..+)?$/;
const ENV_TEMPLATE = /^\.env\.(?:example|sample|template)$/;
const INSTRUCTIONS = new Set(["agents.md", "claude.md", "soul.md", ".cursorrules"]);

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}

/** One spelling for names that some filesystem takes for the same: case, invisible letters, trailing dots. */
function foldName(name: string): string {
  return name.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "").normalize("NFKC").toLowerCase()
    .replace(/::\$data$/, "").replace(/(?!^)[. ]+$/, "");
}

function nameReason(path: string, places: Places): string | null {
  const names = path.split(/[\\/]/).map(foldName);
  const base = names.at(-1) ?? "";
  const folder = names.find((name) => FOLDERS.has(name) || name === "git~1");
  if (folder) return `inside ${folder}`;
  if (ENV_FILE.test(base) && !ENV_TEMPLATE.test(base)) return "environment file";
  if (FILES.has(base) || KEY_FILE.test(base)) return "key or credential file";
  return places.protectInstructions && INSTRUCTIONS.has(base) ? "instructions for agents" : null;
}

function denyReason(given: string, places: Places): string | null {
  const fold = (text: string) => places.foldCase ? text.toLowerCase() : text;
  const path = fold(given);
  const under = (bases: readonly string[], names: readonly string[]) =>
    bases.some((base) => names.some((name) => isUnder(path, fold(`${base === "/" ? "" : base}/${name}`))));
  if (under(places.homes, [...HOME_FOLDERS, ...HOME_FILES])) return "credentials of this user";
  if (under(places.data, DATA_DENY)) return "settings or credentials of hermes";
  if (places.temp.some((folder) => isUnder(path, fold(folder)))) return null;
  return SYSTEM.some((folder) => isUnder(path, folder)) ? "system configuration" : null;
}

/** `null` for an ordinary file. `path` is absolute and without `.` or `..`. */
export function judgePath(path: string, places: Places): Sensitivity | null {
  const denied = denyReason(path, places);
  if (denied) return { level: "deny", why: denied };
  const name = nameReason(path, places);
  if (name) return { level: "ask", why: name };
  const fold = (text: string) => places.foldCase ? text.toLowerCase() : text;
  const isStartup = places.homes.some((home) =>
    HOME_STARTUP.some((entry) => isUnder(fold(path), fold(`${home === "/" ? "" : home}/${entry}`)))
  );
  if (isStartup) return { level: "ask", why: "runs when this user logs in, or is read by git" };
  const inData = places.data.some((folder) => isUnder(fold(path), fold(folder)));
  return inData ? { level: "ask", why: "inside the data folder of hermes" } : null;
}
