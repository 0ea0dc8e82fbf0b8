/**
 * `hermes doctor`: what is in place and what is not, each finding with what to do about it. Reads only; makes no
 * files, and no network call beyond this machine unless `--online`. Exit 1 when something is broken.
 */
import { dirname } from "node:path";
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import { hermesOptions, withHermes } from "./hermes_session.ts";
import { chosenBy } from "./model.ts";
import { DOCTOR } from "./specs.ts";
import { withTerminal } from "./terminal.ts";
import { withoutControls, wrap } from "./text_layout.ts";

export interface Finding {
  /** Stable name, for `--json`. */
  readonly check: string;
  /** `warn` and `info` do not fail the doctor. */
  readonly status: "ok" | "info" | "warn" | "fail";
  readonly message: string;
  /** What to do. */
  readonly advice?: string;
}

type Check = (hermes: Hermes, online: boolean) => Promise<readonly Finding[]> | readonly Finding[];

const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ["config", checkConfig],
  ["permissions", checkPermissions],
  ["database", checkStore],
  ["model", checkModel],
  ["keys", checkKeys],
  ["local models", checkLocalServers],
  ["programs", checkPrograms],
];

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(DOCTOR, args);
  if (parsed.positionals.length > 0) throw new UsageError("doctor takes options only");
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(platform, hermesOptions(parsed), async (hermes) => {
        const checks = parsed.has("acp") ? [...CHECKS, ["acp", checkEditors] as const] : CHECKS;
        const results = await Promise.all(
          checks.map(([name, check]) => guarded(name, check, hermes, parsed.has("online"))),
        );
        const findings = results.flat();
        const isBroken = findings.some((finding) => finding.status === "fail");
        if (parsed.has("json")) {
          terminal.line(JSON.stringify({ version: hermes.version, ok: !isBroken, findings }, null, 2));
        } else {
          const { paint } = terminal;
          const marks = {
            ok: paint.green("✓"),
            info: paint.dim("·"),
            warn: paint.yellow("!"),
            fail: paint.red("✗"),
          };
          for (const { status, check, message, advice } of findings) {
            const width = terminal.columns - 16;
            const lines = wrap(withoutControls(message), width);
            lines.forEach((line, i) => {
              terminal.line(i === 0 ? `${marks[status]} ${check.padEnd(13)} ${line}` : " ".repeat(16) + line);
            });
            for (const line of advice ? wrap(`→ ${advice}`, width) : []) {
              terminal.line(" ".repeat(16) + paint.dim(line));
            }
          }
        }
        return isBroken ? EXIT.failed : EXIT.done;
      }),
  );
}

async function checkEditors(hermes: Hermes): Promise<readonly Finding[]> {
  const { checkAcp } = await import("./doctor_acp.ts");
  return await checkAcp(hermes);
}

/** A check that itself breaks is a finding, not the end of the doctor. */
async function guarded(
  name: string,
  check: Check,
  hermes: Hermes,
  online: boolean,
): Promise<readonly Finding[]> {
  try {
    return await check(hermes, online);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ check: name, status: "fail", message }];
  }
}

async function checkConfig(hermes: Hermes): Promise<readonly Finding[]> {
  const { config } = hermes;
  const warnings = config.warnings();
  if (warnings.length > 0) {
    return warnings.map((message) => ({
      check: "config",
      status: "fail",
      message,
      // A file that cannot be read is named by the message, and need not be this one.
      advice: message.includes(" cannot be read")
        ? "mend that file"
        : `mend ${config.path} (hermes config schema describes it)`,
    }));
  }
  if (config.ignoredBy !== null) {
    return [{
      check: "config",
      status: "warn",
      message: `${config.path} is not read: ${config.ignoredBy} is set`,
    }];
  }
  const exists = await hermes.platform.files.stat(config.path) !== null;
  const message = exists ? config.path : `${config.path} does not exist yet; the defaults are in force`;
  return [{ check: "config", status: exists ? "ok" : "info", message }];
}

async function checkPermissions(hermes: Hermes): Promise<readonly Finding[]> {
  const { platform, config } = hermes;
  const home = await platform.files.stat(config.home);
  if (!home) return [await missingHome(hermes)];
  if (!home.isDirectory) {
    return [{
      check: "home",
      status: "fail",
      message: `${config.home} is not a directory`,
      advice: "set HERMES_HOME",
    }];
  }
  if (platform.os === "windows") return [{ check: "home", status: "ok", message: config.home }];
  const findings: Finding[] = [];
  const authPath = `${config.home}/auth.json`;
  for (const path of [config.envPath, authPath, config.path, `${config.home}/hermes.db`]) {
    const stat = await platform.files.stat(path);
    if (stat && (stat.mode & 0o077) !== 0) {
      findings.push({
        check: "permissions",
        status: path === config.envPath || path === authPath ? "fail" : "warn",
        message: `other users can read ${path}`,
        advice: `chmod 600 ${path}`,
      });
    }
  }
  if ((home.mode & 0o222) === 0) {
    findings.unshift({
      check: "home",
      status: "fail",
      message: `${config.home} cannot be written`,
      advice: `chmod 700 ${config.home}, or set HERMES_HOME`,
    });
    return findings;
  }
  const isOpen = (home.mode & 0o077) !== 0;
  findings.unshift({
    check: "home",
    status: isOpen ? "warn" : "ok",
    message: isOpen ? `other users can look into ${config.home}` : config.home,
    ...(isOpen ? { advice: `chmod 700 ${config.home}` } : {}),
  });
  return findings;
}

