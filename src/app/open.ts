/**
 * With `foundation.ts` and `rooms.ts` the only place that wires the rooms together. A new session needs what is here;
 * the rest (`rooms.ts`) comes with `ready()`, and every turn waits for it.
 */
import {
  type CoreServices,
  createFitImage,
  DirectoryLooks,
  HermesError,
  type ResolvedModel,
  type Store,
} from "@/core/contract.ts";
import { LiveSessions } from "@/core/live.ts";
import { within } from "@/lib/abort.ts";
import { profileHome, profileRoot } from "@/lib/profile.ts";
import type { Redact } from "@/lib/redact.ts";
import { isYes } from "@/lib/yes.ts";
import { createMcp } from "@/mcp/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { openStore } from "@/store/mod.ts";
import { cardOf } from "@/tools/cards/mod.ts";
import { createLocalFiles } from "@/tools/local_files.ts";
import { scrubEnvironment } from "./child_env.ts";
import { Journal } from "./journal.ts";
import { lateGuard, LateRooms } from "./late_rooms.ts";
import type { Hermes, HermesBase, HermesOptions } from "./mod.ts";
import type { Rooms, RoomsDeps } from "./rooms.ts";
import { VERSION } from "./version.ts";

/** How long the end waits for the last entries of the audit trail. */
const JOURNAL_MS = 1_000;

/** An editor is not kept waiting for a locked database (acp.md D6): the turn goes on and is stored when that is possible. */
const EDITOR_WAIT_MS = 5_000;

async function loadRooms(deps: RoomsDeps): Promise<Rooms> {
  const { createRooms } = await import("./rooms.ts");
  return createRooms(deps);
}

/** The record with its rooms still to come; `makeRooms` brings them at once. */
export function openHermes(
  base: HermesBase,
  options: HermesOptions,
  makeRooms?: (deps: RoomsDeps) => Rooms,
): Hermes {
  const { platform, config, log, models } = base;
  const redactor: Redact = (text, mode) => base.redact(text, mode);

  let opened: Store | null = null;
  function store(): Store {
    if (!opened) {
      makeHome(platform, config.home);
      opened = openStore(options.storePath ?? `${config.home}/hermes.db`, {
        platform,
        log,
        foldBack: async (path, signal) => {
          const { createFoldBack } = await import("./fold_back.ts");
          await createFoldBack(platform, config.home)(path, signal);
        },
        ...(options.surface === "acp" ? { longestWaitMs: EDITOR_WAIT_MS } : {}),
      });
    }
    return opened;
  }

  /** Opened to be read and closed; `null` for a profile that has stored nothing. */
  function profileStore(name: string): Store | null {
    const path = `${profileHome(profileRoot(config.home), name)}/hermes.db`;
    return platform.files.statSync(path)?.isFile ? openStore(path, { platform, log }) : null;
  }

  const childEnv = () =>
    scrubEnvironment(platform.env(), models.secretEnvNames(), config.settings(), {
      names: rooms.maybe?.skills.declared ?? [],
      value: (name) => config.env(name),
    });
  const disk = createLocalFiles(platform);
  /** A host of the gateway may switch it off for its process (tui-gateway.md I). */
  const keepsFiles = () =>
    config.settings().snapshots?.enabled !== false &&
    !(options.surface === "tui" && isFalse(config.env("HERMES_TUI_CHECKPOINTS")));
  const deps: RoomsDeps = {
    base,
    options,
    disk,
    store,
    profileStore,
    childEnv,
    recorded: () => journal.written(),
    keepsFiles,
  };
  const rooms = new LateRooms(() => loadRooms(deps));
  if (makeRooms) rooms.bind(makeRooms(deps));
  const journal = new Journal({
    platform,
    home: config.home,
    log,
    store,
    settings: () => config.settings(),
    keepsFiles,
    redact: (text) => redactor(text, "full"),
  });
  const mcp = createMcp({
    platform,
    config,
    log,
    redact: (text) => redactor(text, "full"),
    keepSecret: (value) => base.keepSecret(value),
    version: VERSION,
    surface: options.surface,
    childEnv,
  });

  const services: CoreServices = {
    platform,
    log,
    models,
    guard: lateGuard(rooms, redactor),
    redactStream: base.redactStream,
    home: config.home,
    looks: new DirectoryLooks(platform.files),
    settings: () => config.settings(),
    store,
    delegations: () => store().delegations,
    ready: () => rooms.ready(),
    tools: (surface) => rooms.maybe?.lists.of(surface).tools ?? [],
    toolSpecs: (surface) => rooms.maybe?.lists.of(surface).specs ?? [],
    env: (name) => config.env(name),
    childEnv,
    fitImage: createFitImage({ platform, home: config.home, env: childEnv }),
    external: mcp,
    get skills() {
      return rooms.maybe?.skills;
    },
    restored: (scope, history) => rooms.when((there) => there.restored(scope, history)),
    forgotten: (scope) => rooms.when((there) => there.forgotten(scope)),
    onSession: (session) => journal.watch(session),
    yolo: options.yolo ?? isYes(config.env("HERMES_YOLO_MODE")),
    execAsk: isYes(config.env("HERMES_EXEC_ASK")),
    persistModel: (model) => persistModel(model),
  };

  async function persistModel(model: ResolvedModel): Promise<void> {
    await config.write(["model", "default"], model.model);
    await config.write(["model", "provider"], model.provider);
    await config.write(["model", "base_url"], model.baseUrl || undefined);
  }

  const sessions = new LiveSessions(services, disk);
  return {
    ...base,
    sessions,
    disk,
    mcp,
    childEnv,
    store,
    ready: () => rooms.ready(),
    get isReady() {
      return rooms.isReady;
    },
    get guard() {
      return rooms.now.guard;
    },
    get tools() {
      return rooms.now.tools;
    },
    cardOf,
    get skills() {
      return rooms.now.skills;
    },
    browserTools: () => rooms.now.browserTools(),
    get commands() {
      return rooms.now.commands;
    },
    get fileHistory() {
      return rooms.now.fileHistory;
    },
    refuseRead: (path) => rooms.now.refuseRead(path),
    stopProcesses: (session) => rooms.now.stopProcesses(session),
    processes: (session) => rooms.now.processes(session),
    shutdown: async (reason, limits) => {
      await Promise.all([sessions.closeAll(reason, limits ?? {}), mcp.close()]);
      await within(journal.close(), JOURNAL_MS);
      if (base.logWritten) await within(base.logWritten(), JOURNAL_MS);
      if (base.closeRecording) await within(base.closeRecording(), JOURNAL_MS);
      if (opened) await within(opened.settled(), JOURNAL_MS);
      opened?.close();
      opened = null;
    },
  };
}

function makeHome(platform: Platform, home: string): void {
  try {
    platform.files.mkdirSync(home, { mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = "Set HERMES_HOME to a folder that can be written.";
    throw new HermesError("store_failed", `Cannot use the data home ${home}: ${reason}. ${advice}`, { home });
  }
}

function isFalse(value: string | undefined): boolean {
  return value !== undefined && /^(0|false|no|off)$/i.test(value.trim());
}
