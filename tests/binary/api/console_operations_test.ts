/** What the operations guide promises: the health command, and the container's files. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const ROOT = new URL("../../../", import.meta.url);

Deno.test("serve health: 0 for a server that is up, 1 with the reason for one that is not, 2 for wrong usage", async () => {
  await using rig = await makeRig();
  const health = (port: number, ...args: string[]) =>
    runProgram(["serve", "health", "--port", String(port), ...args], { rig });
  let port = 0;
  {
    await using api = await startApi({ rig });
    port = api.port;
    assertEquals(await health(port), { code: 0, stdout: "ok\n", stderr: "" });
    // The address that listens everywhere is asked on the loopback one; so is it in a container.
    assertEquals((await health(port, "--host", "0.0.0.0")).code, 0);
    const env = { API_SERVER_PORT: String(port) };
    assertEquals((await runProgram(["serve", "health"], { rig, env })).code, 0);
  }
  const down = await health(port);
  assertEquals([down.code, down.stdout], [1, ""]);
  assertMatch(down.stderr, new RegExp(`http://127\\.0\\.0\\.1:${port}/health does not answer`));
  assertEquals((await health(port, "now")).code, 2);
});

Deno.test("serve health: another server on the port is not taken for ours", async () => {
  await using rig = await makeRig();
  const other = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("hello"),
  );
  const { code, stderr } = await runProgram(["serve", "health", "--port", String(other.addr.port)], { rig });
  await other.shutdown();
  assertEquals(code, 1);
  assertMatch(stderr, /not as this server does/);
});

Deno.test("Dockerfile: not root, no key, the volume, a health check by the program, and a context without homes", async () => {
  const lines = (await Deno.readTextFile(new URL("Dockerfile", ROOT))).replaceAll("\\\n", " ").split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const values = (name: string) =>
    last.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length).trim());
  assertEquals(values("USER"), ["10001:10001"]);
  assert(
    lines.every((line) => !/(KEY|TOKEN|SECRET)\s*=?/.test(line) || line.startsWith("COPY")),
    lines.join("\n"),
  );
  assertEquals(values("VOLUME"), ["/data"]);
  assertMatch(values("ENV").join(" "), /HERMES_HOME=\/data/);
  assertMatch(values("HEALTHCHECK")[0]!, /CMD \["hermes", "serve", "health"\]$/);
  assertEquals([values("ENTRYPOINT"), values("CMD")], [['["hermes"]'], ['["serve"]']]);
  // What the build reads is in the context, and nothing else is.
  const ignored = (await Deno.readTextFile(new URL(".dockerignore", ROOT))).split("\n");
  assertEquals(ignored.filter((line) => line !== "" && !line.startsWith("#"))[0], "*");
  const allowed = ignored.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  assertEquals(allowed, ["acp_registry", "deno.json", "deno.lock", "main.ts", "scripts", "src"]);
  for (const path of allowed) await Deno.stat(new URL(path, ROOT));
  assert(ignored.includes("**/.env"));
});
