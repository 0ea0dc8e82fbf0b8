/**
 * Methods of hosts for things that this program does not have (tui-gateway.md B.17): each answers in the shape its
 * host knows for "not there", so that no screen breaks on an unknown method.
 */
import * as z from "zod/mini";
import { RpcError } from "../errors.ts";
import type { MethodKind } from "../peer.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, NO_PARAMS, optional } from "./define.ts";

const LOGGED_OUT = { ok: true, logged_in: false, message: "This program has no account and no billing" };
const text = optional(z.string());

/** Of those that a host asks this of, the ones that take long elsewhere (A.5). */
const WORKERS = new Set(["billing.state", "billing.step_up", "learning.frames"]);

function kindOf(name: string): MethodKind {
  return WORKERS.has(name) || /^(voice|pet)\./.test(name) ? "worker" : "inline";
}

function fixed(name: string, result: Record<string, unknown>): DefinedMethod {
  return method({ name, kind: kindOf(name), params: NO_PARAMS, handle: () => result });
}

function refused(name: string, code: number, message: string): DefinedMethod {
  return method({
    name,
    kind: kindOf(name),
    params: NO_PARAMS,
    handle: () => {
      throw new RpcError(code, message);
    },
  });
}

export function absentMethods(): DefinedMethod[] {
  const noVoice = "Voice is not available in this program";
  const noLearning = "There is no learning journal in this program";
  return [
    refused("voice.toggle", 5025, noVoice),
    refused("voice.record", 5025, noVoice),
    method({
      name: "voice.tts",
      kind: "worker",
      params: z.object({ text }),
      handle: (params) => {
        if (!params.text?.trim()) throw new RpcError(4020, "text is required");
        throw new RpcError(5026, noVoice);
      },
    }),
    fixed("credits.view", LOGGED_OUT),
    fixed("billing.state", LOGGED_OUT),
    ...["charge", "charge_status", "auto_reload", "step_up"].map((name) =>
      fixed(`billing.${name}`, { ...LOGGED_OUT, ok: false, error: "not_logged_in" })
    ),
    ...["frames", "detail", "delete", "edit"].map((name) => refused(`learning.${name}`, 5000, noLearning)),
    fixed("pet.cells", { enabled: false }),
    fixed("pet.gallery", { enabled: false, active: null, pets: [] }),
    method({
      name: "pet.select",
      kind: "worker",
      params: z.object({ slug: text }),
      handle: (params) => {
        if (!params.slug) throw new RpcError(4004, "slug is required");
        return { ok: false, enabled: false };
      },
    }),
    pluginMethod(),
    browserMethod(),
  ];
}

function pluginMethod(): DefinedMethod {
  return method({
    name: "plugins.manage",
    kind: "worker",
    params: z.object({ action: text, name: text, enable: anything }),
    failCode: 5026,
    handle: ({ action = "list", name }) => {
      if (action === "list") return { plugins: [], user_count: 0, bundled_count: 0 };
      if (action !== "toggle") throw new RpcError(4017, `unknown action: ${action}`);
      throw new RpcError(4019, name ? `no such plugin: ${name}` : "name is required");
    },
  });
}

function browserMethod(): DefinedMethod {
  return method({
    name: "browser.manage",
    kind: "worker",
    params: z.object({ action: text, url: text, session_id: anything }),
    failCode: 5031,
    handle: ({ action = "status" }) => {
      if (action === "status" || action === "disconnect") return { connected: false };
      if (action !== "connect") throw new RpcError(4015, `unknown action: ${action}`);
      throw new RpcError(
        5031,
        "The gateway connects to no browser; `hermes serve` can be lent one by its extension",
      );
    },
  });
}
