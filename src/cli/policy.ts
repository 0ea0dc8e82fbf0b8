/** `hermes policy list|explain`: the rules of the configuration, and which of them decides on a call. Runs nothing. */
import type { Hermes } from "@/app/mod.ts";
import { ruleName, ruleText } from "@/approvals/mod.ts";
import type { EditProposal, GuardContext, PolicyRule, Verdict } from "@/core/contract.ts";
import { isYes } from "@/lib/yes.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { resolveCwd, tellWarnings, withHermes } from "./hermes_session.ts";
import { POLICY } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

const SUBCOMMANDS: Readonly<Record<string, (context: Context) => Promise<number>>> = { list, explain };
const SURFACES: Readonly<Record<string, string>> = { gateway: "tui", serve: "api_server" };
const EFFECT = { allow: "allow", ask: "ask", block: "deny" } as const;
const BUILT_IN = "built-in rules";

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parse(args);
  const [name = "list", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) throw new UsageError(`unknown subcommand "${name}"; there are: list, explain`);
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(platform, { surface: "cli" }, (hermes) => {
        tellWarnings(hermes, terminal);
        return subcommand({ hermes, terminal, parsed, words });
      }),
  );
}

/** A command that was written without quotes looks like options of ours. */
function parse(args: readonly string[]): ParsedArgs {
  try {
    return parseCommandLine(POLICY, args);
  } catch (error) {
    const [name, first] = args;
    if (!(error instanceof UsageError) || name !== "explain" || !first || first.startsWith("-")) throw error;
    throw new UsageError(`${error.message}; a command stands in quotes: hermes policy explain "${first} …"`);
  }
}

function rulesOf(hermes: Hermes): readonly PolicyRule[] {
  return hermes.settings().policy?.rules ?? [];
}

function isOver(rule: PolicyRule, now: number): boolean {
  return typeof rule.scope !== "string" && now >= Date.parse(rule.scope.until);
}

function list({ hermes, terminal, parsed }: Context): Promise<number> {
  const rules = rulesOf(hermes);
  const now = hermes.platform.clock.now();
  if (parsed.has("json")) {
    const shown = rules.map((rule) => ({ ...rule, in_force: !isOver(rule, now) }));
    terminal.line(JSON.stringify({ rules: shown }, null, 2));
  } else if (rules.length === 0) {
    terminal.note(`no rules; they stand under policy.rules in ${hermes.config.path}`);
  }
  if (parsed.has("json")) return Promise.resolve(0);
  for (const rule of rules) {
    const reason = rule.reason === undefined ? "" : `  # ${rule.reason}`;
    terminal.line(
      `${String(rule.number).padStart(3)}  ${ruleText(rule)}${isOver(rule, now) ? "  (over)" : ""}${reason}`,
    );
  }
  return Promise.resolve(0);
}

/** One call to be judged; the same one against other rules. */
type Judge = (rules: readonly PolicyRule[]) => Promise<Verdict>;

function reasonOf(verdict: Verdict): string {
  if (verdict.type === "block") return verdict.reason;
  if (verdict.type === "allow") return verdict.note ?? BUILT_IN;
  return "description" in verdict.payload ? verdict.payload.description : BUILT_IN;
}

/** The entry of a list in the config that gave the reason; `null` where no such list did. */
function settingOf(reason: string): { readonly key: string; readonly entry: string } | null {
  if (reason === "command_allowlist") return { key: reason, entry: "the command itself" };
  const [, denied, allowed] = /^(?:approvals\.deny: (.+)|allowed before: (.+))$/s.exec(reason) ?? [];
  if (denied !== undefined) return { key: "approvals.deny", entry: denied };
  // Nobody has answered anything here: it can only have been kept for good.
  return allowed === undefined ? null : { key: "command_allowlist", entry: allowed };
}

function deciderOf(reason: string, configPath: string): string {
  const setting = settingOf(reason);
  if (setting) return `${setting.key}: ${setting.entry}  (${configPath})`;
  return reason === BUILT_IN ? reason : `${BUILT_IN}: ${reason}`;
}

