/** `hermes acp --check` (acp.md C1, D1): what it looks at, and what it says. */
import config from "../../../deno.json" with { type: "json" };
import type { Hermes } from "../../../src/app/mod.ts";
import { checkInstallation } from "../../../src/protocols/acp/self_check.ts";
import { assertEquals } from "../../support/assert.ts";
import { HermesError } from "../../../src/core/contract.ts";

function installation(changes: {
  version?: string;
  warnings?: string[];
  check?: () => string;
}): Hermes {
  const hermes = {
    version: changes.version ?? config.version,
    config: { warnings: () => changes.warnings ?? [], env: () => undefined },
    store: () => ({ check: changes.check ?? (() => "ok") }),
    models: {
      resolve: () => {
        throw new HermesError("no_provider_configured", "No model provider is configured");
      },
    },
    platform: { execPath: () => "/bin/hermes" },
  };
  return hermes as unknown as Hermes;
}

Deno.test("checkInstallation() finds nothing in a whole installation, also without a provider", () => {
  assertEquals(checkInstallation(installation({})), []);
});

Deno.test("D1: checkInstallation() tells that the bundled manifest is of another version", () => {
  assertEquals(checkInstallation(installation({ version: "99.0.0" })), [
    `the bundled registry manifest names version ${config.version}, this is 99.0.0`,
  ]);
});

Deno.test("checkInstallation() tells a damaged database, one that cannot be opened, and what the configuration says", () => {
  const damaged = installation({ warnings: ["config.jsonc: unknown key"], check: () => "page 3 is lost" });
  assertEquals(checkInstallation(damaged), [
    "config.jsonc: unknown key",
    "the database is damaged: page 3 is lost",
  ]);
  const closed = installation({
    check: () => {
      throw new Error("it is of a newer version");
    },
  });
  assertEquals(checkInstallation(closed), ["cannot open the database: it is of a newer version"]);
});
