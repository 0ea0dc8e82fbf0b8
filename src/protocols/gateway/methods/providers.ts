/**
 * Keys of providers (tui-gateway.md B.17): written to `.env` and never shown; and whether the model that is set can
 * really be called.
 */
import * as z from "zod/mini";
import { HermesError } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const text = optional(z.string());

interface ProviderRow {
  readonly slug: string;
  readonly name: string;
  readonly key_env?: string;
}

export function providerMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  return [
    method({
      name: "model.save_key",
      kind: "worker",
      params: z.object({ slug: text, api_key: text }),
      failCode: 5034,
      handle: async (params) => {
        const [slug, key] = [params.slug?.trim() ?? "", params.api_key?.trim() ?? ""];
        if (slug === "" || key === "") throw new RpcError(4001, "slug and api_key are required");
        await hermes.config.setEnv(await keyNameOf(gateway, slug), key);
        return { provider: await rowOf(gateway, slug) };
      },
    }),
    method({
      name: "model.disconnect",
      kind: "worker",
      params: z.object({ slug: text }),
      failCode: 5035,
      handle: async (params) => {
        const slug = params.slug?.trim() ?? "";
        if (slug === "") throw new RpcError(4001, "slug is required");
        const name = await keyNameOf(gateway, slug);
        if (hermes.config.env(name) === undefined) throw new RpcError(4005, `${slug} has no key to remove`);
        await hermes.config.setEnv(name, "");
        if (hermes.config.env(name) !== undefined) {
          throw new RpcError(4005, `${name} is set in the environment of this process; remove it there`);
        }
        return { slug, name: (await rowOf(gateway, slug)).name, disconnected: true };
      },
    }),
    method({
      name: "setup.runtime_check",
      kind: "worker",
      params: z.object({ session_id: anything }),
      failCode: 5016,
      handle: (params, { signal }) => checkRuntime(gateway, params.session_id, signal),
    }),
  ];
}

async function rowOf(gateway: Gateway, slug: string): Promise<ProviderRow> {
  const { providers } = await gateway.hermes.models.options({ includeUnconfigured: true });
  const row = (providers as readonly ProviderRow[]).find((one) => one.slug === slug);
  if (!row) throw new RpcError(4002, `unknown provider "${slug}"`);
  return row;
}

async function keyNameOf(gateway: Gateway, slug: string): Promise<string> {
  const { key_env: name } = await rowOf(gateway, slug);
  if (name === undefined) throw new RpcError(4003, `${slug} does not use an API key`);
  return name;
}

async function checkRuntime(
  gateway: Gateway,
  sid: unknown,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { models } = gateway.hermes;
  try {
    const live = sid === undefined || sid === null ? undefined : gateway.live.require(sid);
    const model = live?.session.model ?? models.resolve();
    const { ok, message } = await models.probe(model, { signal });
    return { ok, model: model.model, provider: model.provider, ...(ok ? {} : { error: message }) };
  } catch (error) {
    if (!(error instanceof HermesError)) throw error;
    return { ok: false, model: "", provider: "", error: error.message };
  }
}
