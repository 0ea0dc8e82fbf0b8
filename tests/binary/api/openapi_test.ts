/** The description of the API: complete, valid, and true: each example is sent and each answer has its shape. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { ROUTES } from "../../../src/protocols/api/app.ts";
import { openPath } from "../../../src/protocols/api/openapi/document.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, collectSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";
import { ask, risky, startRun, untilStatus, type Wire } from "./run_scene.ts";

async function documentOf(api: ApiServer): Promise<Wire> {
  const response = await api.call("/openapi.json", { key: null });
  assertEquals([response.status, response.headers.get("content-type")], [200, "application/json"]);
  return await response.json();
}

/** Checks a value against a named shape of the document. */
function checker(document: Wire): (name: string, value: unknown, where: string) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "doc", components: document.components });
  return (name, value, where) => {
    const validate = ajv.getSchema(`doc#/components/schemas/${name}`)!;
    assert(
      validate(value),
      `${where} is no ${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
    );
  };
}

/** Routes that the document leaves out: the console, and what is not there. */
const LEFT_OUT = /^\/($|console|api\/jobs)/;

Deno.test("openapi: every route is described once, with the scopes that it asks for", async () => {
  await using api = await startApi();
  const document = await documentOf(api);
  assertEquals([document.openapi, typeof document.info.version], ["3.1.0", "string"]);
  const described = Object.entries(document.paths as Record<string, Record<string, Wire>>)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
  const routed = ROUTES.filter((route) => !LEFT_OUT.test(route.path))
    .map((route) => `${route.method} ${openPath(route.path)}`);
  assertEquals(described.toSorted(), routed.toSorted());
  for (const route of ROUTES.filter((route) => !LEFT_OUT.test(route.path))) {
    const operation = document.paths[openPath(route.path)][route.method.toLowerCase()];
    assertEquals(operation["x-scopes"] ?? [], route.scopes ?? []);
    assertEquals(operation.security, route.isPublic ? [] : undefined);
  }
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods as Wire)
  ) as Wire[];
  const ids = operations.map((operation) => operation.operationId);
  assertEquals(new Set(ids).size, ids.length);
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((m) =>
    m[1]!
  );
  for (const name of refs) assert(name in document.components.schemas, name);
});

Deno.test("openapi: every example is taken, and every answer has the shape that stands there", async () => {
  const slow = { steps: [{ delay_ms: 5, text: "a", repeat: 3 }] };
  await using model = await startModelServer({ turns: Array.from({ length: 20 }, () => slow) });
  await using api = await startApi({
    model,
    config: { browser: { extension_control: { enabled: true } } },
  });
  const document = await documentOf(api);
  const check = checker(document);
  const first = await ask(api, "/v1/responses", { body: { input: "hi" } });
  await ask(api, "/api/sessions", { body: { id: "kept" } });
  const known: Record<string, string> = { response: first.body.id, session: "kept" };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name) => known[name] ?? whole);
  let sent = 0;
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Wire>>)) {
    if (/approval|clarify|steer/.test(path)) continue; // in a scene of their own, below
    const { post } = methods;
    const body = post?.requestBody?.content["application/json"];
    if (!body) continue;
    const place = fill(path.replace("/api/sessions/{id}", "/api/sessions/{session}"));
    for (const [name, { value }] of Object.entries(body.examples as Record<string, { value: unknown }>)) {
      const where = `${place}: ${name}`;
      const example = JSON.parse(fill(JSON.stringify(value)));
      check(body.schema.$ref.split("/").at(-1), example, where);
      const response = await api.call(place, { body: example });
      const described = post.responses[String(response.status)];
      assert(
        response.status < 300 && described,
        `${where}: ${response.status} ${await response.clone().text()}`,
      );
      const type = response.headers.get("content-type")!;
      if (type === "text/event-stream") {
        const schema = described.content[type]["x-event-schema"].$ref.split("/").at(-1);
        const events = (await collectSse(response)).flatMap((frame) => frame.json ?? []);
        assert(events.length > 2, where);
        for (const event of events) check(schema, event, where);
      } else check(described.content[type].schema.$ref.split("/").at(-1), await response.json(), where);
      sent++;
      // The fork has ended its source.
      if (place.endsWith("/fork")) await ask(api, "/api/sessions", { body: { id: "kept2" } });
    }
  }
  assertEquals(sent, 15);
  const patched = document.paths["/api/sessions/{id}"].patch.requestBody.content["application/json"].examples;
  check("SessionPatch", patched.title.value, "PATCH");
  const changed = await ask(api, "/api/sessions/kept2", { method: "PATCH", body: patched.title.value });
  check("SessionBody", changed.body, "PATCH");
  assertEquals(changed.body.session.title, "Another title");
});

Deno.test("openapi: reading and deleting routes answer what stands there, errors included", async () => {
  await using model = await startModelServer({ turns: ["1", "2", "3"] });
  await using api = await startApi({ model, env: { API_SERVER_METRICS: "1" } });
  const document = await documentOf(api);
  const check = checker(document);
  const run = await startRun(api, { input: "go", session_id: "s" });
  await untilStatus(api, run, "completed");
  const response = (await ask(api, "/v1/responses", { body: { input: "hi" } })).body.id;
  const ids: Record<string, string> = {
    runs: run,
    responses: response,
    sessions: "s",
    models: "hermes-agent",
  };
  let asked = 0;
  for (const method of ["get", "delete"] as const) {
    for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Wire>>)) {
      const operation = methods[method];
      if (!operation || operation.responses["101"]) continue; // a WebSocket: below
      const place = path.replace(/(\w+)\/\{id\}/, (_, kind) => `${kind}/${ids[kind]}`);
      const answer = await api.call(place, { method: method.toUpperCase() });
      const type = answer.headers.get("content-type")!.split(";")[0]!;
      const content = operation.responses["200"].content[type];
      assertEquals([place, answer.status, content !== undefined], [place, 200, true]);
      if (type === "application/json") {
        check(content.schema.$ref.split("/").at(-1), await answer.json(), place);
      } else if (type === "text/event-stream") {
        for (const { json } of await collectSse(answer)) if (json) check("RunEvent", json, place);
      } else await answer.text();
      asked++;
      if (!path.includes("{id}") || path.includes("models")) continue;
      const missing = await api.call(path.replace("{id}", "not-there"), { method: method.toUpperCase() });
      assert(operation.responses[String(missing.status)], `${path}: ${missing.status}`);
      check("ErrorBody", await missing.json(), path);
    }
  }
  assertEquals(asked, 21);
  const socket = document.paths["/v1/browser-control/ws"].get.responses;
  assertEquals(Object.keys(socket), ["101", "400", "401", "403", "404", "426"]);
  const off = await ask(api, "/v1/browser-control/ws");
  assertEquals([off.status, off.body.error.code], [404, "browser_control_disabled"]);
  check("ErrorBody", off.body, "ws");
});

Deno.test("openapi: approval, clarify, steer and stop answer what stands there", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [risky("x")] },
      { steps: [{ tool: "clarify", args: { question: "Which?" } }] },
      { steps: [{ text: "a" }, { stall: true }] },
    ],
  });
  await using api = await startApi({ model });
  const document = await documentOf(api);
  const check = checker(document);
  const example = (path: string, name: string) =>
    document.paths[path].post.requestBody.content["application/json"].examples[name].value;
  const id = await startRun(api, { input: "go", clarify: true });
  check("Run", await untilStatus(api, id, "waiting_for_approval"), "waiting");
  const once = example("/v1/runs/{id}/approval", "once");
  check("ApprovalRequest", once, "approval");
  check("Approved", (await ask(api, `/v1/runs/${id}/approval`, { body: once })).body, "approval");
  check("Run", await untilStatus(api, id, "waiting_for_clarify"), "waiting");
  const answer = example("/v1/runs/{id}/clarify", "text");
  check("ClarifyRequest", answer, "clarify");
  check("Clarified", (await ask(api, `/v1/runs/${id}/clarify`, { body: answer })).body, "clarify");
  await eventually(() => model.calls().length === 3);
  const text = example("/v1/runs/{id}/steer", "text");
  check("SteerRequest", text, "steer");
  check("Steered", (await ask(api, `/v1/runs/${id}/steer`, { body: text })).body, "steer");
  for (let i = 0; i < 2; i++) {
    const stopped = await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
    assertEquals(stopped.status, 200);
    check("RunStopped", stopped.body, "stop");
  }
});

Deno.test("docs: one page without a key, without scripts, and with nothing from elsewhere", async () => {
  await using api = await startApi();
  const response = await api.call("/docs", { key: null });
  const html = await response.text();
  assertEquals([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  const policy = response.headers.get("content-security-policy") ?? "";
  assertMatch(policy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /);
  const style = /<style>([^]*?)<\/style>/.exec(html)![1]!;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)));
  assert(policy.includes(btoa(String.fromCharCode(...digest))));
  assertEquals(
    /<script|<link|<img|<iframe|style=|\son\w+=|https?:\/\/(?!127)/i.test(
      html.replace(/<pre>[^]*?<\/pre>/g, "").replace(/An http\(s\)[^<]*/g, ""),
    ),
    false,
  );
  const document = await documentOf(api);
  for (const path of Object.keys(document.paths)) assert(html.includes(`<code>${path}</code>`), path);
  assert(html.includes("Sec-WebSocket-Protocol"));
  for (const name of Object.keys(document.components.schemas)) assert(html.includes(`id="${name}"`), name);
});
