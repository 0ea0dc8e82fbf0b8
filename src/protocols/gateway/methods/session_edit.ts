/** Methods that change one stored conversation (tui-gateway.md B.9, B.10, B.17): undo, branch, compress, cwd, save. */
import * as z from "zod/mini";
import { parseCompression } from "@/commands/mod.ts";
import { undoTurns } from "@/core/mod.ts";
import { toRpcError } from "../domain_errors.ts";
import { RpcError } from "../errors.ts";
import { saveConversation } from "../export.ts";
import { renderSlowly } from "../projection.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { compressSession } from "./compress.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";
import { usableCwd } from "./session_create.ts";

const text = optional(z.string());

export function sessionEditMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes, live: sessions } = gateway;
  return [
    method({
      name: "session.undo",
      kind: "inline",
      params: z.object({ session_id: anything }),
      failCode: 5008,
      handle: async (params) => {
        const live = sessions.require(params.session_id);
        refuseBusy(live, "undo");
        return { removed: (await undoTurns(live.session, 1))?.removed ?? 0 };
      },
    }),
    method({
      name: "session.branch",
      kind: "worker",
      params: z.object({ session_id: anything, name: text, count: optional(z.int()) }),
      failCode: 5008,
      handle: (params, { client }) => branch(gateway, params, client),
    }),
    method({
      name: "session.compress",
      kind: "worker",
      params: z.object({ session_id: anything, focus_topic: text }),
      failCode: 5005,
      handle: async (params) => {
        const live = sessions.require(params.session_id);
        refuseBusy(live, "compress");
        const done = await compressSession(live, parseCompression(params.focus_topic ?? ""));
        return {
          ...done,
          usage: live.usage(),
          info: live.info(),
          messages: await renderSlowly(hermes, live.session.history(), live.session.cwd),
        };
      },
    }),
    method({
      name: "session.save",
      kind: "inline",
      params: z.object({ session_id: anything }),
      failCode: 5011,
      handle: async (params) => {
        const live = sessions.require(params.session_id);
        try {
          return { file: await saveConversation(hermes, live.session) };
        } catch (error) {
          throw new RpcError(5011, `Cannot save the conversation: ${String(error)}`);
        }
      },
    }),
    method({
      name: "session.cwd.set",
      kind: "inline",
      params: z.object({ session_id: anything, cwd: text }),
      failCode: 5000,
      handle: async (params) => {
        const live = sessions.require(params.session_id);
        if (!params.cwd?.trim()) throw new RpcError(4016, "cwd is required");
        const path = await usableCwd(gateway, params.cwd);
        refuseBusy(live, "change the directory");
        await live.session.setCwd(path);
        return live.info();
      },
    }),
  ];
}

function refuseBusy(live: LiveSession, what: string): void {
  if (live.running || live.session.running) {
    throw new RpcError(4009, `session busy: cannot ${what} while a turn runs`);
  }
}

interface BranchParams {
  readonly session_id?: unknown;
  readonly name?: string | undefined;
  readonly count?: number | undefined;
}

async function branch(gateway: Gateway, params: BranchParams, client: Client): Promise<Reply> {
  const parent = gateway.live.require(params.session_id);
  const live = await branchSession(gateway, parent, client, params);
  const { session } = live;
  const messages = await renderSlowly(gateway.hermes, session.history(), session.cwd);
  const result = {
    session_id: live.sid,
    stored_session_id: session.headId,
    title: session.title ?? "",
    parent: parent.session.headId,
    message_count: messages.length,
    messages,
    info: live.info(),
  };
  return new Reply(result, () => announceBranch(live));
}

/** The first info of a branch, which says so where it has no model that can be used. */
export function announceBranch(live: LiveSession): void {
  live.emitFirstInfo().catch((error) => live.onFault("session.info", error));
}

/** A stored copy, opened live for this client; the parent stays as it is. Throws 4008, 4022, 4090, 5008, 5000. */
export async function branchSession(
  gateway: Gateway,
  parent: LiveSession,
  client: Client,
  options: { readonly name?: string | undefined; readonly count?: number | undefined },
): Promise<LiveSession> {
  const { hermes, live: sessions } = gateway;
  if (options.count !== undefined && options.count < 1) {
    throw new RpcError(4008, "there is nothing to branch");
  }
  return await sessions.withPlace(async () => {
    if (parent.session.history().length > 0) await parent.session.store();
    const title = branchTitle(gateway, parent, options.name);
    const session = await hermes.sessions.fork(parent.session.id, {
      surface: "tui",
      editPolicy: null,
      cwd: parent.session.cwd,
      ...(title === undefined ? {} : { title }),
      ...(options.count === undefined ? {} : { count: options.count }),
    }).catch((error) => {
      throw toRpcError(error, 5008);
    });
    return sessions.attach(session, { client, cols: parent.cols, closeOnDisconnect: false });
  });
}

/** `undefined`: the store gives the next number of the parent's title. */
function branchTitle(gateway: Gateway, parent: LiveSession, name: string | undefined): string | undefined {
  if (name?.trim()) return name;
  if (parent.session.title !== null) return undefined;
  const store = gateway.hermes.store();
  return store.findByTitle("branch") === null ? "branch" : store.nextTitle("branch");
}
