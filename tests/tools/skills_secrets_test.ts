/** `src/tools/skills_secrets.ts`: what a skill may ask the human for (core C.7). */
import { assertEquals } from "../support/assert.ts";
import { mayBeAskedFor } from "../../src/tools/skills_secrets.ts";

const HOST = {
  store: () => Promise.resolve(),
  isReserved: (name: string) => name === "OPENAI_API_KEY",
  warn: () => {},
};

Deno.test("mayBeAskedFor() takes names of services, never those that steer the program or the system", () => {
  for (const name of ["WEATHER_KEY", "jira_token", "_X", "GITHUB_TOKEN"]) {
    assertEquals(mayBeAskedFor(name, HOST), true, name);
  }
  const refused = [
    "OPENAI_API_KEY",
    "HERMES_YOLO_MODE",
    "_HERMES_FORCE_PATH",
    "API_SERVER_KEY",
    "SUDO_PASSWORD",
    "PATH",
    "LD_PRELOAD",
    "HTTPS_PROXY",
    "https_proxy",
    "NODE_OPTIONS",
    "GIT_SSH_COMMAND",
    "A=B",
    "",
    "9X",
  ];
  for (const name of refused) assertEquals(mayBeAskedFor(name, HOST), false, name);
});
