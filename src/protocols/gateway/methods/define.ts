/**
 * How a method is written down: name, class, shape of its parameters, handler. The shape is checked before the
 * handler runs (-32602 names the first thing that is wrong); unknown members are ignored, `null` counts as absent.
 */
import * as z from "zod/mini";
import { toRpcError } from "../domain_errors.ts";
import { RpcError } from "../errors.ts";
import type { Client, Method, MethodKind } from "../peer.ts";

export interface Call {
  readonly client: Client;
  /** Fires when the connection is being given up. */
  readonly signal: AbortSignal;
}

export interface Definition<S extends z.ZodMiniType> {
  readonly name: string;
  readonly kind: MethodKind | ((params: Readonly<Record<string, unknown>>) => MethodKind);
  readonly params: S;
  /** The number for "the work itself failed"; -32000 when there is none. */
  readonly failCode?: number;
  handle(params: z.output<S>, call: Call): unknown;
}

/** A method with the shape of its parameters, for the contract. */
export interface DefinedMethod extends Method {
  readonly params: z.ZodMiniType;
}

export function method<S extends z.ZodMiniType>(definition: Definition<S>): DefinedMethod {
  const { name, kind, params: schema, failCode } = definition;
  function fail(error: unknown): never {
    throw toRpcError(error, failCode);
  }
  function run(params: Readonly<Record<string, unknown>>, client: Client, signal: AbortSignal): unknown {
    try {
      const result = definition.handle(parseParams(schema, params), { client, signal });
      return result instanceof Promise ? result.catch(fail) : result;
    } catch (error) {
      return fail(error);
    }
  }
  return { name, kind, run, params: schema };
}

function parseParams<S extends z.ZodMiniType>(schema: S, params: unknown): z.output<S> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.path.join(".") || "params";
  const expected = "expected" in issue ? `must be ${article(String(issue.expected))}` : "is not valid";
  throw new RpcError(-32602, `invalid params: ${path} ${expected}`);
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Optional, and `null` means absent. */
export function optional<T extends z.ZodMiniType>(
  schema: T,
): z.ZodMiniPipe<z.ZodMiniNullable<z.ZodMiniOptional<T>>, z.ZodMiniTransform<z.output<T> | undefined>> {
  return z.pipe(
    z.nullable(z.optional(schema)),
    z.transform((value) => (value ?? undefined) as z.output<T> | undefined),
  );
}

/** Any JSON value: ids of sessions and requests are judged by the handler (4001, 4006, 4009). */
export const anything: z.ZodMiniOptional<z.ZodMiniUnknown> = z.optional(z.unknown());

export const NO_PARAMS: z.ZodMiniObject<Record<string, never>> = z.object({});

/** "Truthy" of the vocabulary: `true`, one of the yes-words, or any other truthy non-string. */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== "string") return Boolean(value);
  return ["1", "true", "yes", "on"].includes(value.trim().toLowerCase());
}
