/** What a server has taught us about itself; shared by the calls of one session to one model. */
import type { Lesson } from "./refusals.ts";

export interface ServerMemory {
  /** It answered a stream request with a whole object: not asked again (core.md A.5 rule 1). */
  answersWhole: boolean;
  /** It refused the output cap that we add by ourselves. */
  refusesCap: boolean;
  readonly lessons: Set<Lesson>;
  /** Digests of what it was asked, where it may answer from a cache. */
  readonly asked: Set<string>;
}

export function newMemory(): ServerMemory {
  return { answersWhole: false, refusesCap: false, lessons: new Set(), asked: new Set() };
}
