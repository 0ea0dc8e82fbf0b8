/**
 * The `.env` file as text in and text out (core.md E.3): `export`, BOM and quotes are read, comments and order are
 * kept on write, names that change how programs load are refused. Reads and writes no file itself.
 */
import { HermesError } from "@/core/contract.ts";
import { isSecretEnv } from "./secrets.ts";

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;
const REFUSED = new Set([
  "PATH",
  "HOME",
  "USER",
  "SHELL",
  "EDITOR",
  "VISUAL",
  "PAGER",
  "BROWSER",
  "IFS",
  "ENV",
  "BASH_ENV",
  "PROMPT_COMMAND",
  "ZDOTDIR",
  "TMPDIR",
  "NODE_OPTIONS",
  "NODE_PATH",
  "DENO_DIR",
  "RUBYOPT",
  "RUBYLIB",
  "PERL5LIB",
  "PERL5OPT",
  "JAVA_TOOL_OPTIONS",
  "CLASSPATH",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "HERMES_HOME",
  "HERMES_PROFILE",
  "HERMES_CONFIG",
  "HERMES_ENV",
]);
const REFUSED_PREFIX =
  /^(?:LD_|DYLD_|PYTHON|GIT_(?:SSH|EXEC|CONFIG|ASKPASS|EDITOR|PAGER|PROXY|EXTERNAL|DIR|WORK)|BASH_FUNC_)/;

function unquote(raw: string): string {
  const text = raw.trim();
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  if (double) {
    return (double[1] as string).replace(
      /\\(.)/g,
      (_, char: string) => ({ n: "\n", t: "\t", r: "\r" })[char] ?? char,
    );
  }
  const single = /^'([^']*)'/.exec(text);
  if (single) return single[1] as string;
  return text.replace(/(?:^|\s+)#.*$/, "");
}

/** Names and values in order; a later line wins. Lines that are not `NAME=value` are passed over. */
export function parseEnv(text: string): Map<string, string> {
  const values = new Map<string, string>();
  if (text === "") return values;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const found = LINE.exec(line);
    if (found) values.set(found[1] as string, unquote(found[2] as string));
  }
  return values;
}

/** Throws `invalid_argument` for names that no `.env` may hold. */
export function checkEnvName(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new HermesError(
      "invalid_argument",
      `Cannot store ${JSON.stringify(name)}: not an environment name`,
    );
  }
  const upper = name.toUpperCase();
  if (REFUSED.has(upper) || REFUSED_PREFIX.test(upper)) {
    throw new HermesError(
      "invalid_argument",
      `Cannot store ${name} in .env: it changes how programs are found or loaded. Export it in the shell instead`,
    );
  }
}

/** Control characters never reach the file; a credential is plain ASCII, so paste accidents are dropped too. */
export function cleanEnvValue(name: string, value: string): string {
  // deno-lint-ignore no-control-regex
  const single = value.replace(/[\r\n\u0000]/g, "");
  if (!isSecretEnv(name)) return single;
  return single.replace(/[^\x20-\x7e]/g, "").trim();
}

function quote(value: string): string {
  if (/^[A-Za-z0-9_.:/@%+,=~-]*$/.test(value)) return value;
  return value.includes("'") ? `"${value.replace(/(["\\$`])/g, "\\$1")}"` : `'${value}'`;
}

/**
 * The file with `name` set: the last line of that name is changed in place, other lines of it go, all else stays.
 * An empty value takes the name out.
 */
export function setEnvLine(text: string, name: string, value: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const owns = (line: string) => LINE.exec(line.replace(/^\uFEFF/, ""))?.[1] === name;
  const last = lines.findLastIndex(owns);
  const fresh = value === "" ? [] : [`${name}=${quote(value)}`];
  const kept = lines.flatMap((line, at) => at === last ? fresh : owns(line) ? [] : [line]);
  if (last === -1) kept.push(...fresh);
  return kept.length === 0 ? "" : kept.join(eol) + eol;
}
