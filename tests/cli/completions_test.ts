import { assert, assertEquals } from "../support/assert.ts";
import { bashScript, fishScript, zshScript } from "@/cli/completions.ts";
import { COMMANDS } from "@/cli/mod.ts";

Deno.test("completion scripts name every command", () => {
  for (const script of [bashScript(), zshScript(), fishScript()]) {
    for (const { name } of COMMANDS) assert(script.includes(name), name);
  }
});

async function shell(name: string): Promise<boolean> {
  try {
    return (await new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

async function runShell(
  command: string,
  args: string[],
  input: string,
): Promise<{ code: number; out: string }> {
  const child = new Deno.Command(command, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  return { code, out: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test({
  name: "bashScript() completes commands, options and subcommands",
  ignore: !await shell("bash"),
  fn: async () => {
    const ask = (words: string[]) => `
COMP_WORDS=(${words.map((w) => `'${w}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _hermes
echo "\${COMPREPLY[*]}"`;
    const script = bashScript() + ask(["hermes", "sess"]) + ask(["hermes", "run", "--js"]) +
      ask(["hermes", "sessions", "ex"]);
    assertEquals(await runShell("bash", [], script), { code: 0, out: "sessions\n--json\nexport\n" });
  },
});

for (const [name, script] of [["zsh", zshScript], ["fish", fishScript]] as const) {
  Deno.test({
    name: `${name}Script() parses`,
    ignore: !await shell(name),
    fn: async () => assertEquals(await runShell(name, ["-n"], script()), { code: 0, out: "" }),
  });
}
