/** Conversations as JSON files (tui-gateway.md B.17 `session.save`): the messages as the model sees them, secrets out. */
import type { Hermes } from "@/app/mod.ts";
import type { Session } from "@/core/contract.ts";

/** Path of the new file under `$HERMES_HOME/sessions/saved`. */
export async function saveConversation(hermes: Hermes, session: Session): Promise<string> {
  const { platform } = hermes;
  const dir = `${hermes.home}/sessions/saved`;
  await platform.files.mkdir(dir, { mode: 0o700 });
  const stored = session.stored ? hermes.store().getSession(session.headId) : null;
  const content = {
    model: session.model?.model ?? hermes.settings().model.default,
    session_id: session.headId,
    session_start: new Date(session.createdAt * 1000).toISOString(),
    system_prompt: stored?.systemPrompt ?? "",
    messages: session.history(),
  };
  const path = await freePath(hermes, `${dir}/hermes_conversation_${stamp(platform.clock.now())}`, ".json");
  const masked = JSON.parse(
    JSON.stringify(content),
    (_, value) => typeof value === "string" ? hermes.redact(value) : value,
  );
  await platform.files.write(path, new TextEncoder().encode(`${JSON.stringify(masked, null, 2)}\n`), {
    mode: 0o600,
  });
  return path;
}

/** `YYYYMMDD_HHMMSS`, local time. */
export function stamp(milliseconds: number): string {
  const d = new Date(milliseconds);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}${two(d.getMonth() + 1)}${two(d.getDate())}_` +
    `${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}`;
}

/** `base` + `end`, with a number between them when that is taken. */
export async function freePath(hermes: Hermes, base: string, end: string): Promise<string> {
  for (let n = 1;; n++) {
    const path = n === 1 ? `${base}${end}` : `${base}_${n}${end}`;
    if (await hermes.platform.files.lstat(path) === null) return path;
  }
}
