import type { ModelClient, ModelFailure, ResolvedModel } from "@/core/mod.ts";
import { Failover, Resting } from "../../src/core/failover.ts";
import { assertEquals } from "../support/assert.ts";

function client(model: string, provider = "p"): ModelClient {
  const info = { model, provider, baseUrl: `http://${provider}` } as ResolvedModel;
  return { info, stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(info) }) }) };
}

function failure(kind: ModelFailure["kind"]): ModelFailure {
  return { kind, message: "", provider: "p", model: "m", retryable: true };
}

let now = 0;
const none = () => new Resting(() => now);
const broken = (): never => {
  throw new Error("no credentials");
};

Deno.test("Failover.advance() passes over entries that cannot be used or are the model in force", () => {
  const models = new Failover(client("m"), [
    broken,
    () => client("m"),
    () => client("n"),
    () => client("o", "q"),
  ], none());
  assertEquals([models.advance(failure("auth")), models.client.info.model], [true, "n"]);
  assertEquals([models.advance(failure("auth")), models.client.info.model], [true, "o"]);
  assertEquals([models.advance(failure("auth")), models.client.info.model], [false, "o"]);
});

Deno.test("core 16: Failover.attempts() tries an overloaded model twice only while another is at hand", () => {
  const alone = new Failover(client("m"), [], none());
  const two = new Failover(client("m"), [() => client("n")], none());
  assertEquals([alone.attempts(failure("overloaded"), 3), two.attempts(failure("overloaded"), 3)], [3, 2]);
  assertEquals([two.attempts(failure("server_error"), 3), two.attempts(failure("timeout"), 0)], [3, 1]);
  two.advance(failure("auth"));
  assertEquals(two.attempts(failure("overloaded"), 3), 3);
});

Deno.test("Failover.prompt() names the model in force and leaves the primary's prompt as it is", () => {
  const models = new Failover(client("m"), [() => client("$&", "q")], none());
  const prompt = "Be good.\n\nModel: m\nProvider: p\n\nMore.";
  assertEquals(models.prompt(prompt), prompt);
  models.advance(failure("auth"));
  assertEquals(models.prompt(prompt), "Be good.\n\nModel: $&\nProvider: q\n\nMore.");
});

Deno.test("core A.11: after a rate limit the next turns start on the fallback for a minute, then on the primary", () => {
  const resting = none();
  const start = () => new Failover(client("m"), [() => client("n")], resting);
  const first = start();
  first.advance(failure("rate_limit"));
  assertEquals([first.client.info.model, first.isAway], ["n", true]);
  assertEquals(start().client.info.model, "n");
  now += 60_001;
  assertEquals([start().client.info.model, start().isAway], ["m", false]);
});

Deno.test("core A.11: other failures leave the primary in its place, an exhausted chain for five seconds only", () => {
  const resting = none();
  const start = () => new Failover(client("m"), [() => client("n")], resting);
  const first = start();
  first.advance(failure("auth"));
  assertEquals(start().client.info.model, "m");
  assertEquals(first.advance(failure("auth")), false);
  assertEquals(start().client.info.model, "n");
  now += 5_001;
  assertEquals(start().client.info.model, "m");
});

Deno.test("core A.11: the same model at the same place is passed over under another name, and two own endpoints are two", () => {
  const at = (model: string, provider: string, baseUrl: string): ModelClient => {
    const made = client(model, provider);
    return { ...made, info: { ...made.info, baseUrl } };
  };
  const models = new Failover(at("m", "custom", "http://a"), [
    () => at("m", "custom:a", "http://a"),
    () => at("m", "custom", "http://b"),
    () => at("n", "openrouter", "http://r"),
    () => at("n", "openrouter", "http://other"),
  ], none());
  const places = () => `${models.client.info.provider} ${models.client.info.baseUrl}`;
  assertEquals([models.advance(failure("auth")), places()], [true, "custom http://b"]);
  assertEquals([models.advance(failure("auth")), places()], [true, "openrouter http://r"]);
  assertEquals(models.advance(failure("auth")), false);
});

Deno.test("core A.11: Failover.attempts() tries no second time at a limit of the upstream while another model is at hand", () => {
  const alone = new Failover(client("m"), [], none());
  const two = new Failover(client("m"), [() => client("n")], none());
  const upstream = failure("upstream_rate_limit");
  assertEquals([alone.attempts(upstream, 3), two.attempts(upstream, 3)], [3, 1]);
  const resting = none();
  const rests = new Failover(client("m"), [() => client("n")], resting);
  assertEquals([rests.advance(upstream), resting.has(client("m").info)], [true, true]);
});
