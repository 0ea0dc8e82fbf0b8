/**
 * `session_search`: looking back into stored conversations (core.md B.12). What is asked follows from the arguments:
 * scroll around a message, read a session, discover by words, browse the newest. Reads only; the conversation that asks
 * is left out, it is before the model already.
 */
import { HermesError, type Tool } from "@/core/contract.ts";
import { profileNameFault, profileOf } from "@/lib/profile.ts";
import { type Args, maybeNumber, maybeString, ToolError } from "./args.ts";
import { sessionSearch } from "./cards/knowledge.ts";
import { settle, succeed } from "./result.ts";
import { discover } from "./session_search_discover.ts";
import { type Look, type SessionReader, sharing } from "./session_search_look.ts";
import { browse, findSession, read, scroll } from "./session_search_read.ts";

/** Opens what another profile has stored, to be read and closed; `null` when there is nothing. */
export type OpenProfile = (name: string) => (SessionReader & { close(): void }) | null;

export function createSessionSearch(sessions: () => SessionReader, openProfile?: OpenProfile): Tool {
  return {
    name: "session_search",
    toolset: "session_search",
    description: "Earlier conversations: query finds by words (prefix*, OR, NOT); session_id reads one, " +
      "around_message_id a place in it; profile: another profile's; nothing lists the newest.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string" },
        limit: { type: "integer", maximum: 10, default: 3 },
        sort: { type: "string", enum: ["newest", "oldest"] },
        session_id: { type: "string" },
        around_message_id: { type: "integer" },
        window: { type: "integer", maximum: 20, default: 5 },
        role_filter: { type: "string", default: "user,assistant" },
        profile: { type: "string" },
      },
    },
    parallel: "safe",
    describe: sessionSearch,
    execute(args, context) {
      const place = {
        store: sessions,
        current: context.sessionId,
        own: profileOf(context.home),
        openProfile,
      };
      return settle(() => Promise.resolve().then(() => succeed(storeErrors(() => lookIn(args, place)))), {
        success: false,
      });
    },
  };
}

interface Place {
  store(): SessionReader;
  readonly current: string;
  /** Name of this profile. */
  readonly own: string;
  readonly openProfile: OpenProfile | undefined;
}

/** Here, or in the profile that `profile` or the beginning of `session_id` names. */
function lookIn(args: Args, { store, current, own, openProfile }: Place): Record<string, unknown> {
  const here: Look = { store: store(), current, prefix: "" };
  const id = maybeString(args, "session_id")?.trim() ?? "";
  const [, before, rest = id] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
  const isPlain = before === undefined || profileNameFault(before) !== null ||
    here.store.getSession(id) !== null;
  const named = maybeString(args, "profile")?.trim();
  const profile = named || (isPlain ? own : before);
  const asked: Args = isPlain || (named && named !== before) ? args : { ...args, session_id: rest };
  if (profile === own) return answer(asked, here);
  // Who sees only his own conversations here sees none elsewhere.
  const isAllowed = profileNameFault(profile) === null && sharing(here)("");
  const other = isAllowed ? openProfile?.(profile) ?? null : null;
  if (other === null) {
    if (named) throw new ToolError(`There is no profile '${profile}' with conversations`);
    return answer(args, here); // ids and titles have slashes, too
  }
  try {
    return answer(asked, { store: other, current: "", prefix: `${profile}/` });
  } finally {
    other.close();
  }
}

/** A store that cannot answer is told to the model in words. */
function storeErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof HermesError) throw new ToolError(error.message);
    throw error;
  }
}

function answer(args: Args, look: Look): Record<string, unknown> {
  const id = maybeString(args, "session_id")?.trim();
  const query = maybeString(args, "query")?.trim();
  if (id) {
    const row = findSession(id, look);
    const anchor = maybeNumber(args, "around_message_id");
    return anchor === null ? read(row, look) : scroll(row, anchor, args, look);
  }
  if (maybeNumber(args, "around_message_id") !== null) {
    throw new ToolError("'around_message_id' needs the 'session_id' it belongs to");
  }
  return query ? discover(query, args, look) : browse(args, look);
}