async function contextOf({ hermes, parsed }: Context): Promise<GuardContext> {
  const cwd = await resolveCwd(hermes.platform, parsed.value("cwd"));
  const surface = parsed.value("surface") ?? "cli";
  return {
    scope: "policy",
    sessionId: "",
    cwd,
    roots: [cwd],
    editPolicy: surface === "acp" ? "ask" : null,
    yolo: false,
    canAsk: true,
    settings: hermes.settings(),
    surface: SURFACES[surface] ?? surface,
  };
}

function proposalOf(toolName: string, path: string): EditProposal {
  const edits = [{ path, oldText: null, newText: "" }];
  return { toolName, path, oldText: null, newText: "", arguments: {}, paths: [path], edits };
}

async function judgeOf(context: Context): Promise<{ shown: string; judge: Judge }> {
  const { hermes, parsed, words } = context;
  const base = await contextOf(context);
  const { guard } = hermes;
  const command = words.join(" ");
  const path = parsed.value("path");
  const mcpServer = parsed.value("mcp-server") ?? null;
  const tool = parsed.value("tool") ?? (path === undefined ? "terminal" : "write_file");
  const under = (rules: readonly PolicyRule[]): GuardContext => ({
    ...base,
    toolName: tool,
    settings: { ...base.settings, policy: { rules } },
  });
  if (command !== "") {
    if (path !== undefined) throw new UsageError("policy explain takes a command or --path, not both");
    return {
      shown: command,
      judge: (rules) => Promise.resolve(guard.reviewCommand(command, under(rules))),
    };
  }
  if (path === undefined && parsed.value("tool") === undefined && mcpServer === null) {
    throw new UsageError('policy explain needs a call: "<command>", --path <file>, --tool or --mcp-server');
  }
  const edits = hermes.tools.find(({ name }) => name === tool)?.propose !== undefined;
  if (path !== undefined && edits) {
    return {
      shown: `${tool} ${path}`,
      judge: (rules) => guard.reviewEdit(proposalOf(tool, path), under(rules)),
    };
  }
  const paths = path === undefined ? [] : [path.startsWith("/") ? path : `${base.cwd}/${path}`];
  const call = { tool, mcpServer, title: tool, paths };
  return {
    shown: [mcpServer, tool, path].filter((part) => part).join(" "),
    judge: (rules) => Promise.resolve(guard.reviewCall?.(call, under(rules)) ?? { type: "allow" }),
  };
}

async function explain(context: Context): Promise<number> {
  const { hermes, terminal, parsed } = context;
  const { shown, judge } = await judgeOf(context);
  const rules = rulesOf(hermes);
  const verdict = await judge(rules);
  const reason = reasonOf(verdict);
  const matching: PolicyRule[] = [];
  for (const rule of rules) if (reasonOf(await judge([rule])).includes(ruleName(rule))) matching.push(rule);
  const deciding = matching.find((rule) => reason.includes(ruleName(rule))) ?? null;
  const effect = EFFECT[verdict.type];
  const isAsked = effect === "ask" && isYes(hermes.config.env("HERMES_EXEC_ASK"));
  if (parsed.has("json")) {
    const key = deciding ? "policy.rules" : settingOf(reason)?.key ?? null;
    const facts = { call: shown, effect, decided_by: deciding?.number ?? null, config_key: key, reason };
    const asks = isAsked ? { exec_ask: true } : {};
    terminal.line(
      JSON.stringify({ ...facts, ...asks, matching: matching.map(({ number }) => number) }, null, 2),
    );
    return 0;
  }
  terminal.line(`${terminal.paint.bold(effect)}  ${shown}`);
  terminal.line(`  decided by: ${deciding ? reason : deciderOf(reason, hermes.config.path)}`);
  for (const rule of matching) {
    if (rule === deciding) continue;
    const why = deciding === null
      ? settingOf(reason) ? `${settingOf(reason)!.key} is stricter` : "the built-in rules are stricter"
      : deciding.effect === "deny"
      ? "a deny wins"
      : "an earlier rule decides";
    terminal.line(`  also matches: ${ruleName(rule)}; ${why}`);
  }
  if (isAsked) terminal.line("  HERMES_EXEC_ASK is set: yolo and smart mode do not answer this question");
  if (effect === "ask") terminal.line("  where nobody can be asked: it is not done");
  return 0;
}
