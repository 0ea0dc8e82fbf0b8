/**
 * Families of methods that the first prompts of a session do not need: their code is loaded with their first call. What
 * has to be known before that is written here, each name with its class (a test keeps it in step with the families).
 */
import type { Method, MethodKind } from "../peer.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";

type BuildFamily = (gateway: Gateway) => DefinedMethod[];

export interface LaterFamily {
  readonly kinds: Readonly<Record<string, MethodKind>>;
  load(): Promise<BuildFamily>;
}

export const LATER: readonly LaterFamily[] = [
  {
    kinds: {
      "session.undo": "inline",
      "session.branch": "worker",
      "session.compress": "worker",
      "session.save": "inline",
      "session.cwd.set": "inline",
    },
    load: async () => (await import("./session_edit.ts")).sessionEditMethods,
  },
  {
    kinds: { "rollback.list": "inline", "rollback.diff": "inline", "rollback.restore": "inline" },
    load: async () => (await import("./rollback.ts")).rollbackMethods,
  },
  {
    kinds: { "prompt.background": "worker" },
    load: async () => (await import("./background.ts")).backgroundMethods,
  },
  {
    kinds: { "skills.manage": "worker", "skills.reload": "worker" },
    load: async () => (await import("./skills.ts")).skillMethods,
  },
  { kinds: { "reload.mcp": "worker" }, load: async () => (await import("./mcp.ts")).mcpMethods },
  { kinds: { "cli.exec": "worker" }, load: async () => (await import("./cli_exec.ts")).cliMethods },
  {
    kinds: {
      "image.attach": "inline",
      "input.detect_drop": "inline",
      "clipboard.paste": "worker",
      "paste.collapse": "inline",
    },
    load: async () => (await import("./attachments.ts")).attachmentMethods,
  },
  {
    kinds: { "image.attach_bytes": "inline", "image.detach": "inline", "file.attach": "inline" },
    load: async () => (await import("./uploads.ts")).uploadMethods,
  },
  { kinds: { "pdf.attach": "worker" }, load: async () => (await import("./pdf_attach.ts")).pdfMethods },
  { kinds: { "llm.oneshot": "worker" }, load: async () => (await import("./oneshot.ts")).oneshotMethods },
  { kinds: { "insights.get": "inline" }, load: async () => (await import("./insights.ts")).insightMethods },
  {
    kinds: {
      "toolsets.list": "inline",
      "tools.list": "inline",
      "tools.show": "inline",
      "agents.list": "inline",
      "plugins.list": "inline",
      "config.show": "inline",
    },
    load: async () => (await import("./views.ts")).viewMethods,
  },
  {
    kinds: { "complete.path": "worker" },
    load: async () => (await import("./complete_path.ts")).completePathMethods,
  },
  {
    kinds: {
      "process.list": "worker",
      "process.kill": "worker",
      "tools.configure": "worker",
      "session.context_breakdown": "worker",
    },
    load: async () => (await import("./processes.ts")).processMethods,
  },
  {
    kinds: { "model.save_key": "worker", "model.disconnect": "worker", "setup.runtime_check": "worker" },
    load: async () => (await import("./providers.ts")).providerMethods,
  },
  {
    kinds: {
      "delegation.status": "inline",
      "delegation.pause": "inline",
      "subagent.interrupt": "inline",
      "subagent.steer": "inline",
      "subagent.list": "inline",
      "subagent.tail": "inline",
    },
    load: async () => (await import("./delegation.ts")).delegationMethods,
  },
  {
    kinds: { "spawn_tree.save": "inline", "spawn_tree.list": "inline", "spawn_tree.load": "inline" },
    load: async () => (await import("./spawn_tree.ts")).spawnTreeMethods,
  },
  {
    kinds: {
      "voice.toggle": "worker",
      "voice.record": "worker",
      "voice.tts": "worker",
      "credits.view": "inline",
      "billing.state": "worker",
      "billing.charge": "inline",
      "billing.charge_status": "inline",
      "billing.auto_reload": "inline",
      "billing.step_up": "worker",
      "learning.frames": "worker",
      "learning.detail": "inline",
      "learning.delete": "inline",
      "learning.edit": "inline",
      "pet.cells": "worker",
      "pet.gallery": "worker",
      "pet.select": "worker",
      "plugins.manage": "worker",
      "browser.manage": "worker",
    },
    load: async () => (await import("./absent.ts")).absentMethods,
  },
];

/** Stand-ins that load the family when one of them is called. */
export function laterMethods(gateway: Gateway, family: LaterFamily): Method[] {
  let loading: Promise<ReadonlyMap<string, Method>> | null = null;
  async function find(name: string): Promise<Method> {
    loading ??= family.load().then((build) => new Map(build(gateway).map((method) => [method.name, method])));
    const found = (await loading).get(name);
    if (!found) throw new Error(`${name} is not in its family`);
    return found;
  }
  return Object.entries(family.kinds).map(([name, kind]) => ({
    name,
    kind,
    run: async (params, client, signal) => await (await find(name)).run(params, client, signal),
  }));
}
