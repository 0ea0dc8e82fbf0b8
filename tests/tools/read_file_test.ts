import { textOf } from "@/core/mod.ts";
import { forgetReads } from "@/tools/mod.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { makeBench, SECRET } from "./context.ts";

function numbered(count: number): string {
  return Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");
}

Deno.test("core 32: a file of 2,500 lines comes in pages", async () => {
  await using bench = await makeBench();
  await bench.write("big.txt", numbered(2_500));
  const first = await bench.json("read_file", { path: "big.txt" });
  assertEquals([first.total_lines, first.truncated, first.truncated_by, first.next_offset], [
    2_500,
    true,
    "lines",
    501,
  ]);
  const lines = (first.content as string).split("\n");
  assertEquals([lines.length, lines[0], lines[499]], [500, "1|line 1", "500|line 500"]);
  assertMatch(first.hint, /offset=501/);
  const last = await bench.json("read_file", { path: "big.txt", offset: 2_400 });
  assertEquals([last.truncated, last.next_offset], [false, undefined]);
  assertEquals((last.content as string).split("\n").at(-1), "2500|line 2500");
  const past = await bench.json("read_file", { path: "big.txt", offset: 9_000 });
  assertMatch(past.hint, /only 2500 lines/);
});

Deno.test("core 26: a result of read_file is kept whole, and bounded by itself", async () => {
  await using bench = await makeBench();
  await bench.write("wide.txt", Array.from({ length: 300 }, () => "x".repeat(1_500)).join("\n"));
  const outcome = await bench.call("read_file", { path: "wide.txt" });
  assertEquals(outcome.keepWhole, true);
  const result = JSON.parse(textOf(outcome.content));
  assertEquals([result.truncated_by, result.content.length <= 100_000], ["bytes", true]);
  const next = await bench.json("read_file", { path: "wide.txt", offset: result.next_offset });
  assertMatch(next.content, new RegExp(`^${result.next_offset}\\|x`));
});

Deno.test("read_file cuts long lines and says so", async () => {
  await using bench = await makeBench();
  await bench.write("long.txt", `${"y".repeat(5_000)}\nshort`);
  const result = await bench.json("read_file", { path: "long.txt" });
  assertEquals(result.content, `1|${"y".repeat(2_000)}... [truncated]\n2|short`);
});

Deno.test("core 33: devices, binaries, FIFOs and credentials give an error at once", async () => {
  await using bench = await makeBench();
  await bench.write("a.bin2", new Uint8Array(2_000));
  await bench.write("pic.png", "x");
  await bench.write(".env", `KEY=${SECRET}`);
  await bench.write(".env.example", "KEY=");
  await bench.write(`${bench.home}/auth.json`, "{}");
  await bench.write(`${bench.home}/mcp-tokens/x.json`, "{}");
  await Deno.symlink("/dev/zero", `${bench.dir}/zero`);
  await Deno.symlink(".env", `${bench.dir}/harmless.txt`);
  await new Deno.Command("mkfifo", { args: [`${bench.dir}/pipe`] }).output();
  for (
    const [path, text] of [
      ["/dev/zero", /device/],
      ["zero", /device/],
      ["/dev/stdin", /device/],
      ["/dev/fd/0", /device/],
      ["/proc/self/environ", /process file/],
      ["/proc/1/fd/1", /process file/],
      ["pipe", /FIFO/],
      ["a.bin2", /binary/],
      ["pic.png", /vision_analyze/],
      [".env", /\.env\.example/],
      ["harmless.txt", /credentials/],
      [`${bench.home}/auth.json`, /credentials/],
      [`${bench.home}/mcp-tokens/x.json`, /credentials/],
      [".", /directory/],
      ["", /'path'/],
    ] as const
  ) {
    const outcome = await bench.call("read_file", { path });
    assertEquals(outcome.isError, true, path);
    const result = JSON.parse(textOf(outcome.content));
    assertMatch(result.error, text);
    assertEquals(result.content, undefined);
  }
  assertEquals((await bench.json("read_file", { path: ".env.example" })).content, "1|KEY=");
});

Deno.test("core 34: the same read again is answered without content, then refused", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "one\n");
  const read = () => bench.json("read_file", { path: "a.txt" });
  assertEquals((await read()).content, "1|one");
  const second = await read();
  assertEquals([second.status, second.dedup, second.content_returned, second.content], [
    "unchanged",
    true,
    false,
    undefined,
  ]);
  assertMatch((await read()).error, /^BLOCKED/);
  await bench.json("todo", {});
  assertEquals((await read()).status, "unchanged");
  forgetReads(bench.scope());
  assertEquals((await read()).content, "1|one");
  await bench.write("a.txt", "two\n");
  assertEquals((await read()).content, "1|two");
});

Deno.test("read_file warns at the third read in a row of a file that keeps changing, and blocks the fourth", async () => {
  await using bench = await makeBench();
  const results = [];
  for (const text of ["1", "2", "3", "4"]) {
    await bench.write("a.txt", text);
    results.push(await bench.json("read_file", { path: "a.txt" }));
  }
  assertEquals(results.map((result) => result.content), ["1|1", "1|2", "1|3", undefined]);
  assertMatch(results[2]!._warning, /three times/);
  assertMatch(results[3]!.error, /BLOCKED/);
});

Deno.test("read_file suggests similar names for one that is not there", async () => {
  await using bench = await makeBench();
  await bench.write("src/settings.ts", "");
  await bench.write("src/other.md", "");
  const result = await bench.json("read_file", { path: "src/setings.ts" });
  assertMatch(result.error, /File not found/);
  assertEquals(result.similar_files, [`${bench.dir}/src/settings.ts`]);
  assertEquals((await bench.json("read_file", { path: "no/such/dir/x" })).similar_files, undefined);
});

Deno.test("read_file FC-13: relative paths count from the session's cwd, not the process's", async () => {
  await using bench = await makeBench();
  await bench.write("deno.json", "mine");
  assertEquals((await bench.json("read_file", { path: "deno.json" })).content, "1|mine");
  await bench.write(`${bench.userHome}/note.txt`, "home");
  const home = await bench.json("read_file", { path: "~/note.txt" });
  assertEquals([home.content, home.resolved_path], ["1|home", `${bench.userHome}/note.txt`]);
});

Deno.test("read_file hides BOM and CR, and reads an unsaved buffer of the editor", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "\ufeffone\r\ntwo\r\n");
  const result = await bench.json("read_file", { path: "a.txt" });
  assertEquals([result.content, result.total_lines], ["1|one\n2|two", 2]);
  const files = {
    ...bench.context().files,
    exists: () => Promise.resolve(true),
    read: () => Promise.resolve(new TextEncoder().encode("buffer")),
  };
  const unsaved = await bench.json("read_file", { path: "new.txt" }, { overrides: { files } });
  assertEquals(unsaved.content, "1|buffer");
});
