/**
 * `memory`: what the agent keeps for later sessions (core.md B.7), in two small files. The prompt of the running
 * session does not change; the next session sees what was saved.
 */
import { isMemoryEnabled, memoryLimit, memoryPath, type MemoryTarget, type Tool } from "@/core/mod.ts";
import { type Args, maybeString, ToolError } from "./args.ts";
import { memory } from "./cards/knowledge.ts";
import { changeMemory, type MemoryOperation } from "./memory_file.ts";
import { stageWrite } from "./pending_writes.ts";
import { fail, settle, succeed } from "./result.ts";

const ACTIONS = ["add", "replace", "remove"] as const;
const MAX_OPERATIONS = 50;

function readTarget(args: Args): MemoryTarget {
  const target = maybeString(args, "target")?.trim().toLowerCase();
  if (target === "memory" || target === "user") return target;
  throw new ToolError("'target' must be memory (your notes) or user (facts about the user)");
}

function readOperation(raw: Args): MemoryOperation {
  const action = ACTIONS.find((name) => name === maybeString(raw, "action")?.trim().toLowerCase());
  if (!action) throw new ToolError(`'action' must be one of ${ACTIONS.join(", ")}`);
  return {
    action,
    content: maybeString(raw, "content") ?? "",
    oldText: maybeString(raw, "old_text") ?? "",
  };
}

function readOperations(args: Args): MemoryOperation[] {
  const { operations } = args;
  if (operations === undefined || operations === null) return [readOperation(args)];
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_OPERATIONS) {
    throw new ToolError(`'operations' must be a list of 1 to ${MAX_OPERATIONS} objects with an action`);
  }
  return operations.map((item) => {
    if (typeof item !== "object" || item === null) throw new ToolError("Each operation must be an object");
    return readOperation(item as Args);
  });
}

export function createMemory(): Tool {
  return {
    name: "memory",
    toolset: "memory",
    description:
      "Saves short facts for later sessions. user: who the user is, what they prefer; memory: this " +
      "machine, conventions, lessons. replace, remove: old_text is a part of the entry. When full, make " +
      "room in the same call with operations (all or nothing).",
    parameters: {
      type: "object",
      properties: {
        target: { type: "string", enum: ["memory", "user"] },
        action: { type: "string", enum: [...ACTIONS] },
        content: { type: "string" },
        old_text: { type: "string" },
        operations: {
          type: "array",
          items: {
            type: "object",
            properties: {
              action: { type: "string" },
              content: { type: "string" },
              old_text: { type: "string" },
            },
            required: ["action"],
          },
        },
      },
      required: ["target"],
    },
    parallel: "never",
    available: ({ settings }) => isMemoryEnabled(settings, "memory") || isMemoryEnabled(settings, "user"),
    describe: memory,
    execute(args, context) {
      return settle(async () => {
        const target = readTarget(args);
        const { settings, platform, home } = context;
        if (!isMemoryEnabled(settings, target)) {
          return fail(`The ${target} memory is turned off`, { success: false });
        }
        const operations = readOperations(args);
        if (settings.memory.write_approval) {
          return await stageWrite("memory", { target, operations }, context);
        }
        const limit = memoryLimit(settings, target);
        const { entries, usage } = await changeMemory(platform, memoryPath(home, target), limit, operations);
        return succeed({
          success: true,
          done: true,
          target,
          usage,
          entry_count: entries.length,
          message: "Saved. The prompt of this session stays as it is; later sessions see it",
          ...(entries.join("").length > limit * 0.8
            ? { note: "Nearly full: merge or remove entries soon" }
            : {}),
        });
      }, { success: false });
    },
  };
}
