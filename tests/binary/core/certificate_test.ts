/** Failures that are the user's to mend end the turn with advice, also where a fallback is at hand: core A.11. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { failing, withCore } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { startTlsFront, writeCertificates } from "../../support/tls.ts";

Deno.test("core A.11 ssl_cert_verification: a certificate that is not trusted stops the turn with advice", async () => {
  await using model = await startModelServer({ turns: ["never"] });
  await using other = await startModelServer({ turns: ["never either"] });
  await using rig = await makeRig();
  const certificates = await writeCertificates(rig.workspace);
  await using front = await startTlsFront(new URL(model.url).origin, certificates);
  await rig.writeConfig(modelConfig(`${front.origin}/v1`, {
    fallback_model: { provider: "custom", model: "spare", base_url: other.url },
  }));
  const { code, stdout, stderr } = await runProgram(["run", "hi"], { rig });
  assertEquals([code, stdout.trim()], [1, ""], stderr);
  assertMatch(stderr, /The certificate of \S+ is not trusted \(set DENO_CERT or fix the system's store\)/);
  assertEquals([model.calls().length, other.calls().length], [0, 0]);
});

Deno.test("core A.11: without compression an overflow ends the turn with compaction_disabled, and no fallback is asked", async () => {
  await using other = await startModelServer({ turns: ["never"] });
  await withCore({
    model: { turns: [failing(400, "This model's maximum context length is 128000 tokens")] },
    config: {
      compression: { enabled: false },
      fallback_model: { provider: "custom", model: "spare", base_url: other.url },
    },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    const complete = await host.turn(sid, "hi");
    assertEquals([complete.status, model.calls().length, other.calls().length], ["error", 1, 0]);
    assertMatch(JSON.stringify(complete), /compaction_disabled: compression\.enabled is false/);
  });
});
