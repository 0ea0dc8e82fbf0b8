/** What the tests of runs have in common: starting one, following its events, waiting for a status. */
import { assertEquals } from "../../support/assert.ts";
import {
  type ApiCall,
  type ApiServer,
  collectSse,
  readSse,
  type SseFrame,
} from "../../support/api_driver.ts";
import { eventually } from "../../support/program.ts";

// deno-lint-ignore no-explicit-any
export type Wire = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Wire;
}

export async function ask(api: ApiServer, path: string, options: ApiCall = {}): Promise<Answer> {
  const response = await api.call(path, options);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Status and error code of an answer. */
export async function refusal(
  api: ApiServer,
  path: string,
  options: ApiCall = {},
): Promise<[number, unknown]> {
  const { status, body } = await ask(api, path, options);
  return [status, body.error?.code];
}

export async function startRun(
  api: ApiServer,
  body: Record<string, unknown> = { input: "go" },
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await ask(api, "/v1/runs", { body, headers });
  assertEquals([answer.status, answer.body.status, answer.body.replayed], [202, "started", false]);
  return answer.body.run_id;
}

export async function statusOf(api: ApiServer, id: string): Promise<Wire> {
  return (await ask(api, `/v1/runs/${id}`)).body;
}

export function untilStatus(api: ApiServer, id: string, ...wanted: string[]): Promise<Wire> {
  return eventually(
    async () => {
      const status = await statusOf(api, id);
      return wanted.includes(status.status) ? status : undefined;
    },
    15_000,
    `run ${id} to be ${wanted.join(" or ")}`,
  );
}

/** All events up to the end of the run. */
export async function eventsOf(
  api: ApiServer,
  id: string,
  headers: Record<string, string> = {},
): Promise<SseFrame[]> {
  return await collectSse(await api.call(`/v1/runs/${id}/events`, { headers }));
}

/** Events until `stop` says so; the connection is then closed. */
export async function eventsUntil(
  api: ApiServer,
  id: string,
  stop: (event: Wire) => boolean,
): Promise<Wire[]> {
  const events: Wire[] = [];
  for await (const frame of readSse(await api.call(`/v1/runs/${id}/events`))) {
    if (!frame.json) continue;
    events.push(frame.json);
    if (stop(frame.json)) break;
  }
  return events;
}

export function namesOf(frames: readonly SseFrame[]): string[] {
  return frames.flatMap((frame) => frame.json ? [frame.json.event] : []);
}

/** A tool call that the guard asks about. */
export function risky(name: string): { tool: string; args: Record<string, unknown> } {
  return { tool: "terminal", args: { command: `rm -rf ./${name}` } };
}
