/** File contents inside events, with secrets out before they are shown (field case FC-26). Pure. */
import type { CoreEvent, FileEdit } from "@/core/contract.ts";

export type Redact = (text: string) => string;

export function redactEdit(edit: FileEdit, redact: Redact): FileEdit {
  return {
    path: edit.path,
    oldText: edit.oldText === null ? null : redact(edit.oldText),
    newText: edit.newText === null ? null : redact(edit.newText),
  };
}

/** The event itself unless it carries edits; everything else in it is redacted already. */
export function withRedactedEdits(event: CoreEvent, redact: Redact): CoreEvent {
  if (event.type !== "tool.end" || event.edits.length === 0) return event;
  return { ...event, edits: event.edits.map((edit) => redactEdit(edit, redact)) };
}
