/**
 * The `initialize` answer (acp.md C2, D1): always the full result, built without a schema library, network or
 * store, so that it is out within milliseconds of the start. Only what works is advertised.
 */
import { type Foundation, listAuthMethods } from "./auth.ts";
import { type Handshake, readCapabilities } from "./connection.ts";
import type { Params } from "./envelope.ts";
import { invalidParams } from "./errors.ts";
import { type AuthMethod, type InitializeResponse, PROTOCOL_VERSION } from "./sdk.ts";

const AGENT_CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: false, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  auth: {},
  sessionCapabilities: {
    list: {},
    resume: {},
    close: {},
    delete: {},
    additionalDirectories: {},
    fork: {},
  },
  _meta: { hermes: { sessionProvenance: {}, background: {} } },
};

/** What the pinned manifest of the client says, when it is not this version (acp.md D1). */
export function manifestMismatch(hermes: Foundation): { manifest: string; binary: string } | null {
  const manifest = hermes.config.env("HERMES_ACP_MANIFEST_VERSION");
  return manifest === undefined || manifest === hermes.version ? null : { manifest, binary: hermes.version };
}

function agentInfo(hermes: Foundation): NonNullable<InitializeResponse["agentInfo"]> {
  const mismatch = manifestMismatch(hermes);
  return {
    name: "hermes-agent",
    title: "Hermes Agent",
    version: hermes.version,
    ...(mismatch ? { _meta: { hermes: { manifestMismatch: mismatch } } } : {}),
  };
}

/** Throws -32602 when `protocolVersion` is not an integer of 0 to 65535. */
export function initialize(
  hermes: Foundation,
  params: Params,
): { result: InitializeResponse; handshake: Handshake } {
  const version = params.protocolVersion;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 0 || version > 65535) {
    throw invalidParams("Invalid params: protocolVersion must be an integer from 0 to 65535", {
      issues: [{ path: "protocolVersion", message: "must be an integer from 0 to 65535" }],
    });
  }
  const client = readCapabilities(params);
  const authMethods = listAuthMethods(hermes, client);
  return {
    result: initializeResult(hermes, authMethods),
    handshake: { client, authMethods: authMethods.map((method) => method.id) },
  };
}

/** The answer itself; the same whatever the client asked for. */
export function initializeResult(hermes: Foundation, authMethods: AuthMethod[]): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: agentInfo(hermes),
    agentCapabilities: AGENT_CAPABILITIES,
    authMethods,
    _meta: { steering: { supported: true } },
  };
}