/** A folder that is made later needs a folder to be made in. */
async function missingHome({ platform, config }: Hermes): Promise<Finding> {
  let above = dirname(config.home);
  let stat = await platform.files.stat(above).catch(() => null);
  while (!stat && dirname(above) !== above) {
    above = dirname(above);
    stat = await platform.files.stat(above).catch(() => null);
  }
  const canBeMade = stat?.isDirectory && (platform.os === "windows" || (stat.mode & 0o222) !== 0);
  if (canBeMade) return { check: "home", status: "info", message: `${config.home} is made at first use` };
  return {
    check: "home",
    status: "fail",
    message: `${config.home} cannot be made: ${above} takes no folders`,
    advice: "set HERMES_HOME to a folder that can be written",
  };
}

async function checkStore(hermes: Hermes): Promise<readonly Finding[]> {
  const path = `${hermes.config.home}/hermes.db`;
  if (await hermes.platform.files.stat(path) === null) {
    return [{ check: "database", status: "info", message: `${path} is made at first use` }];
  }
  const state = hermes.store().check();
  if (state === "ok") return [{ check: "database", status: "ok", message: `${path}, intact` }];
  const advice = `keep a copy, then: sqlite3 ${path} .recover`;
  return [{ check: "database", status: "fail", message: `${path}: ${state}`, advice }];
}

async function checkKeys(hermes: Hermes): Promise<readonly Finding[]> {
  const path = `${hermes.config.home}/auth.json`;
  if (await hermes.platform.files.stat(path) === null) return [];
  const { checkPools } = await import("./doctor_keys.ts");
  return await checkPools(hermes);
}

async function checkModel(hermes: Hermes, online: boolean): Promise<readonly Finding[]> {
  let model;
  try {
    await hermes.models.settling?.();
    model = hermes.models.resolve();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ check: "model", status: "fail", message, advice: "hermes setup" }];
  }
  const name = `${model.model} (${model.provider}), chosen by ${chosenBy(model)}`;
  const findings: Finding[] = [
    model.isDemo
      ? {
        check: "model",
        status: "warn",
        message: `${name}: the built-in demo, not an AI`,
        advice: "hermes setup",
      }
      : { check: "model", status: "ok", message: name },
  ];
  const advice = await hermes.models.addressAdvice?.(model, { online }) ?? null;
  if (advice !== null) findings.push(addressFinding(model.baseUrl, advice));
  if (!online) return findings;
  if (model.isDemo) {
    return [...findings, { check: "test call", status: "info", message: "none made: the demo calls nobody" }];
  }
  const answer = await hermes.models.probe(model);
  findings.push({
    check: "test call",
    status: answer.ok ? "ok" : "fail",
    message: answer.message,
    ...(answer.ok ? {} : { advice: "check the key, the base URL and the model name: hermes setup" }),
  });
  return findings;
}

/** The list of models is there and turns would not be: both forms of an address are asked for a list. */
function addressFinding(baseUrl: string, advice: string): Finding {
  return {
    check: "base URL",
    status: "warn",
    message: `${baseUrl} is most likely not the whole base URL: ${advice}`,
    advice: "hermes config set model.base_url …, or base_url of its entry in providers",
  };
}

async function checkLocalServers(hermes: Hermes): Promise<readonly Finding[]> {
  const servers = await hermes.models.discoverLocal();
  if (servers.length === 0) {
    return [{
      check: "local models",
      status: "info",
      message: "no Ollama, LM Studio, llama.cpp or vLLM answers here",
    }];
  }
  return servers.map((server) => ({
    check: "local models",
    status: "ok",
    message: `${server.kind} at ${server.baseUrl}, ${server.models.length} model(s)`,
  }));
}

async function checkPrograms(hermes: Hermes): Promise<readonly Finding[]> {
  const { platform } = hermes;
  const [bash, rg, git] = await Promise.all(["bash", "rg", "git"].map((name) => findProgram(platform, name)));
  const sh = bash ?? await findProgram(platform, "sh");
  return [
    sh
      ? { check: "shell", status: "ok", message: sh }
      : { check: "shell", status: "fail", message: "neither bash nor sh is on PATH", advice: "install bash" },
    rg ? { check: "ripgrep", status: "ok", message: rg } : {
      check: "ripgrep",
      status: "info",
      message: "not on PATH; searching works without, large trees are slower",
    },
    git
      ? { check: "git", status: "ok", message: git }
      : { check: "git", status: "info", message: "not on PATH; the agent cannot use it" },
  ];
}

async function findProgram(platform: Platform, name: string): Promise<string | null> {
  const isWindows = platform.os === "windows";
  for (const dir of (platform.env().PATH ?? "").split(isWindows ? ";" : ":")) {
    if (dir === "") continue;
    const path = `${dir}/${name}${isWindows ? ".exe" : ""}`;
    const stat = await platform.files.stat(path).catch(() => null);
    if (stat?.isFile && (isWindows || (stat.mode & 0o111) !== 0)) return path;
  }
  return null;
}
