/**
 * `hermes acp`: reads its options and serves, or does the one thing an option asks for (acp.md C1). Wrong usage
 * leaves stdout empty and exits 2. Imported at once is what the `initialize` answer needs, in one go; the rest of
 * the program is loaded after that answer.
 */
import { startHermes } from "@/app/base.ts";
import type { HermesOptions } from "@/app/mod.ts";
import { VERSION } from "@/app/version.ts";
import type { Platform } from "@/platform/mod.ts";
import { openStdio, serveAcp } from "@/protocols/acp/mod.ts";
import { tellIfByHand } from "./by_hand.ts";

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  if (args.length === 0) return await serve({ surface: "acp" }, platform);
  const [{ parseCommandLine, UsageError }, { ACP }] = await Promise.all([
    import("./args.ts"),
    import("./specs.ts"),
  ]);
  const parsed = parseCommandLine(ACP, args);
  if (parsed.positionals.length > 0) {
    throw new UsageError(`hermes acp takes no arguments; got "${parsed.positionals[0]}"`);
  }
  if (parsed.has("version")) return await printVersion(platform);
  if (parsed.has("setup")) return await (await import("./setup.ts")).run([], platform);
  if (parsed.has("setup-browser")) return refuseBrowser(platform);
  const model = parsed.value("model");
  const provider = parsed.value("provider");
  const options: HermesOptions = {
    surface: "acp",
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(parsed.has("demo") ? { demo: true } : {}),
    ...(parsed.has("yolo") ? { yolo: true } : {}),
  };
  if (parsed.has("check")) return await check(options, platform);
  const { recordOption } = await import("./record_option.ts");
  return await serve({ ...options, ...await recordOption(parsed, platform) }, platform);
}

async function serve(options: HermesOptions, platform: Platform): Promise<number> {
  tellIfByHand(platform, "hermes acp", "an editor's messages (see docs/acp.md)");
  const report = (line: string) => platform.stderr(line);
  return await serveAcp(
    { start: () => startHermes(platform, options), report },
    openStdio((line) => report(`hermes acp: ${line}`)),
  );
}

async function printVersion(platform: Platform): Promise<number> {
  const { withTerminal } = await import("./terminal.ts");
  return await withTerminal(platform, (terminal) => {
    terminal.line(VERSION);
    return Promise.resolve(0);
  });
}

async function check(options: HermesOptions, platform: Platform): Promise<number> {
  const [{ withTerminal }, { buildHermes }, { checkInstallation }] = await Promise.all([
    import("./terminal.ts"),
    import("@/app/build.ts"),
    import("@/protocols/acp/self_check.ts"),
  ]);
  return await withTerminal(platform, async (terminal) => {
    const hermes = buildHermes(platform, options);
    const problems = checkInstallation(hermes);
    for (const problem of problems) terminal.note(`hermes acp: ${problem}`);
    if (problems.length === 0) terminal.line("Hermes ACP check OK");
    await hermes.shutdown("agent_close");
    return problems.length === 0 ? 0 : 1;
  });
}

function refuseBrowser(platform: Platform): number {
  platform.stderr("hermes acp: browser tooling is not included in this build");
  return 1;
}
