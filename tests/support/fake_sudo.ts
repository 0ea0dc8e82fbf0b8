/**
 * A `sudo` for tests: wants a password on stdin (`-S`), tries once, then runs its command. It writes down how it was
 * called, and what of the password it could see in arguments and environment.
 */
import type { Rig } from "./program.ts";

export interface FakeSudo {
  /** Puts the fake in front of the machine's own programs. */
  readonly path: string;
  /** One line per call: its arguments. */
  calls(): Promise<string[]>;
  /** Arguments and environments of all calls, one after the other. */
  seen(): Promise<string>;
}

export async function installFakeSudo(rig: Rig, password: string): Promise<FakeSudo> {
  const folder = `${rig.home}/../fake`;
  await Deno.mkdir(folder, { recursive: true });
  const script = `#!/bin/bash
echo "$*" >> '${folder}/calls'
{ echo "$*"; env; } >> '${folder}/seen'
if [ "$1" = -n ]; then echo "sudo: a password is required" >&2; exit 1; fi
if [ "$1" != -S ]; then echo "sudo: a terminal is required to read the password" >&2; exit 1; fi
if [ "$2" != -p ] || [ "$3" != "" ]; then printf 'Password:' >&2; fi
IFS= read -r word
[ "$word" = "$(cat '${folder}/password')" ] || { echo "Sorry, try again." >&2; echo "sudo: 1 incorrect password attempt" >&2; exit 1; }
shift 3
exec "$@"
`;
  await Deno.writeTextFile(`${folder}/password`, password);
  await Deno.writeTextFile(`${folder}/sudo`, script);
  await Deno.chmod(`${folder}/sudo`, 0o755);
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`).catch(() => "");
  return {
    path: `${folder}:${rig.env["PATH"]}`,
    calls: async () => (await read("calls")).split("\n").filter((line) => line !== ""),
    seen: () => read("seen"),
  };
}
