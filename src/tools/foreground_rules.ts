/** Commands that never end, or that would outlive their call, are refused in the foreground (core.md B.3). */
import { maskQuoted, nameOf, simpleCommands } from "./shell_words.ts";

const HARMLESS = new Set(["--help", "-h", "--version", "-v"]);
const RUNNERS = new Set(["npm", "pnpm", "yarn", "bun"]);
const SCRIPTS = new Set(["dev", "start", "serve", "watch"]);
const DETACHERS = new Set(["nohup", "disown", "setsid"]);

const ADVICE = "Start it with background=true and look after it with the process tool";

function isServer(words: readonly string[]): boolean {
  const [first, second, third] = [nameOf(words[0]), words[1] ?? "", words[2] ?? ""];
  if (RUNNERS.has(first)) {
    return SCRIPTS.has(second) || ((second === "run" || second === "run-script") && SCRIPTS.has(third));
  }
  if (first === "docker-compose") return second === "up" && !isDetached(words);
  if (first === "docker") return second === "compose" && words.includes("up") && !isDetached(words);
  if (first === "next") return second === "dev";
  if (first === "vite") {
    return second === "" || second.startsWith("-") || ["dev", "serve", "preview"].includes(second);
  }
  if (/^python[\d.]*$/.test(first)) {
    const module = words[words.indexOf("-m") + 1];
    return words.includes("-m") && ["http.server", "uvicorn", "gunicorn"].includes(module ?? "");
  }
  return first === "nodemon" || first === "uvicorn" || first === "gunicorn";
}

function isDetached(words: readonly string[]): boolean {
  return words.includes("-d") || words.includes("--detach");
}

/** Why the command is refused in the foreground, with what to do instead; `null` when it may run. */
export function refuseInForeground(command: string): string | null {
  const masked = maskQuoted(command);
  if (/(?<![&>|<])&\s*$/.test(masked)) {
    return `A command that ends with '&' would go on in the background unseen. ${ADVICE}, without the '&'`;
  }
  for (const words of simpleCommands(masked)) {
    const name = nameOf(words[0]);
    if (DETACHERS.has(name)) {
      return `'${name}' detaches a process from this session. ${ADVICE}, without '${name}'`;
    }
    if (isServer(words) && !words.some((word) => HARMLESS.has(word))) {
      return `'${words.slice(0, 3).join(" ")}' starts a server that does not end by itself. ${ADVICE}`;
    }
  }
  return null;
}

/** Commands that print the environment: their output is redacted in full (core.md C.9). */
export function dumpsEnvironment(command: string): boolean {
  const masked = maskQuoted(command).replace(/\d*>&\d+|&>\s*\S+|\d*[<>]{1,2}\s*\S+/g, " ");
  if (/\/environ\b/.test(command)) return true;
  // `env` in front of a command is a wrapper: the words are looked at as written.
  return masked.split(/\|\||&&|[;\n|(){}&]/).some((part) => {
    const words = part.trim().split(/\s+/).filter((word) => word !== "");
    while (/^\w+=/.test(words[0] ?? "") || words[0] === "sudo" || words[0] === "command") words.shift();
    const name = nameOf(words[0]);
    const plain = words.length === 1;
    if (name === "printenv" || name === "compgen") return true;
    if (name === "env") return words.slice(1).every((word) => word.startsWith("-") || /^\w+=/.test(word));
    if (name === "set") return plain;
    return (name === "export" || name === "declare" || name === "typeset") &&
      (plain || /^-[a-z]*[px]/.test(words[1]!) && words.length === 2);
  });
}
