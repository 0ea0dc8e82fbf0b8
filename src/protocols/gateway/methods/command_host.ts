/**
 * What slash commands can do around their session on this wire: each is the same function that the method of that
 * name uses, so `/branch` and `session.branch` cannot drift apart.
 */
import type { Hermes } from "@/app/mod.ts";
import type { CommandHost, OpenedSession } from "@/core/contract.ts";
import { saveConversation, wholeConversation } from "../export.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { startBackground } from "./background.ts";
import { compressionText, compressSession } from "./compress.ts";
import { writeSetting } from "./config_set.ts";
import { reloadMcp } from "./mcp.ts";
import { configureTools } from "./processes.ts";
import { announceBranch, branchSession } from "./session_edit.ts";
import { announce, openNew } from "./session_create.ts";
import { openStored } from "./sessions.ts";
import { describeForPeople, listSkills } from "./skills.ts";

export interface CommandPlace {
  readonly gateway: Gateway;
  readonly live: LiveSession;
  readonly client: Client;
  readonly signal: AbortSignal;
}

export function createCommandHost(place: CommandPlace): CommandHost {
  const { gateway, live, client, signal } = place;
  const { hermes } = gateway;
  return {
    create: async (title) => {
      const opened = await openNew(gateway, { cwd: live.session.cwd, cols: live.cols, title }, client);
      announce(opened);
      return describe(opened, title.trim() || null);
    },
    branch: async (name) => {
      const opened = await branchSession(gateway, live, client, { name });
      announceBranch(opened);
      return describe(opened);
    },
    resume: async (name) => {
      const { live: opened, cold } = await openStored(gateway, client, name, { cols: live.cols });
      const moved = opened.bind(client);
      if (cold) announce(opened);
      else if (moved) opened.questions.repeatTo(client, gateway.live.dialects.of(client));
      return describe(opened);
    },
    stored: (limit) => hermes.store().listSessions({ limit, excludeSources: ["subagent", "tool"] }),
    compress: async (wish) => compressionText(await compressSession(live, wish)),
    transcript: () => wholeConversation(hermes, live.session),
    background: (prompt) => startBackground(gateway, live, prompt),
    save: () => saveConversation(hermes, live.session),
    stopProcesses: () => hermes.stopProcesses(live.session),
    reloadMcp: async (wish) => {
      const done = await reloadMcp(gateway, wish);
      return done.status === "reloaded" ? "The MCP servers are reloaded." : `${done.message}.`;
    },
    skills: () => listSkills(hermes),
    manageSkills: (action, query) => describeForPeople(gateway, action, query, signal),
    reloadSkills: async () => {
      if (await gateway.live.skills.reload()) { for (const one of gateway.live.all()) one.emitInfo(); }
      const { length } = await listSkills(hermes);
      return length === 1 ? "1 skill." : `${length} skills.`;
    },
    atWork: () => atWork(hermes, live),
    configureTools: async (action, names) => {
      const { changed, unknown, enabled_toolsets: on } = await configureTools(gateway, { action, names });
      return [
        changed.length === 0
          ? "Nothing has changed."
          : `${action === "enable" ? "On" : "Off"}: ${changed.join(", ")}`,
        ...(unknown.length === 0 ? [] : [`No such toolset: ${unknown.join(", ")}`]),
        `Offered from the next turn on: ${on.join(", ")}`,
      ].join("\n");
    },
    setting: async (key, value) => {
      const { value: inForce } = await writeSetting({ gateway, live, value, scope: undefined, signal }, key);
      return String(inForce);
    },
  };
}

function atWork(hermes: Hermes, { session }: LiveSession): string[] {
  const children = hermes.sessions.delegation.active().filter((child) => child.sessionId === session.id);
  const running = hermes.processes(session).list().filter((process) => process["status"] === "running");
  return [
    ...children.map(({ id, goal, status, toolCount }) =>
      `${id} (${status}, ${toolCount} tool calls): ${goal}`
    ),
    ...running.map((process) =>
      `${process["session_id"]} (running, ${process["uptime_seconds"]} s): ${process["command"]}`
    ),
  ];
}

/** A title that waits for the first turn is told, too. */
function describe(live: LiveSession, pending: string | null = null): OpenedSession {
  const { session } = live;
  return { sessionId: live.sid, storedId: session.headId, title: session.title ?? pending };
}
