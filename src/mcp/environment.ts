/** The environment of stdio servers (core.md G.3, C.12): an allow-list for configured ones. Pure. */

const ALLOWED = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"];
const WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** What a server of the configuration sees of our environment; its entry's own `env` is added by the caller. */
export function allowedEnvironment(
  env: Readonly<Record<string, string>>,
  os: "linux" | "darwin" | "windows",
): Record<string, string> {
  const names = new Set(os === "windows" ? [...ALLOWED, ...WINDOWS] : ALLOWED);
  const seen: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const key = os === "windows" ? name.toUpperCase() : name;
    if (names.has(key) || key.startsWith("XDG_")) seen[name] = value;
  }
  return seen;
}
