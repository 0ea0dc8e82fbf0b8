import type { Platform } from "@/platform/mod.ts";
import type { Settings } from "@/core/mod.ts";
import { scrubEnvironment } from "../../src/app/child_env.ts";
import { chooseBackend, WEB_ENV_NAMES } from "../../src/tools/web_backends.ts";
import { readDuckDuckGo } from "../../src/tools/web_duckduckgo.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { SECRET } from "./context.ts";
import { html, json, makeWeb } from "./web_support.ts";

const one = [{
  title: "T",
  url: "https://x.test/",
  content: "C",
  description: "C",
  highlights: ["a", "b"],
  excerpts: ["e"],
}];

Deno.test("web_search asks each service in its own words and gives one shape", async () => {
  const cases = [
    {
      env: { TAVILY_API_KEY: "k" },
      answer: { results: one },
      url: "https://api.tavily.com/search",
      says: "C",
    },
    { env: { EXA_API_KEY: "k" }, answer: { results: one }, url: "https://api.exa.ai/search", says: "a … b" },
    {
      env: { PARALLEL_API_KEY: "k" },
      answer: { results: one },
      url: "https://api.parallel.ai/v1beta/search",
      says: "e",
    },
    {
      env: { FIRECRAWL_API_KEY: "k" },
      answer: { data: { web: one } },
      url: "https://api.firecrawl.dev/v2/search",
      says: "C",
    },
    {
      env: { FIRECRAWL_API_URL: "http://fc.test/" },
      answer: { data: { web: one } },
      url: "http://fc.test/v2/search",
      says: "C",
    },
    {
      env: { SEARXNG_URL: "http://127.0.0.1:8/" },
      answer: { results: one },
      url: "http://127.0.0.1:8/search?format=json&q=a%20b",
      says: "C",
    },
    {
      env: { BRAVE_SEARCH_API_KEY: "k" },
      answer: { web: { results: one } },
      url: "https://api.search.brave.com/res/v1/web/search?q=a+b&count=5",
      says: "C",
    },
  ];
  for (const { env, answer, url, says } of cases) {
    await using web = await makeWeb({
      env: env as unknown as Record<string, string>,
      serve: () => json(answer),
    });
    const { body, isError } = await web.run(web.search, { query: "a b" });
    assertEquals(isError, false);
    assertEquals(body, {
      success: true,
      data: { web: [{ title: "T", url: "https://x.test/", description: says, position: 1 }] },
    });
    assertEquals(web.asked.map((call) => call.url), [url]);
    assertEquals(web.asked[0]!.init.redirect, "manual");
  }
});

Deno.test("web_search keeps to the limit and leaves out what is no web address or is blocked", async () => {
  const results = [
    "https://a.test/",
    "javascript:x",
    "https://no.test/",
    "https://b.test/",
    "https://c.test/",
  ]
    .map((url) => ({ title: url, url, content: "" }));
  await using web = await makeWeb({
    env: { SEARXNG_URL: "http://s.test" },
    security: { website_blocklist: { enabled: true, domains: ["no.test"] } },
    serve: () => json({ results }),
  });
  const { body } = await web.run(web.search, { query: "q", limit: 4 });
  assertEquals(body.data.web.map((hit: { url: string; position: number }) => [hit.url, hit.position]), [
    ["https://a.test/", 1],
    ["https://b.test/", 2],
  ]);
});

Deno.test("web_search tells a failure of the service as a failure, wrapped, without the key", async () => {
  await using web = await makeWeb({
    env: { TAVILY_API_KEY: SECRET },
    serve: () => json({ detail: { error: `The key ${SECRET} is wrong` } }, 401),
  });
  const answer = await web.run(web.search, { query: "q" });
  assertEquals(answer.isError, true);
  assertEquals(answer.body, {
    success: false,
    error: "tavily answered with status 401: The key *** is wrong",
  });
  await using odd = await makeWeb({ env: { EXA_API_KEY: "k" }, serve: () => html("<html>") });
  assertEquals(
    (await odd.run(odd.search, { query: "q" })).body.error,
    "exa answered with something that is not JSON",
  );
  await using moved = await makeWeb({
    env: { EXA_API_KEY: "k" },
    serve: () => new Response(null, { status: 302, headers: { location: "http://evil.test/" } }),
  });
  assertEquals((await moved.run(moved.search, { query: "q" })).body.error, "exa answered with status 302");
  await using dead = await makeWeb({
    env: { EXA_API_KEY: "k" },
    serve: () => Promise.reject(new TypeError("refused")),
  });
  assertEquals((await dead.run(dead.search, { query: "q" })).body.error, "exa cannot be reached: refused");
});

