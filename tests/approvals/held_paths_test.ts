/** Every entry of the lists of protected paths (core.md C.8). */
import { judgePath, type Places } from "@/approvals/sensitive.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { proposalFor, withGuard, withPolicy } from "./guard_support.ts";

/** Below the user's home; folders with what is in them. */
const OF_USER = [
  ".ssh",
  ".ssh/authorized_keys",
  ".ssh/keys/deep",
  ".aws",
  ".aws/credentials",
  ".gnupg/pubring.kbx",
  ".kube/config",
  ".docker/config.json",
  ".azure/token",
  ".config/gh/hosts.yml",
  ".config/gcloud/credentials.db",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
];
/** Below the data home. */
const OF_DATA = [
  ".env",
  ".anthropic_oauth.json",
  "mcp-tokens",
  "mcp-tokens/server.json",
  "pairing",
  "pairing/device.json",
  "pairing/deep/device.json",
  "auth.json",
  "config.jsonc",
];
const OF_SYSTEM = [
  "/etc/sudoers",
  "/etc/sudoers.d/x",
  "/etc/passwd",
  "/etc/shadow",
  "/etc/systemd/system/x.service",
  "/etc/hosts",
  "/boot/grub/grub.cfg",
  "/usr/lib/systemd/system/x.service",
  "/private/etc/hosts",
  "/private/var/db/x",
  "/var/run/docker.sock",
  "/run/docker.sock",
];
/** Names that only look like them. */
const FREE = [
  "/home/u/ssh/config.txt",
  "/home/u/.config/ghost/x",
  "/home/u/pairing/device.json",
  "/etcetera/hosts",
  "/run/docker.socket",
  "/run/user/x",
  "/var/run/x",
  "/usr/lib/x",
];

const PLACES: Places = {
  homes: ["/home/u"],
  data: ["/home/u/.hermes"],
  temp: ["/tmp"],
  foldCase: false,
  protectInstructions: true,
};

Deno.test("core C.8: each entry of the write-deny list and of the prefixes is denied, with what lies below it", () => {
  const denied = [
    ...OF_USER.map((name) => `/home/u/${name}`),
    ...OF_DATA.map((name) => `/home/u/.hermes/${name}`),
    ...OF_SYSTEM,
  ];
  for (const path of denied) assertEquals(judgePath(path, PLACES)?.level, "deny", path);
  for (const path of FREE) assertEquals(judgePath(path, PLACES), null, path);
  assertEquals(judgePath("/home/u/.hermes/pairings/x", PLACES)?.level, "ask");
});

Deno.test("core C.8: without a question with the diff a protected path is refused, on ACP it is asked about", async () => {
  await withGuard(async (rig) => {
    const { guard, user, home, cwd } = rig;
    Deno.mkdirSync(`${home}/pairing`);
    Deno.symlinkSync(`${home}/pairing`, `${cwd}/devices`);
    const paths = [
      ...OF_USER.map((name) => `${user}/${name}`),
      ...OF_DATA.map((name) => `${home}/${name}`),
      ...OF_SYSTEM,
      `${cwd}/devices/new.json`,
    ];
    for (const path of paths) {
      const refused = await guard.reviewEdit(proposalFor(path), withPolicy(rig, null));
      assert(refused.type === "block", path);
      assertMatch(JSON.parse(refused.content).error, /protected .*The file is unchanged/, path);
      for (const policy of ["ask", "workspace_session", "session"] as const) {
        assertEquals((await guard.reviewEdit(proposalFor(path), withPolicy(rig, policy))).type, "ask", path);
      }
    }
  });
});
