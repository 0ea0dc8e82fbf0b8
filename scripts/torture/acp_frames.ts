/** Valid requests of an ACP client, one of every method and of every kind of content. */
import type { Known } from "./gateway_frames.ts";
import type { Random } from "./random.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export interface AcpRequest {
  readonly method: string;
  readonly params: unknown;
}

function block(known: Known, random: Random): unknown {
  return random.pick<unknown>([
    { type: "text", text: "hello" },
    { type: "text", text: "work" },
    { type: "text", text: "/help" },
    { type: "image", data: PIXEL, mimeType: "image/png" },
    { type: "audio", data: PIXEL, mimeType: "audio/wav" },
    { type: "resource_link", uri: `file://${known.rig.workspace}/a.txt`, name: "a.txt" },
    { type: "resource", resource: { uri: "file:///b.txt", mimeType: "text/plain", text: "inside" } },
    { type: "resource", resource: { uri: "file:///b.bin", blob: PIXEL } },
  ]);
}

export function acpRequest(known: Known, random: Random): AcpRequest {
  const sessionId = random.chance(0.08) ? "nope" : random.pick(known.sessions) ?? "none";
  const cwd = random.chance(0.1) ? "/nowhere" : known.rig.workspace;
  const prompt = Array.from({ length: 1 + random.below(3) }, () => block(known, random));
  const mcpServers: unknown[] = [];
  const choices: readonly (readonly [string, unknown])[] = [
    ["initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
    }],
    ["authenticate", { methodId: "none" }],
    ["session/new", { cwd, mcpServers }],
    ["session/new", { cwd, mcpServers: [{ name: "m", command: "/nowhere/mcp", args: [], env: [] }] }],
    ["session/load", { sessionId, cwd, mcpServers }],
    ["session/resume", { sessionId, cwd }],
    ["session/fork", { sessionId, cwd }],
    ["session/list", { cwd }],
    ["session/list", {}],
    ["session/close", { sessionId }],
    ["session/prompt", { sessionId, prompt }],
    ["session/prompt", { sessionId, prompt }],
    ["session/prompt", { sessionId, prompt: [{ type: "text", text: "work" }] }],
    ["_session/steering", { sessionId, prompt }],
    ["session/set_mode", { sessionId, modeId: random.pick(["default", "accept_edits", "dont_ask", "nope"]) }],
    ["session/set_config_option", {
      sessionId,
      configId: random.pick(["mode", "model", "x"]),
      value: "default",
    }],
    ["session/set_model", { sessionId, modelId: random.pick(["scripted", "custom:scripted", "nope"]) }],
    ["session/cancel", { sessionId }],
    ["session/delete", { sessionId: random.chance(0.3) ? sessionId : "nope" }],
    ["no/such", {}],
  ];
  const [method, params] = random.pick(choices);
  return { method, params };
}
