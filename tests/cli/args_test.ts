import { assertEquals, assertThrows } from "../support/assert.ts";
import { type CommandSpec, parseCommandLine } from "@/cli/args.ts";
import { COMMANDS } from "@/cli/mod.ts";
import { SPECS } from "@/cli/specs.ts";

const SPEC: CommandSpec = {
  usage: [""],
  about: "",
  options: [
    { name: "json", summary: "" },
    { name: "limit", short: "n", value: "<n>", summary: "" },
    { name: "mode", value: "<mode>", choices: ["a", "b"], summary: "" },
  ],
};

Deno.test("parseCommandLine() takes --flag value, --flag=value and short forms", () => {
  for (const args of [["--limit", "5"], ["--limit=5"], ["-n", "5"], ["-n5"]]) {
    assertEquals(parseCommandLine(SPEC, args).positive("limit"), 5);
  }
});

Deno.test("parseCommandLine() keeps words, a lone dash and what follows --", () => {
  const parsed = parseCommandLine(SPEC, ["a", "-", "--json", "--", "--limit"]);
  assertEquals(parsed.positionals, ["a", "-", "--limit"]);
  assertEquals(parsed.has("json"), true);
  assertEquals(parsed.value("limit"), undefined);
});

Deno.test("parseCommandLine() names the near option of an unknown one", () => {
  assertThrows(() => parseCommandLine(SPEC, ["--jsno"]), /unknown option --jsno; did you mean --json\?/);
});

Deno.test("parseCommandLine() refuses missing, superfluous and unoffered values", () => {
  assertThrows(() => parseCommandLine(SPEC, ["--limit"]), /--limit needs a value: --limit <n>/);
  assertThrows(() => parseCommandLine(SPEC, ["--json=1"]), /--json takes no value; got "1"/);
  assertThrows(() => parseCommandLine(SPEC, ["--mode", "c"]), /--mode takes a, b; got "c"/);
});

Deno.test("positive() refuses what is not a number above 0", () => {
  for (const text of ["0", "-1", "x", "", "Infinity"]) {
    assertThrows(() => parseCommandLine(SPEC, [`--limit=${text}`]).positive("limit"), /a number above 0/);
  }
});

Deno.test("every command of the table has an option table, and the other way round", () => {
  assertEquals(COMMANDS.map((command) => command.name).sort(), Object.keys(SPECS).sort());
});

Deno.test("no option table uses a name or letter twice, or the letter of --help", () => {
  for (const [name, spec] of Object.entries(SPECS)) {
    const words = spec.options.flatMap((option) => [option.name, ...(option.short ? [option.short] : [])]);
    assertEquals([name, ...new Set(words)], [name, ...words]);
    assertEquals(words.includes("h") || words.includes("help"), false);
  }
});
