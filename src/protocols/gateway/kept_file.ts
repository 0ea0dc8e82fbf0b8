/** Files that a host has given and that have to last: each under a free name in a folder of the program's own. */
import type { Hermes } from "@/app/mod.ts";
import { freePath } from "./export.ts";

export interface KeptFile {
  /** Made when it is not there, for the user alone. */
  readonly folder: string;
  readonly name: string;
  /** With its dot; may be empty. */
  readonly ending: string;
  readonly bytes: Uint8Array;
}

/** The path it got. */
export async function keepFile(hermes: Hermes, { folder, name, ending, bytes }: KeptFile): Promise<string> {
  const { files } = hermes.platform;
  await files.mkdir(folder, { mode: 0o700 });
  for (;;) {
    const path = await freePath(hermes, `${folder}/${name}`, ending);
    try {
      await files.write(path, bytes, { mode: 0o600, fresh: true });
      return path;
    } catch (error) {
      // Another connection took the name in the meantime.
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}
