/**
 * How a client gets a usable model (acp.md C2): the auth methods that `initialize` offers, `authenticate`, and the
 * gate before a turn. Reads configuration only; no network, no prompt for a secret.
 */
import type { HermesBase } from "@/app/mod.ts";
import { HermesError, type ModelChoice } from "@/core/contract.ts";
import type { ClientCapabilities, Connection } from "./connection.ts";
import { AcpError, AUTH_REQUIRED, fromHermesError, invalidParams } from "./errors.ts";
import type { AuthMethod } from "./sdk.ts";

const DEMO: AuthMethod = {
  id: "builtin-demo",
  name: "Try the built-in demo model (no account, no network)",
  description: "A small rule-based model inside this program. It runs real tools and says that it is a demo.",
};

const DEMO_CHOICE: ModelChoice = { model: "builtin:demo" };

function setupMethod(client: ClientCapabilities, hermes: Foundation): AuthMethod {
  const id = "hermes-setup";
  const name = "Configure Hermes provider";
  const description = "Opens the interactive provider and model setup in a terminal.";
  if (client.terminalAuth) return { type: "terminal", id, name, description, args: ["--setup"] };
  if (client.legacyTerminalAuth) {
    const command = hermes.platform.execPath();
    return {
      id,
      name,
      description,
      _meta: { "terminal-auth": { label: name, command, args: ["acp", "--setup"] } },
    };
  }
  return {
    id: "hermes-credentials",
    name: "Use credentials of this machine",
    description:
      "Run `hermes acp --setup` in a terminal (or set a provider key in the environment), then try again.",
  };
}

/** The part of the program that the handshake needs. */
export type Foundation = Pick<HermesBase, "version" | "platform" | "config" | "models">;

/** The provider that resolves with credentials; `null` when none does or it is the demo. */
export function usableProvider(hermes: Foundation): string | null {
  try {
    const model = hermes.models.resolve();
    return model.isDemo ? null : model.provider.toLowerCase();
  } catch (error) {
    if (error instanceof HermesError) return null;
    throw error;
  }
}

/** In the order of acp.md C2, never empty. */
export function listAuthMethods(hermes: Foundation, client: ClientCapabilities): AuthMethod[] {
  const provider = usableProvider(hermes);
  const offersSetup = client.terminalAuth || client.legacyTerminalAuth;
  return [
    ...(provider === null ? [] : [{
      id: provider,
      name: `${provider} runtime credentials`,
      description: `Uses the credentials for ${provider} that are configured on this machine.`,
    }]),
    ...(offersSetup || provider === null ? [setupMethod(client, hermes)] : []),
    DEMO,
  ];
}

function authRequired(connection: Connection, message: string): AcpError {
  const { authMethods } = connection.handshake;
  return new AcpError(AUTH_REQUIRED, message, { authMethods, hint: "hermes acp --setup" });
}

/** Throws -32602 for an id that was not offered, -32000 when the machine still has no usable provider. */
export function authenticate(connection: Connection, methodId: string): void {
  const { hermes } = connection;
  const id = methodId.trim().toLowerCase();
  hermes.config.reloadEnv();
  const provider = usableProvider(hermes);
  if (id === DEMO.id) {
    connection.chosenModel = DEMO_CHOICE;
    return;
  }
  const known = id === provider || id === "hermes-setup" || connection.handshake.authMethods.includes(id);
  if (!known) throw invalidParams(`Unknown auth method "${methodId.slice(0, 100)}"`, { methodId });
  if (provider === null) throw authRequired(connection, "No usable model provider is configured yet");
  connection.chosenModel = undefined;
}

/** The error of the provider gate: -32000 for credentials, -32602 for an unusable model. */
export function gateError(connection: Connection, error: unknown): unknown {
  if (!(error instanceof HermesError)) return error;
  const mapped = fromHermesError(error);
  return mapped.code === AUTH_REQUIRED ? authRequired(connection, error.message) : mapped;
}

/** Throws when a session with this choice could not run a turn. */
export function requireModel(connection: Connection, choice: ModelChoice | undefined): void {
  try {
    connection.hermes.models.resolve(choice);
  } catch (error) {
    throw gateError(connection, error);
  }
}
