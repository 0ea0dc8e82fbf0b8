/** Door of the persistence room: sessions, messages and search in one SQLite file (core.md D). */
export { type FoldBackElsewhere, foldLogBack } from "./fold_back.ts";
export { openStore } from "./store.ts";
export { hashText, SnapshotFiles } from "./snapshot_files.ts";
