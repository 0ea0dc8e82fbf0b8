/** Pins acp_registry/agent.json to the version and to the registry's rules (acp.md C14). */
import manifest from "../../../acp_registry/agent.json" with { type: "json" };
import config from "../../../deno.json" with { type: "json" };
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
