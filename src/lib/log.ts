/**
 * Log lines on stderr (acp.md C1): `YYYY-MM-DD HH:MM:SS [LEVEL] name: message`, local time, always one line each,
 * never a secret. Knows neither files nor levels of the configuration.
 */

export type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR";

/** Longer messages are cut: a log line is for reading. */
const MAX_MESSAGE = 4000;
const RANK: Readonly<Record<LogLevel, number>> = { DEBUG: 0, INFO: 1, WARNING: 2, ERROR: 3 };

export interface LogOptions {
  /** Takes one line without its end; must not throw. */
  write(line: string): void;
  redact(text: string): string;
  /** Least level that is written. */
  level: LogLevel;
  /** Least level that goes to `write`, where that is to have less than `keep`. */
  shown?: LogLevel;
  name: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** `json`: one object per line, for programs that collect logs. */
  format?: "text" | "json";
  /** Takes the same lines as text, whatever the format, for a file; must not throw. */
  keep?(level: LogLevel, line: string): void;
}

export interface LineLogger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

function stamp(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Line breaks, control characters and what turns a line around become blanks: no message can forge a line. */
function oneLine(text: string): string {
  // deno-lint-ignore no-control-regex
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, " ").trim();
  return flat.length > MAX_MESSAGE ? `${flat.slice(0, MAX_MESSAGE)}…` : flat;
}

export interface JsonLine {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly name: string;
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** One line of `--log-format json`; whoever writes it has taken out the secrets. */
export function jsonLine({ time, level, name, message, fields }: JsonLine): string {
  return JSON.stringify({ time: new Date(time).toISOString(), level, logger: name, message, ...fields });
}

export function createLogger(options: LogOptions): LineLogger {
  const log = (level: LogLevel) => (message: string): void => {
    if (RANK[level] < RANK[options.level]) return;
    const text = oneLine(options.redact(message));
    const time = options.now();
    const line = `${stamp(time)} [${level}] ${options.name}: ${text}`;
    if (RANK[level] >= RANK[options.shown ?? options.level]) {
      options.write(
        options.format === "json" ? jsonLine({ time, level, name: options.name, message: text }) : line,
      );
    }
    options.keep?.(level, line);
  };
  return { debug: log("DEBUG"), info: log("INFO"), warn: log("WARNING"), error: log("ERROR") };
}
