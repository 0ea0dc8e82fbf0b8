/** Pins acp_registry/agent.json to the version and to the registry's rules (acp.md C14). */
import manifest from "../../../acp_registry/agent.json" with { type: "json" };
import config from "../../../deno.json" with { type: "json" };
import { tarGz, zip } from "../../../scripts/archive.ts";
import { buildManifest, type Manifest, manifestProblems, manifestText } from "../../../scripts/manifest.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

const TARGETS = ["darwin-aarch64", "darwin-x86_64", "linux-aarch64", "linux-x86_64", "windows-x86_64"];
const KEYS = [
  "authors",
  "description",
  "distribution",
  "id",
  "license",
  "license_url",
  "name",
  "repository",
  "version",
  "website",
];

Deno.test("agent.json has the version of deno.json everywhere", () => {
  assertEquals(manifest.version, config.version);
  assertMatch(manifest.version, /^\d+\.\d+\.\d+$/);
  const url =
    `https://github.com/hermes-agent-ts/hermes/releases/download/v${config.version}/hermes-${config.version}-`;
  for (const [target, entry] of Object.entries(manifest.distribution.binary)) {
    const ending = target.startsWith("windows") ? "zip" : "tar.gz";
    assertEquals(entry.archive, `${url}${target}.${ending}`);
    assertEquals(entry.env, { HERMES_ACP_MANIFEST_VERSION: config.version });
    assertEquals(entry.args, ["acp"]);
    assertEquals(entry.cmd, target.startsWith("windows") ? "./hermes.exe" : "./hermes");
  }
});

Deno.test("agent.json has the keys and targets the registry takes, and no others", () => {
  assertEquals(Object.keys(manifest).sort(), KEYS);
  assertMatch(manifest.id, /^[a-z][a-z0-9-]*$/);
  assertEquals(Object.keys(manifest.distribution), ["binary"]);
  assertEquals(Object.keys(manifest.distribution.binary).sort(), TARGETS);
  for (const entry of Object.values(manifest.distribution.binary) as Record<string, unknown>[]) {
    for (const key of Object.keys(entry)) {
      assert(["archive", "cmd", "args", "env", "sha256"].includes(key), key);
    }
    if (entry.sha256 !== undefined) assertMatch(String(entry.sha256), /^[0-9a-f]{64}$/);
  }
});

Deno.test("icon.svg is 16×16 and takes its colour from where it stands", async () => {
  const svg = await Deno.readTextFile(new URL("../../../acp_registry/icon.svg", import.meta.url));
  assertMatch(svg, /<svg [^>]*width="16" height="16"/);
  const colours = [...svg.matchAll(/(?:fill|stroke|color)="([^"]*)"/g)].map((match) => match[1]!);
  for (const colour of colours) assert(["currentColor", "none"].includes(colour), colour);
  assert(!/gradient|style=|<image/i.test(svg));
});

Deno.test("agent.json is what the release script writes", async () => {
  const file = await Deno.readTextFile(new URL("../../../acp_registry/agent.json", import.meta.url));
  assertEquals(file, manifestText(buildManifest(config.version)));
});

Deno.test("manifestProblems() finds nothing in a release and each thing the registry refuses", () => {
  const sum = "0".repeat(64);
  const good = buildManifest("1.2.3", { "linux-x86_64": sum });
  assertEquals(manifestProblems(good), []);
  assertEquals(good.distribution.binary["linux-x86_64"]!.sha256, sum);
  const { binary } = good.distribution;
  const linux = binary["linux-x86_64"]!;
  const entry = (change: Record<string, unknown>) =>
    ({
      ...good,
      distribution: { binary: { ...binary, "linux-x86_64": { ...linux, ...change } } },
    }) as Manifest;
  const table: [Manifest, string][] = [
    [{ ...good, id: "Hermes" }, "id is malformed"],
    [{ ...good, homepage: "x" }, "homepage is not known"],
    [{ ...good, description: "" }, "description is missing"],
    [{ ...good, distribution: { binary: { "linux-x86_64": linux } } }, "no target for darwin"],
    [entry({ sha256: "ABC" }), "linux-x86_64: sha256 is malformed"],
    [entry({ size: 1 }), "linux-x86_64: size is not known"],
    [
      entry({ archive: linux.archive.replace("v1.2.3", "v1.2.2") }),
      "linux-x86_64: archive does not name version 1.2.3",
    ],
    [entry({ archive: "https://x/latest/hermes-1.2.3.zip" }), "linux-x86_64: archive points at /latest/"],
    [entry({ archive: "https://x/hermes-1.2.3.rar" }), "linux-x86_64: archive is malformed"],
  ];
  for (const [manifest, problem] of table) assert(manifestProblems(manifest).includes(problem), problem);
  assertEquals(manifestProblems({ ...buildManifest("1.2"), version: "1.2" })[0], "version is not x.y.z");
});

async function unpack(program: string, args: string[], archive: Uint8Array): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeFile(`${folder}/archive`, archive);
    const { success, stderr } = await new Deno.Command(program, { args, cwd: folder }).output();
    assert(success, new TextDecoder().decode(stderr));
    const { mode } = await Deno.stat(`${folder}/hermes`);
    return `${(mode! & 0o777).toString(8)} ${await Deno.readTextFile(`${folder}/hermes`)}`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("tarGz() and zip() are read by the usual programs, keep the mode, and are the same every time", async () => {
  const files = [
    { name: "hermes", data: new TextEncoder().encode("#!program\n".repeat(200)), executable: true },
    { name: "LICENSE", data: new Uint8Array(0), executable: false },
  ];
  const [tar, same, zipped] = [await tarGz(files), await tarGz(files), await zip(files)];
  assertEquals(tar, same);
  assertEquals(await unpack("tar", ["-xzf", "archive"], tar), `755 ${"#!program\n".repeat(200)}`);
  const name = new DataView(zipped.buffer).getUint16(26, true);
  const size = new DataView(zipped.buffer).getUint32(18, true);
  const body = zipped.slice(30 + name, 30 + name + size);
  const inflated = new Blob([body]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  assertEquals(await new Response(inflated).text(), "#!program\n".repeat(200));
  const [hello] = [await zip([{ name: "a", data: new TextEncoder().encode("hello"), executable: false }])];
  assertEquals(new DataView(hello!.buffer).getUint32(14, true), 0x3610a686);
});
