/**
 * Runs a method's handler: parameters are read first, and what the handler throws becomes a number of the contract
 * (tui-gateway.md A.6). Needs no schema library, so that the first method of a session can use it.
 */
import { toRpcError } from "../domain_errors.ts";
import type { Client, Method, MethodKind } from "../peer.ts";

export interface Call {
  readonly client: Client;
  /** Fires when the connection is being given up. */
  readonly signal: AbortSignal;
}

export interface Runnable<P> {
  readonly name: string;
  readonly kind: MethodKind | ((params: Readonly<Record<string, unknown>>) => MethodKind);
  /** The number for "the work itself failed"; -32000 when there is none. */
  readonly failCode?: number;
  /** Throws -32602 that names the first thing that is wrong. */
  read(params: Readonly<Record<string, unknown>>): P;
  handle(params: P, call: Call): unknown;
}

export function runnable<P>(definition: Runnable<P>): Method {
  const { name, kind, failCode } = definition;
  function fail(error: unknown): never {
    throw toRpcError(error, failCode);
  }
  function run(params: Readonly<Record<string, unknown>>, client: Client, signal: AbortSignal): unknown {
    try {
      const result = definition.handle(definition.read(params), { client, signal });
      return result instanceof Promise ? result.catch(fail) : result;
    } catch (error) {
      return fail(error);
    }
  }
  return { name, kind, run };
}
