/** The console's routes: its own policy, its files, same-origin calls, and what its files may hold. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { ASSETS } from "@/protocols/api/console/assets.ts";
import { CONSOLE_POLICY } from "@/protocols/api/console/mod.ts";
import { createClient, createFakeHermes } from "./fake_hermes.ts";

const NO_KEY = { headers: { Authorization: "" } };
const WEB = new URL("../../../src/protocols/api/console/web/", import.meta.url);

Deno.test("getConsoleFile: the page needs no key and has a policy of its own beside the other headers", async () => {
  const { call } = createClient(createFakeHermes());
  const page = await call("/", NO_KEY);
  assertEquals(page.status, 200);
  assertEquals(page.headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(page.headers.get("content-security-policy"), CONSOLE_POLICY);
  assertEquals(page.headers.get("x-frame-options"), "DENY");
  assertEquals(page.headers.get("x-content-type-options"), "nosniff");
  assertEquals(page.headers.get("referrer-policy"), "no-referrer");
  assertMatch(await page.text(), /^<!doctype html>/i);
  const other = await call("/health");
  assertEquals(other.headers.get("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
});

Deno.test("getConsoleFile: the policy allows own files only, no inline script or style, no frame", () => {
  const rules = new Map(
    CONSOLE_POLICY.split("; ").map((rule) => {
      const [name, ...values] = rule.split(" ");
      return [name!, values.join(" ")];
    }),
  );
  for (const name of ["script-src", "style-src", "img-src", "connect-src"]) {
    assertEquals([name, rules.get(name)], [name, "'self'"]);
  }
  for (const name of ["default-src", "base-uri", "form-action", "frame-ancestors", "trusted-types"]) {
    assertEquals([name, rules.get(name)], [name, "'none'"]);
  }
  assertEquals(rules.get("require-trusted-types-for"), "'script'");
  assertEquals(/unsafe|https?:|data:|\*/.test(CONSOLE_POLICY), false);
});

Deno.test("getConsoleFile: every file that the page names is there with its type, and only those", async () => {
  const { call } = createClient(createFakeHermes());
  const types: Record<string, string> = {
    js: "text/javascript; charset=utf-8",
    css: "text/css; charset=utf-8",
    svg: "image/svg+xml",
    html: "text/html; charset=utf-8",
  };
  for (const [name, text] of Object.entries(ASSETS)) {
    const response = await call(`/console/${name}`, NO_KEY);
    assertEquals([name, response.status], [name, 200]);
    assertEquals(response.headers.get("content-type"), types[name.split(".").at(-1)!]);
    assertEquals(await response.text(), text);
  }
  for (const name of ["nope.js", "mod.ts", "__proto__", "constructor", "..%2fmod.ts", "web/main.js"]) {
    const response = await call(`/console/${name}`, NO_KEY);
    assertEquals([name, response.status], [name, 404]);
    assertEquals((await response.json()).error.code, "not_found");
  }
  assertEquals((await call("/", { method: "POST", body: "{}" })).status, 405);
});

Deno.test("getConsoleFile: a browser that has the file gets 304 without it", async () => {
  const { call } = createClient(createFakeHermes());
  const first = await call("/console/main.js", NO_KEY);
  await first.body?.cancel();
  const tag = first.headers.get("etag")!;
  const again = await call("/console/main.js", { headers: { Authorization: "", "If-None-Match": tag } });
  assertEquals([again.status, await again.text()], [304, ""]);
  const other = await call("/console/style.css", { headers: { Authorization: "", "If-None-Match": tag } });
  assertEquals(other.status, 200);
  await other.body?.cancel();
});

Deno.test("ASSETS: all files of the folder are embedded, and every import between them resolves", async () => {
  const onDisk: string[] = [];
  for await (const entry of Deno.readDir(WEB)) onDisk.push(entry.name);
  assertEquals(onDisk.sort(), Object.keys(ASSETS).sort());
  for (const [name, text] of Object.entries(ASSETS)) {
    const local = [...text.matchAll(/(?:from|import\() ?"\.\/([^"]+)"|"\/console\/([^")]+)"/g)];
    for (const [, relative, absolute] of local) {
      const target = relative ?? absolute!;
      assert(target in ASSETS, `${name} needs ${target}`);
    }
  }
});

Deno.test("ASSETS: no other server, no inline script or style, no text that becomes markup", () => {
  for (const [name, text] of Object.entries(ASSETS)) {
    const urls = [...text.matchAll(/https?:\/\/[a-z0-9.-]+\.[a-z]+/gi)].map(([url]) => url)
      .filter((url) => url !== "http://www.w3.org");
    assertEquals([name, urls], [name, []]);
    assertEquals([
      name,
      /@import|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|\beval\(/.test(text),
    ], [
      name,
      false,
    ]);
  }
  const page = ASSETS["index.html"]!;
  assertEquals(/<style|\sstyle=|\son[a-z]+=|javascript:/i.test(page), false);
  assertEquals(
    [...page.matchAll(/<script\b([^>]*)>([^<]*)<\/script>/g)].map((
      [, attributes, body],
    ) => [attributes!.trim(), body]),
    [
      ['type="module" src="/console/main.js"', ""],
    ],
  );
});

Deno.test("ASSETS: each control of the page has a name that can be read out", () => {
  const page = ASSETS["index.html"]!;
  for (const [, attributes, content] of page.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/g)) {
    const isNamed = /aria-label="[^"]+"/.test(attributes!) || content!.trim() !== "" ||
      /id="model"/.test(attributes!);
    assert(isNamed, `a button without a name: ${attributes}`);
  }
  for (const [tag] of page.matchAll(/<(?:input|textarea)\b[^>]*>/g)) {
    const id = /id="([^"]+)"/.exec(tag)?.[1];
    assert(/aria-label="/.test(tag) || page.includes(`for="${id}"`), `a field without a label: ${tag}`);
  }
});

Deno.test("checkOrigin: the server's own page may call, one of another name or port may not", async () => {
  const { call } = createClient(createFakeHermes());
  const status = async (host: string, origin: string) => {
    const response = await call("/v1/models", { headers: { Host: host, Origin: origin } });
    await response.body?.cancel();
    return [response.status, response.headers.get("access-control-allow-origin")];
  };
  assertEquals(await status("127.0.0.1:8642", "http://127.0.0.1:8642"), [200, null]);
  assertEquals(await status("localhost:8642", "https://localhost:8642"), [200, null]);
  for (
    const origin of [
      "http://127.0.0.1:9999",
      "http://localhost:8642",
      "http://evil.test",
      "null",
      "http://127.0.0.1:8642/",
      "http://127.0.0.1:8642.evil.test",
      "http://127.0.0.1:8642@evil.test",
      "file://127.0.0.1:8642",
    ]
  ) {
    assertEquals([origin, ...await status("127.0.0.1:8642", origin)], [origin, 403, null]);
  }
  // A name that the host gate refuses is no way around it.
  assertEquals((await status("evil.test", "http://evil.test"))[0], 403);
});

Deno.test("the scripts of the page fit the types of a browser", async () => {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(
      config,
      JSON.stringify({
        compilerOptions: {
          checkJs: true,
          strict: true,
          lib: ["dom", "dom.iterable", "dom.asynciterable", "esnext"],
        },
      }),
    );
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--no-lock", "--config", config, new URL("main.js", WEB).pathname],
      env: { NO_COLOR: "1" },
      stdout: "null",
    }).output();
    assert(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(config);
  }
});
