/**
 * `hermes fold-back <database>`: folds the log of a session database back. No command for people: a door starts it
 * after it has written much (`src/app/fold_back.ts`).
 */
import type { Platform } from "@/platform/mod.ts";
import { foldLogBack } from "@/store/mod.ts";

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const [path] = args;
  if (path === undefined) {
    platform.stderr("usage: fold-back <database>");
    return Promise.resolve(2);
  }
  try {
    foldLogBack(path);
    return Promise.resolve(0);
  } catch (error) {
    platform.stderr(String(error));
    return Promise.resolve(1);
  }
}