Deno.test("web_search sends no secret and no empty or endless query", async () => {
  await using web = await makeWeb({ env: { EXA_API_KEY: "k" }, serve: () => json({}) });
  for (const query of [`find ${SECRET}`, "  ", "x".repeat(2_001)]) {
    assertEquals((await web.run(web.search, { query })).isError, true);
  }
  assertEquals(web.asked, []);
});

const settingsOf = (web: Record<string, string>) =>
  ({ web: { backend: "", search_backend: "", extract_backend: "", ...web } }) as unknown as Settings;

Deno.test("chooseBackend() takes what is named, else the first that has a key, and no search without either", () => {
  const choose = (
    work: "search" | "extract",
    web: Record<string, string>,
    env: Record<string, string> = {},
  ) => {
    const choice = chooseBackend(work, settingsOf(web), (name) => env[name]);
    return "problem" in choice ? choice.problem : choice.name;
  };
  const keys = { BRAVE_SEARCH_API_KEY: "k", EXA_API_KEY: "k", SEARXNG_URL: "http://s" };
  assertEquals(choose("search", {}, keys), "exa");
  assertEquals(choose("extract", {}, { BRAVE_SEARCH_API_KEY: "k" }), "plain");
  assertEquals(choose("search", { backend: "brave" }, keys), "brave");
  assertEquals(choose("extract", { backend: "brave" }, keys), "exa");
  assertEquals(choose("extract", { backend: "brave", extract_backend: "plain" }, keys), "plain");
  assertEquals(choose("search", { search_backend: "searxng", backend: "exa" }, keys), "searxng");
  assertEquals(choose("search", { backend: "DuckDuckGo" }), "duckduckgo");
  assertEquals(choose("search", { search_backend: "auto" }), "duckduckgo");
  assertEquals(choose("search", { search_backend: "auto" }, keys), "exa");
  assertMatch(choose("search", {}), /^no search service is set up/);
  assertEquals(
    choose("search", { search_backend: "tavily" }),
    "tavily needs TAVILY_API_KEY, which is not set",
  );
  assertMatch(choose("search", { backend: "gogle" }), /^there is no web service "gogle"/);
  assertEquals(choose("extract", { extract_backend: "brave" }, keys), "brave cannot be used to extract");
});

Deno.test("web_search is offered only where a service is set up, web_extract always", async () => {
  const offered = async (env: Record<string, string>, web: Record<string, string> = {}) => {
    await using tools = await makeWeb({ env });
    const context = { platform: {} as Platform, settings: settingsOf(web), canClarify: true };
    return [tools.search.available!(context), tools.extract.available!(context)];
  };
  assertEquals(await offered({}), [false, true]);
  assertEquals(await offered({ TAVILY_API_KEY: "k" }), [true, true]);
  assertEquals(await offered({}, { search_backend: "duckduckgo" }), [true, true]);
  assertEquals(await offered({ TAVILY_API_KEY: "k" }, { search_backend: "exa" }), [false, true]);
});

Deno.test("no child process sees the keys of web services", () => {
  const env = Object.fromEntries(WEB_ENV_NAMES.map((name) => [name, "v"]));
  assert(WEB_ENV_NAMES.length >= 7);
  const settings = { terminal: { env_passthrough: [] } } as unknown as Settings;
  assertEquals(scrubEnvironment({ ...env, PATH: "p" }, [], settings), { PATH: "p" });
});

Deno.test("readDuckDuckGo() reads titles, targets and snippets, drops advertisements, knows a page without results", () => {
  const page = `<div class="results"><div class="result"><a class="result__a"
    href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.test%2Fx%3Fy%3D1&amp;rut=z">A <b>title</b></a>
    <a class="result__snippet" href="#">Some <b>words</b>&#x27;</a></div>
    <a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Ad</a><a class="result__snippet">ad</a>
    <a class="result__a" href="https://b.test/">B</a></div>`;
  assertEquals(readDuckDuckGo(page), [
    { title: "A title", url: "https://a.test/x?y=1", description: "Some words'" },
    { title: "B", url: "https://b.test/", description: "" },
  ]);
  assertEquals(readDuckDuckGo(`<div class="results"></div>`), []);
  assertEquals(readDuckDuckGo("<form id=challenge></form>"), null);
});
