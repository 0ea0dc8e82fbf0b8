/** `/memory` and `/skills pending`: the user's word on what the agent wants to remember (core.md B.7, B.11, H.2). */
import { HermesError, type PendingWrites } from "@/core/contract.ts";
import { type Command, type CommandDeps, text } from "./command.ts";

type Kind = "memory" | "skill";

const NAMES: Readonly<Record<Kind, string>> = { memory: "memory", skill: "skills" };

export const memory: Command = {
  name: "memory",
  aliases: [],
  description: "Decide on changes to the memory that wait, or whether they have to",
  argsHint: "[pending|approve <id>|reject <id>|approval on|off]",
  category: "Tools & Skills",
  surfaces: ["gateway", "cli"],
  needsIdle: false,
  run: async (args, _context, deps) => text(await decide("memory", args, deps)),
};

/** The words after the command; the text for the user. Throws `invalid_argument` with the usage. */
export async function decide(kind: Kind, args: string, deps: CommandDeps): Promise<string> {
  const [verb = "pending", ...rest] = args.split(/\s+/).filter(Boolean);
  const [id = ""] = rest;
  const writes = pendingOf(deps);
  if (verb === "pending" && rest.length === 0) return await listText(kind, writes);
  if (verb === "approval" && rest.length <= 1) return await approval(kind, id, deps);
  if (rest.length === 1 && id.startsWith(`${kind}-`)) {
    if (verb === "approve") return await writes.approve(id);
    if (verb === "reject" && await writes.reject(id)) return `Dropped ${id}.`;
    if (verb === "reject") throw new HermesError("invalid_argument", `There is no change "${id}" that waits`);
  }
  const name = NAMES[kind];
  const more = kind === "skill" ? "/skills [list] | /skills search|browse|inspect|install <words> | " : "";
  throw new HermesError(
    "invalid_argument",
    `Usage: ${more}/${name} pending | /${name} approve <id> | /${name} reject <id> | /${name} approval [on|off]`,
  );
}

async function listText(kind: Kind, writes: PendingWrites): Promise<string> {
  const waiting = await writes.list(kind);
  if (waiting.length === 0) return "No change waits for you.";
  const head = waiting.length === 1 ? "1 change waits for you:" : `${waiting.length} changes wait for you:`;
  return [head, ...waiting.map(({ id, summary }) => `${id}: ${summary}`)].join("\n");
}

async function approval(kind: Kind, word: string, { config }: CommandDeps): Promise<string> {
  const name = NAMES[kind];
  const section = kind === "memory" ? config.settings().memory : config.settings().skills;
  if (word === "on" || word === "off") await config.write([name, "write_approval"], word === "on");
  else if (word !== "") throw new HermesError("invalid_argument", `Usage: /${name} approval [on|off]`);
  const waits = word === "" ? section.write_approval : word === "on";
  return waits ? "Changes wait for your word." : "Changes are made at once.";
}

function pendingOf({ pending }: CommandDeps): PendingWrites {
  if (pending) return pending;
  throw new HermesError("internal", "No changes are kept waiting here");
}
