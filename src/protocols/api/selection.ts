/**
 * Which model a request runs on (api-server.md D3, decision 25): a session's own choice, then an alias of
 * `model_routes`, then the named provider or model where it resolves, then the default. Nothing is persisted. The
 * answer echoes the name that was asked for; `runtime` tells what ran.
 */
import type { Hermes } from "@/app/mod.ts";
import {
  HermesError,
  type ModelChoice,
  type ResolvedModel,
  type Session,
  type SubmitOptions,
  type TurnResult,
} from "@/core/contract.ts";
import { ApiError, badRequest } from "./errors.ts";
import type { ModelFields } from "./schema/model.ts";
import { hasCreatedModel } from "./session_defaults.ts";

export type RouteSource = "session_model_override" | "model_routes" | "raw_request" | "global";

export interface Selection {
  /** `undefined` = whatever the session has. */
  readonly choice: ModelChoice | undefined;
  readonly source: RouteSource;
  readonly isDemo: boolean;
  readonly hasFastMode: boolean;
}

/**
 * Throws before anything was made: 400 for a provider that is unknown or contradicts its alias, 502 without
 * credentials, 503 when nothing is configured.
 */
export function selectModel(
  hermes: Hermes,
  fields: ModelFields,
  virtualModel: string,
  /** The name counts also where the setting says otherwise (runs, session chat). */
  always = false,
): Selection {
  const named = choose(hermes, fields, virtualModel, always);
  const resolved = resolve(hermes, named.choice, fields.provider !== "");
  return { ...named, ...factsOf(resolved) };
}

/**
 * A model chosen in the session itself outranks the request, and the request one that the session was created with; one
 * that was made for this request has none. Throws when there is none to run on.
 */
export function withSession(
  hermes: Hermes,
  selection: Selection,
  session: Session,
  isNew = false,
): Selection {
  if (isNew) return selection;
  const { model } = session;
  const isNamed = selection.choice !== undefined;
  if (model?.source === "session" && !(isNamed && hasCreatedModel(hermes.store(), session))) {
    return { choice: undefined, source: "session_model_override", ...factsOf(model) };
  }
  if (selection.choice !== undefined || model) return selection;
  throw session.modelError ?? new ApiError(502, "agent_incomplete", "The session has no usable model");
}

function factsOf({ isDemo, fastFactor }: ResolvedModel): Pick<Selection, "isDemo" | "hasFastMode"> {
  return { isDemo, hasFastMode: fastFactor !== undefined };
}

/** What of a body has no effect on this model, for `X-Hermes-Ignored`. */
export function ignoredHeader(
  request: ModelFields & { readonly ignored: readonly string[] },
  { hasFastMode }: Selection,
): Record<string, string> {
  const names = [...request.ignored, ...hasFastMode ? [] : request.fastOptions];
  return names.length === 0 ? {} : { "X-Hermes-Ignored": names.join(", ") };
}

/** What of the fields the turn itself is told. */
export function turnOptions({ reasoningEffort, fast }: ModelFields, { choice }: Selection): SubmitModel {
  return {
    ...(choice === undefined ? {} : { model: choice }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(fast === undefined ? {} : { fast }),
  };
}

type SubmitModel = Pick<SubmitOptions, "model" | "reasoningEffort" | "fast">;

interface Named {
  readonly choice: ModelChoice | undefined;
  readonly source: RouteSource;
}

const DEFAULT: Named = { choice: undefined, source: "global" };

function choose(hermes: Hermes, fields: ModelFields, virtualModel: string, always: boolean): Named {
  const { provider } = fields;
  const model = fields.model === virtualModel ? "" : fields.model;
  const settings = hermes.settings().gateway.api_server;
  const route = Object.hasOwn(settings.model_routes, model) ? settings.model_routes[model] : undefined;
  if (route) return { choice: routeChoice(model, route, provider), source: "model_routes" };
  if (provider !== "") {
    return { choice: model === "" ? { provider } : { provider, model }, source: "raw_request" };
  }
  if (model === "") return DEFAULT;
  if (always) return { choice: findKnown(hermes, model) ?? { model }, source: "raw_request" };
  if (settings.direct_model_requests === false) return DEFAULT;
  if (settings.direct_model_requests === true) return { choice: { model }, source: "raw_request" };
  const choice = findKnown(hermes, model);
  return choice ? { choice, source: "raw_request" } : DEFAULT;
}

interface Route {
  readonly model: string;
  readonly provider?: string;
  readonly api_key?: string;
  readonly base_url?: string;
}

function routeChoice(alias: string, route: Route, requested: string): ModelChoice {
  if (
    requested !== "" && (route.api_key || route.base_url || (route.provider && route.provider !== requested))
  ) {
    throw badRequest("The provider contradicts the one of this model alias", null, "provider");
  }
  const provider = route.provider ?? (requested === "" ? undefined : requested);
  return {
    model: route.model,
    ...(provider === undefined ? {} : { provider }),
    ...(route.base_url ? { baseUrl: route.base_url } : {}),
    ...(route.api_key ? { route: alias } : {}),
  };
}

/**
 * A name of the user's own for a model; a configured provider that has this model, the current one first; or the
 * provider that a prefix names, `custom:<name>` before `custom`.
 */
function findKnown(hermes: Hermes, name: string): ModelChoice | null {
  const { model_aliases: aliases, model } = hermes.settings();
  if (
    (Object.hasOwn(aliases, name) || Object.hasOwn(model.aliases, name)) && resolves(hermes, { model: name })
  ) {
    return { model: name };
  }
  const row = hermes.models.known().find((entry) => entry.model === name);
  if (row) return { provider: row.provider, model: row.model };
  const choices = [/^(custom:[^:/]+)::?(.+)$/i, /^([^:/]+)::?(.+)$/].flatMap((form) => {
    const [, provider, rest] = form.exec(name) ?? [];
    return provider && rest ? [{ provider, model: rest }] : [];
  });
  return choices.find((choice) => resolves(hermes, choice)) ?? null;
}

function resolves(hermes: Hermes, choice: ModelChoice): boolean {
  try {
    hermes.models.resolve(choice);
    return true;
  } catch (error) {
    if (error instanceof HermesError) return false;
    throw error;
  }
}

function resolve(hermes: Hermes, choice: ModelChoice | undefined, named: boolean): ResolvedModel {
  try {
    return hermes.models.resolve(choice);
  } catch (error) {
    const isUnknown = error instanceof HermesError &&
      (error.code === "invalid_provider" || error.code === "invalid_model");
    if (!named || !isUnknown) throw error;
    throw badRequest(error.message, null, error.code === "invalid_provider" ? "provider" : "model");
  }
}

/** The `runtime` block, when the answer must have one (B1.3). */
export function runtimeOf(
  fields: ModelFields,
  selection: Selection,
  result: TurnResult,
  virtualModel: string,
): Record<string, unknown> | null {
  const model = fields.model === virtualModel ? "" : fields.model;
  const selected = selection.source === "model_routes" || selection.source === "raw_request";
  const differs = model !== "" && model !== result.model;
  if (!selected && !differs && !selection.isDemo) return null;
  const requested = {
    ...(fields.provider === "" ? {} : { provider: fields.provider }),
    ...(model === "" ? {} : { model }),
  };
  return {
    provider: result.provider,
    model: result.model,
    route_source: selection.source,
    ...(Object.keys(requested).length === 0 ? {} : { requested }),
  };
}
