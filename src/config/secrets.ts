/**
 * Which names carry secrets, how a secret is shown, and which values are configured ones (core.md C.9, E.3).
 * Promise: nothing that leaves through `maskTree` can be used as a credential.
 */

/** Shorter values would blank out ordinary words. */
const MIN_SECRET = 8;
const PLACEHOLDERS = new Set([
  "changeme",
  "placeholder",
  "example",
  "your_api_key_here",
  "your-api-key-here",
  "no-key-required",
  "password",
  "undefined",
]);
const SECRET_KEY =
  /(?:^|[_\-.])(?:api[_-]?key|key|token|secret|password|passwd|passphrase|credentials?|authorization|cookie)$/i;
const SECRET_ENV = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)$/;
const CAMEL_SECRET = /(?:apiKey|Token|Secret|Password|Credential|accessKey|privateKey)$/;
const NOT_SECRET_KEYS = new Set(["session_key", "pattern_key"]);

/** A member name, in a config file or a JSON body, that holds a credential. */
export function isSecretKey(name: string): boolean {
  return (SECRET_KEY.test(name) || CAMEL_SECRET.test(name)) && !NOT_SECRET_KEYS.has(name);
}

/** An environment name that holds a credential. */
export function isSecretEnv(name: string): boolean {
  return SECRET_ENV.test(name);
}

/** Names that `config set` sends to `.env` instead of the config file (core.md E.3). */
export function belongsInEnv(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
    (/_(?:API_KEY|TOKEN|SECRET|PASSWORD|KEY)$|^TERMINAL_SSH/i.test(name) || /^[A-Z][A-Z0-9_]*$/.test(name));
}

/** `***`, or the first six and last four characters of a value of 18 or more. */
export function maskSecret(value: string): string {
  return value.length < 18 ? "***" : `${value.slice(0, 6)}...${value.slice(-4)}`;
}

function isTemplate(value: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(value);
}

/** A deep copy for display: values of credential-like members are masked, `${VAR}` stays readable. */
export function maskTree(value: unknown, name = ""): unknown {
  if (typeof value === "string") {
    if (value !== "" && isSecretKey(name) && !isTemplate(value)) return maskSecret(value);
    return value.replace(/(:\/\/[^/\s:@]{0,256}:)[^@\s/]{1,512}@/g, "$1***@");
  }
  if (Array.isArray(value)) return value.map((item) => maskTree(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskTree(item, key)]));
}

function isPath(value: string): boolean {
  return /^(?:~\/|\/(?:home|etc|usr|var|opt|root|run|tmp|mnt|srv|Users)\/|[A-Za-z]:\\)/.test(value);
}

function addValue(into: Set<string>, text: string): void {
  const value = text.trim();
  if (value.length < MIN_SECRET || isTemplate(value) || PLACEHOLDERS.has(value.toLowerCase())) return;
  if (/^(.)\1*$/.test(value) || /^<.*>$/.test(value) || /^your[-_ ]/i.test(value)) return;
  if (!isPath(value)) into.add(value);
}

function addText(into: Set<string>, text: string, secretName: boolean): void {
  if (secretName) {
    addValue(into, text);
    const scheme = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(text.trim());
    if (scheme) addValue(into, scheme[1] as string);
  }
  const url = /:\/\/[^/\s:@]{0,256}:([^@\s/]{1,512})@/.exec(text);
  if (url) addValue(into, url[1] as string);
}

/** Adds every credential-like value of a configuration tree. */
export function collectFromTree(into: Set<string>, value: unknown, name = ""): void {
  if (typeof value === "string") addText(into, value, isSecretKey(name));
  else if (Array.isArray(value)) { for (const item of value) collectFromTree(into, item, name); }
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) collectFromTree(into, item, key);
  }
}

/** Adds every credential-like value of an environment. */
export function collectFromEnv(into: Set<string>, env: Iterable<readonly [string, string]>): void {
  for (const [name, value] of env) {
    if (isSecretEnv(name) || value.includes("://")) addText(into, value, isSecretEnv(name));
  }
}
