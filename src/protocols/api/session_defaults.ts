/**
 * What a session was created with over this API, for its turns: a system layer, and a model that gives way to one that a
 * request names (api-server.md B10, D3), while one that was chosen in the session itself does not.
 */
import type { Session, Store } from "@/core/contract.ts";

type Meta = Pick<Store, "getMeta" | "setMeta">;

/** Empty when there is none. */
export function systemOf(store: Meta, id: string): string {
  return store.getMeta(systemKey(id)) ?? "";
}

export async function keepSystem(store: Meta, id: string, text: string): Promise<void> {
  await store.setMeta(systemKey(id), text);
}

/** To be called when the session has just been made with a model. */
export async function keepModel(store: Meta, session: Session): Promise<void> {
  await store.setMeta(modelKey(session.id), modelText(session));
}

/** False once another one was chosen. */
export function hasCreatedModel(store: Meta, session: Session): boolean {
  return store.getMeta(modelKey(session.id)) === modelText(session);
}

export async function copyDefaults(store: Meta, from: string, to: string): Promise<void> {
  for (const keyOf of [systemKey, modelKey]) {
    const value = store.getMeta(keyOf(from)) ?? "";
    if (value !== "") await store.setMeta(keyOf(to), value);
  }
}

function systemKey(id: string): string {
  return `api.system.${id}`;
}

function modelKey(id: string): string {
  return `api.model.${id}`;
}

function modelText({ model }: Session): string {
  return JSON.stringify([model?.provider ?? null, model?.model ?? null]);
}
