/**
 * `--record FILE`: what models answer is written down as a script that `builtin:script` plays
 * (docs/scripted-model.md). Here is only the tap on the stream: the writer is loaded with the first call. A recording
 * that cannot be written never fails a turn; it ends, and that is told.
 */
import type { Logger, ModelClient, ModelRequest } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Recording } from "./record_writer.ts";

export interface RecorderOptions {
  readonly platform: Platform;
  /** Absolute; exists already and is ours (see `reserveRecording`). */
  readonly path: string;
  readonly log: Pick<Logger, "warn">;
  redact(text: string): string;
}

export interface Recorder {
  /** The same model, listened to. */
  tap(client: ModelClient): ModelClient;
  /** Ends the file in good order; what comes afterwards is not recorded. */
  close(): Promise<void>;
}

export function createRecorder(options: RecorderOptions): Recorder {
  let recording: Promise<Recording> | null = null;
  const open = () =>
    recording ??= import("./record_writer.ts").then(({ openRecording }) => openRecording(options));
  return {
    tap: (client) => ({
      info: client.info,
      stream: (request, options) =>
        request.unrecorded ? client.stream(request, options) : taped(client, request, options.signal, open),
    }),
    close: async () => await (await recording)?.close(),
  };
}

async function* taped(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
  open: () => Promise<Recording>,
) {
  const call = (await open()).begin(request, client.info);
  try {
    for await (const batch of client.stream(request, { signal })) {
      call.add(batch);
      yield batch;
    }
  } finally {
    await call.end();
  }
}
