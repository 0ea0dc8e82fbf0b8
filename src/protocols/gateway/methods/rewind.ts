/**
 * The rewind of `prompt.submit` (tui-gateway.md B.11): is it one, and may it happen? The checks run in the order of
 * the contract, the first that fails answers, and nothing is written here. Cutting is never guessed: a target that
 * is not found is an error, not a reason to look elsewhere.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Message, Session, UserMessage } from "@/core/contract.ts";
import { isUserTurn } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import { isTruthy } from "./define.ts";

export interface RewindParams {
  readonly truncate_before_user_ordinal?: unknown;
  readonly truncate_before_row_id?: unknown;
  readonly truncate_before_message_id?: unknown;
  readonly confirm_truncate?: unknown;
  readonly confirm_empty_truncate?: unknown;
  readonly restore_files?: unknown;
}

export interface RewindTarget {
  /** `null` while nothing is stored: the cut is in memory only. */
  readonly rowId: number | null;
  /** 0-based among the user turns of this session's own rows. */
  readonly ordinal: number;
  /** When the turn was submitted (Unix seconds). */
  readonly at: number;
  /** Row ids of the user's turns as they are shown, those of compressed ancestors included; empty without rows. */
  readonly shown: readonly number[];
  /** Those of them that are this session's own. */
  readonly own: ReadonlySet<number>;
}

/**
 * `null` when the submit is an ordinary one. Throws the refusals 4004, 4009 and 4029 at once, and rejects with 4009,
 * 4018, 4028, 4030: others are served while a long conversation is searched.
 */
export function checkRewind(
  hermes: Hermes,
  live: LiveSession,
  params: RewindParams,
): Promise<RewindTarget> | null {
  const given = {
    ordinal: params.truncate_before_user_ordinal ?? null,
    rowId: params.truncate_before_row_id ?? null,
    messageId: params.truncate_before_message_id ?? null,
  };
  const confirmed = isTruthy(params.confirm_truncate);
  const hasTarget = given.ordinal !== null || given.rowId !== null || given.messageId !== null;
  if (!hasTarget && !confirmed && !isTruthy(params.restore_files)) return null;
  refuseBusy(live);
  if (!hasTarget) throw new RpcError(4004, "a rewind needs a target, best truncate_before_row_id");
  const rowId = given.rowId === null ? null : toInteger("truncate_before_row_id", given.rowId);
  const ordinal = given.ordinal === null ? null : toInteger("truncate_before_user_ordinal", given.ordinal);
  if (!confirmed) throw new RpcError(4029, "a rewind needs confirm_truncate: true");
  return resolveTarget(hermes, live, { rowId, ordinal, messageId: given.messageId }, params);
}

function refuseBusy({ busy, session }: LiveSession): void {
  if (busy || session.running) throw new RpcError(4009, "session busy: cannot rewind while a turn runs");
}

/** Integer numbers and decimal-integer strings; nothing else counts as one. */
function toInteger(name: string, value: unknown): number {
  const isNumber = typeof value === "number" && Number.isSafeInteger(value);
  if (isNumber) return value as number;
  if (typeof value === "string" && /^-?\d{1,15}$/.test(value.trim())) return Number(value);
  throw new RpcError(4004, `${name} must be an integer`);
}

interface Wanted {
  readonly rowId: number | null;
  readonly ordinal: number | null;
  readonly messageId: unknown;
}

async function resolveTarget(
  hermes: Hermes,
  live: LiveSession,
  wanted: Wanted,
  params: RewindParams,
): Promise<RewindTarget> {
  const { session } = live;
  const { own, lineage } = await readRows(hermes, session);
  refuseBusy(live);
  const turns = own.filter(isUserTurn);
  const shown = lineage.filter(isUserTurn);
  const ancestors = shown.length - turns.length;
  const named = wanted.rowId !== null || wanted.messageId !== null;
  const at = named
    ? findNamed(turns, wanted, shown)
    : findOrdinal(turns, wanted.ordinal!, ancestors, session.stored);
  if (named && wanted.ordinal !== null && wanted.ordinal !== at && wanted.ordinal !== at + ancestors) {
    throw new RpcError(4030, "the ordinal and the durable id name different turns");
  }
  refuseEmptying(own, turns[at]!, params);
  return {
    rowId: turns[at]!.rowId ?? null,
    ordinal: at,
    at: turns[at]!.timestamp ?? 0,
    shown: rowIdsOf(shown),
    own: new Set(rowIdsOf(turns)),
  };
}

function rowIdsOf(turns: readonly UserMessage[]): number[] {
  return turns.flatMap(({ rowId }) => rowId === undefined ? [] : [rowId]);
}

interface Rows {
  readonly own: readonly Message[];
  readonly lineage: readonly Message[];
}

/** In slices, and both of one moment; in one go when the conversation has moved on meanwhile. */
async function readRows(hermes: Hermes, session: Session): Promise<Rows> {
  const { headId } = session;
  const history = session.history();
  const { length } = history;
  if (!session.stored) return { own: history, lineage: history };
  const store = hermes.store();
  const rows = { own: await store.fetchMessages(headId), lineage: await store.fetchLineage(headId) };
  if (session.headId === headId && session.history() === history && history.length === length) return rows;
  return { own: store.loadMessages(session.headId), lineage: store.loadLineage(session.headId) };
}

/** Among `turns`; one of `shown` that is not among them survives in a compressed ancestor only. */
function findNamed(turns: readonly UserMessage[], wanted: Wanted, shown: readonly UserMessage[]): number {
  const id = wanted.rowId ?? messageRowId(wanted.messageId);
  const isIt = (turn: UserMessage) => turn.rowId !== undefined && turn.rowId === id;
  const at = turns.findIndex(isIt);
  if (at !== -1) return at;
  const old = shown.findIndex(isIt);
  throw stale(turns.length, old === -1 ? wanted.ordinal : old, shown.length - turns.length);
}

/** Our turns have no other id than their row. */
function messageRowId(value: unknown): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

function findOrdinal(
  turns: readonly UserMessage[],
  ordinal: number,
  ancestors: number,
  stored: boolean,
): number {
  const at = ordinal - ancestors;
  if (at < 0 || at >= turns.length) throw stale(turns.length, ordinal, ancestors);
  if (stored) throw new RpcError(4004, "a stored session is rewound by truncate_before_row_id");
  return at;
}

function stale(count: number, ordinal: number | null, ancestors: number): RpcError {
  return new RpcError(4018, "the rewind target is not a user turn of this session; refetch the history", {
    user_turn_count: count + ancestors,
    ordinal,
    segment_ordinal: ordinal === null ? null : ordinal - ancestors,
    prefix_user_count: ancestors,
  });
}

function refuseEmptying(own: readonly Message[], target: UserMessage, params: RewindParams): void {
  if (own.indexOf(target) !== 0 || isTruthy(params.confirm_empty_truncate)) return;
  throw new RpcError(4028, "the rewind would empty the conversation; it needs confirm_empty_truncate: true");
}
