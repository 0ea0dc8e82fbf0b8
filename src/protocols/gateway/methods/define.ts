/**
 * How a method is written down: name, class, shape of its parameters, handler. The shape is checked before the
 * handler runs (-32602 names the first thing that is wrong); unknown members are ignored, `null` counts as absent.
 */
import * as z from "zod/mini";
import type { Shape } from "@/lib/shape.ts";
import { RpcError } from "../errors.ts";
import type { Method } from "../peer.ts";
import type { Call, Runnable } from "./runner.ts";
import { runnable } from "./runner.ts";

export type { Call } from "./runner.ts";
export { isTruthy } from "../truthy.ts";

export interface Definition<S extends z.ZodMiniType> extends Omit<Runnable<z.output<S>>, "read" | "handle"> {
  readonly params: S;
  handle(params: z.output<S>, call: Call): unknown;
}

/** A method with the shape of its parameters, for the contract. */
export interface DefinedMethod extends Method {
  readonly params: z.ZodMiniType | Shape<unknown>;
}

export function method<S extends z.ZodMiniType>(definition: Definition<S>): DefinedMethod {
  const { params: schema, ...rest } = definition;
  return { ...runnable({ ...rest, read: (params) => parseParams(schema, params) }), params: schema };
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
