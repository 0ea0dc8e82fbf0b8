import { collectSse, startApi } from "./api_driver.ts";
import { startModelServer } from "./model_server.ts";
const model = await startModelServer({
  turns: [
    { steps: [{ text: "looking" }, { tool: "terminal", args: { command: "echo hi" } }] },
    "found it",
    "second",
  ],
});
const api = await startApi({ model });
try {
  const r = await api.call("/v1/runs", { body: { input: "go" } });
  console.log(r.status, await r.clone().text());
  const { run_id } = await r.json();
  const ev = await api.call(`/v1/runs/${run_id}/events`);
  console.log(ev.status);
  for (const f of await collectSse(ev)) console.log(JSON.stringify(f));
  console.log(await (await api.call(`/v1/runs/${run_id}`)).text());
  console.log(await (await api.call(`/v1/runs`)).text());
} finally {
  console.log(api.stderr());
  await api[Symbol.asyncDispose]();
  await model.close();
}
{
const model = await startModelServer({ turns: [
 { steps: [{ text: "looking" }, { tool: "terminal", args: { command: "echo hi" } }] }, "found it", "second", "third",
 { steps: [{ tool: "get_weather", args: { city: "Oslo" } }] }, "It rains", { steps: [{text:"hm"},{ tool: "get_weather", args: { city: "Oslo" } }] }, "It snows"]});
const api = await startApi({ model });
try {
  const r = await api.call("/v1/responses", { body: { input: "go", stream: true } });
  const frames = await collectSse(r);
  for (const f of frames) console.log((f.data ?? "").slice(0, 300));
  const id = frames[0]!.json.response.id;
  const g = await (await api.call(`/v1/responses/${id}`)).json();
  console.log(JSON.stringify(g));
  const r2 = await (await api.call("/v1/responses", { body: { input: "more", previous_response_id: id } })).json();
  console.log(JSON.stringify(r2.output));
  console.log(JSON.stringify(model.calls()[2]!.body.messages.slice(1)));
  const r3 = await (await api.call("/v1/responses", { body: { input: "more2", previous_response_id: id } })).json();
  console.log(JSON.stringify(model.calls()[3]!.body.messages.slice(1)), r3.status);
  const tools = [{ type: "function", name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];
  const w = await (await api.call("/v1/responses", { body: { input: "weather?", tools } })).json();
  console.log(JSON.stringify(w.output), w.status);
  const call = w.output.at(-1);
  const w2 = await (await api.call("/v1/responses", { body: { previous_response_id: w.id, tools, input: [{ type: "function_call_output", call_id: call.call_id, output: "rain" }] } })).json();
  console.log(JSON.stringify(w2.output), JSON.stringify(model.calls()[5]?.body.messages.slice(1)));
  const ctools = [{ type: "function", function: tools[0] }];
  const c = await (await api.chat({ messages: [{ role: "user", content: "weather" }], tools: ctools })).json();
  console.log(JSON.stringify(c));
  const c2 = await api.chat({ messages: [{ role: "user", content: "weather" }, c.choices[0].message, { role: "tool", tool_call_id: c.choices[0].message.tool_calls?.[0].id, content: "snow" }], tools: ctools });
  console.log(await c2.text(), JSON.stringify(model.calls()[7]?.body.messages.slice(1)));
} finally { console.log(api.stderr()); await api[Symbol.asyncDispose](); await model.close(); }
}
