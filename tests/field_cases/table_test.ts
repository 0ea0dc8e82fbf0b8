/**
 * Which test proves which field case on which surface. Every surface on which a case can arise has a row here; the
 * test below fails when a row's file does not cite its case any more.
 */
import { assertEquals } from "../support/assert.ts";

type Surface = "acp" | "gateway" | "api" | "core";

/** Case → surface → files with tests that cite it. */
const TABLE: Readonly<Record<string, Readonly<Partial<Record<Surface, string>>>>> = {
  "FC-01": {
    acp: "binary/acp/handshake_test.ts",
    gateway: "binary/gateway/framing_test.ts",
    core: "properties/frames_test.ts",
  },
  "FC-02": {
    acp: "binary/acp/handshake_test.ts",
    gateway: "binary/gateway/framing_test.ts",
    api: "binary/api/requests_test.ts",
    core: "field_cases/refused_input_test.ts",
  },
  "FC-03": { acp: "binary/acp/turn_test.ts", gateway: "field_cases/surfaces_test.ts" },
  "FC-04": {
    acp: "binary/acp/turn_test.ts",
    gateway: "binary/gateway/turns_test.ts",
    api: "binary/api/stream_test.ts",
    core: "properties/tool_calls_test.ts",
  },
  "FC-05": {
    acp: "binary/acp/session_new_test.ts",
    gateway: "field_cases/refused_input_test.ts",
    api: "field_cases/refused_input_test.ts",
  },
  "FC-06": {
    acp: "binary/acp/cancel_test.ts",
    gateway: "binary/gateway/turns_test.ts",
    api: "binary/api/stream_test.ts",
    core: "binary/core/interrupt_test.ts",
  },
  "FC-07": {
    core: "models/options_test.ts",
    acp: "mcp/sessions_test.ts",
    gateway: "binary/core/mcp_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-08": {
    acp: "binary/acp/cancel_test.ts",
    gateway: "binary/gateway/concurrency_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-09": { api: "binary/api/conversations_test.ts" },
  "FC-10": {
    acp: "binary/acp/store_test.ts",
    gateway: "field_cases/surfaces_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-11": { gateway: "binary/gateway/rewind_test.ts" },
  "FC-12": { core: "binary/core/crash_test.ts" },
  "FC-13": {
    acp: "binary/acp/session_new_test.ts",
    gateway: "field_cases/surfaces_test.ts",
    core: "tools/read_file_test.ts",
  },
  "FC-14": {
    acp: "binary/acp/many_test.ts",
    gateway: "binary/gateway/approvals_test.ts",
    api: "binary/api/conversations_test.ts",
    core: "binary/core/approvals_test.ts",
  },
  "FC-15": { acp: "binary/acp/permission_test.ts", core: "properties/patches_test.ts" },
  "FC-16": { core: "properties/edits_test.ts", gateway: "binary/core/files_test.ts" },
  "FC-17": { acp: "binary/acp/permission_test.ts", core: "binary/core/files_test.ts" },
  "FC-18": {
    core: "binary/core/limits_test.ts",
    acp: "field_cases/surfaces_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-19": {
    acp: "binary/acp/exit_test.ts",
    gateway: "binary/gateway/concurrency_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-20": { gateway: "binary/gateway/ws_test.ts", api: "binary/api/runs_test.ts" },
  "FC-21": { api: "binary/api/run_control_test.ts", gateway: "field_cases/states_test.ts" },
  "FC-22": { api: "binary/api/requests_test.ts", gateway: "binary/gateway/ws_test.ts" },
  "FC-23": { api: "binary/api/stream_test.ts" },
  "FC-24": {
    core: "binary/core/store_test.ts",
    gateway: "binary/gateway/concurrency_test.ts",
    api: "binary/api/two_servers_test.ts",
  },
  "FC-25": {
    acp: "binary/acp/store_test.ts",
    gateway: "field_cases/states_test.ts",
    api: "field_cases/states_test.ts",
  },
  "FC-26": {
    core: "binary/core/secrets_test.ts",
    acp: "field_cases/surfaces_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
  "FC-27": {
    acp: "binary/acp/turn_test.ts",
    gateway: "binary/gateway/turns_test.ts",
    api: "field_cases/surfaces_test.ts",
  },
};

Deno.test("every field case is in the table, and every file of the table cites its case", async () => {
  const names = Array.from({ length: 27 }, (_, n) => `FC-${String(n + 1).padStart(2, "0")}`);
  assertEquals(Object.keys(TABLE), names);
  const wrong: string[] = [];
  for (const [name, surfaces] of Object.entries(TABLE)) {
    for (const [surface, file] of Object.entries(surfaces)) {
      const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url)).catch(() => "");
      if (!text.includes(name)) wrong.push(`${name} on ${surface}: ${file} does not cite it`);
    }
  }
  assertEquals(wrong, []);
});
