/**
 * The middle door of the core: the live sessions without what builds a prompt or reads a file for one. The path to
 * a first session ends here; `mod.ts` is the whole.
 */
export { LiveSessions } from "./sessions.ts";
