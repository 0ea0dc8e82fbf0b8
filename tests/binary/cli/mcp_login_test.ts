/** `hermes mcp login` and `logout`: the browser's way round, and that no token is seen anywhere (core G.3). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type OAuthServer, startOAuthServer, visit } from "../../support/oauth_server.ts";
import { makeRig, type Rig, runProgram, startProgram } from "../../support/program.ts";
import { textsBelow } from "../../support/core_driver.ts";

async function withDesk(test: (server: OAuthServer, rig: Rig) => Promise<void>): Promise<void> {
  await using server = await startOAuthServer();
  await using rig = await makeRig({
    config: { mcp_servers: { desk: { url: server.url, auth: "oauth" }, plain: { url: server.url } } },
  });
  await test(server, rig);
}

/** Starts a login and gives the address to the browser. */
async function login(rig: Rig, ...more: string[]): Promise<{ code: number; output: string; page: string }> {
  const child = startProgram(["mcp", "login", "desk", ...more], { rig });
  const stdout = new Response(child.stdout).text();
  let [said, page] = ["", ""];
  for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
    const before = said;
    said += text;
    const address = /^ {2}(http:\S+)\n/m;
    if (!address.test(before) && address.test(said)) page = (await visit(address.exec(said)![1]!)).text;
  }
  await child.stdin.close();
  const { code } = await child.status;
  return { code, output: said + await stdout, page };
}

Deno.test("mcp login goes through the browser, stores a token that nobody sees, and it is renewed by itself", async () => {
  await withDesk(async (server, rig) => {
    const before = await runProgram(["mcp", "test", "desk"], { rig });
    assertEquals(before.code, 1);
    assertMatch(before.stderr, /it wants a login; run: hermes mcp login desk/);
    const { code, output, page } = await login(rig);
    assertEquals(code, 0, output);
    assertMatch(
      output,
      /desk: logged in at http:.*\n {2}it is renewed by itself\n {2}now: hermes mcp test desk/,
    );
    assertMatch(page, /Logged in/);
    const path = `${rig.home}/mcp-tokens/desk.json`;
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    const works = await runProgram(["mcp", "test", "desk"], { rig });
    assertMatch(works.stdout, /^desk works: 1 tool/);
    server.expire();
    const renewed = await runProgram(["mcp", "test", "desk", "--json"], { rig });
    assertEquals([renewed.code, server.grants], [0, ["authorization_code", "refresh_token"]]);
    const said = [before, works, renewed].map(({ stdout, stderr }) => stdout + stderr).join("") + output +
      page;
    const files = (await textsBelow(rig.home)).filter((file) => file.path !== path);
    assert(server.given.length === 4);
    for (const token of server.given) {
      assert(!said.includes(token), "a token was printed");
      for (const file of files) assert(!file.text.includes(token), `a token is in ${file.path}`);
    }
    const gone = await runProgram(["mcp", "logout", "desk"], { rig });
    assertEquals([gone.code, gone.stdout], [0, "desk: logged out; the token is deleted here\n"]);
    assertMatch((await runProgram(["mcp", "logout", "desk"], { rig })).stdout, /nobody was logged in/);
  });
});

Deno.test("mcp login --json prints one object; a no of the person is exit 1 with the reason", async () => {
  await withDesk(async (server, rig) => {
    const { code, output } = await login(rig, "--json");
    const result = JSON.parse(output.split("\n").find((line) => line.startsWith("{"))!);
    assertEquals([code, result], [
      0,
      {
        name: "desk",
        logged_in: true,
        issuer: server.origin,
        scope: "tools",
        expires_in: 3600,
        renews: true,
      },
    ]);
    server.deny = true;
    const denied = await login(rig);
    assertEquals(denied.code, 1);
    assertMatch(denied.output, /not logged in at "desk": the authorisation server says access_denied/);
    assertMatch(denied.page, /Not logged in/);
  });
});

Deno.test("mcp login ends when nobody comes, by Ctrl-C, and for a server that wants no login", async () => {
  await withDesk(async (_, rig) => {
    const late = await runProgram(["mcp", "login", "desk", "--timeout", "1"], { rig });
    assertEquals(late.code, 1);
    assertMatch(late.stderr, /nobody logged in within 1 s/);
    const child = startProgram(["mcp", "login", "desk"], { rig });
    const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    while (!said.includes("Ctrl-C gives up")) said += (await reader.read()).value ?? "";
    child.kill("SIGINT");
    assertEquals((await child.status).code, 130);
    await Promise.all([child.stdin.close(), child.stdout.cancel(), reader.cancel()]);
    const plain = await runProgram(["mcp", "login", "plain"], { rig });
    assertEquals(plain.code, 1);
    assertMatch(plain.stderr, /its entry does not ask for a login: that is url with "auth": "oauth"/);
    const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    closed.close();
    await runProgram(["mcp", "add", "gone", `http://127.0.0.1:${closed.addr.port}/mcp`, "--oauth"], { rig });
    const gone = await runProgram(["mcp", "login", "gone", "--no-browser"], { rig });
    assertEquals(gone.code, 1);
    assertMatch(gone.stderr, /not logged in at "gone": .*\n {2}do: {2}start the server, or mend url\n$/);
    const refused = await runProgram(["mcp", "test", "plain"], { rig });
    assertMatch(refused.stderr, /HTTP 401|other credentials/);
    assertMatch(refused.stderr, /do: +give a token in headers\.Authorization, or "auth": "oauth"/);
    for (const args of [["login"], ["login", "nobody"], ["logout", "a", "b"]]) {
      assertEquals([args, (await runProgram(["mcp", ...args], { rig })).code], [args, 2]);
    }
  });
});
