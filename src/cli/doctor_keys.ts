/** `hermes doctor` about the keys in `auth.json`: how many each provider has, and how many rest. No key is shown. */
import { plural } from "@/lib/plural.ts";
import type { Hermes } from "@/app/mod.ts";
import { loadAuth } from "@/models/mod.ts";
import type { Finding } from "./doctor.ts";

export async function checkPools({ platform, home }: Hermes): Promise<readonly Finding[]> {
  const { listPooled, authPath } = await loadAuth();
  const { keys, isBroken } = listPooled(platform, home);
  if (isBroken) {
    return [{
      check: "keys",
      status: "fail",
      message: `${authPath(home)} is broken, its keys are not used`,
      advice: "mend or remove that file, then hermes auth add",
    }];
  }
  const providers = [...new Set(keys.map(({ provider }) => provider))];
  return providers.map((provider) => {
    const all = keys.filter((key) => key.provider === provider);
    const resting = all.filter(({ status }) => status === "resting");
    const message = `${provider}: ${plural(all.length, "key")}`;
    if (resting.length === 0) return { check: "keys", status: "ok", message };
    const until = new Date(Math.min(...resting.map((key) => key.restsUntil ?? 0)) * 1000).toISOString();
    return {
      check: "keys",
      status: resting.length === all.length ? "warn" : "info",
      message: `${message}, ${resting.length} ${resting.length === 1 ? "rests" : "rest"} until ${until}`,
      advice: `hermes auth list ${provider}`,
    };
  });
}
