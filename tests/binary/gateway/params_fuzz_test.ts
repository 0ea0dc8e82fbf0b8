/**
 * Every method of the contract with every parameter as it should not be (tui-gateway.md A.6, A.7): the answer is a
 * result or a refusal with a number of the contract, never a fault of the program.
 */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { output } from "./contract_check.ts";
import { withGateway } from "./scene.ts";

const ODD: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  9_007_199_254_740_993,
  1e308,
  "",
  " ",
  "no/such\u0000thing",
  "\u202e\ud83d",
  "x".repeat(20_000),
  [],
  [null],
  [["a"]],
  {},
  { toString: 1 },
  { __proto__: null, constructor: "x" },
];

/** What would end the session of the test. */
const LEFT_OUT = new Set(["session.close", "session.delete"]);

/** Plausible values, so that one odd parameter is looked at behind the checks of the others. */
const PLAUSIBLE: Readonly<Record<string, Json>> = {
  key: "details_mode",
  value: "hidden",
  command: "/status",
  name: "status",
  text: "said",
  choice: "deny",
  argv: [],
  action: "list",
  names: ["web"],
  subagents: [{ id: 1 }],
  path: "a.png",
  cwd: ".",
  word: "a",
  hash: 1,
  last_seen: 0,
  slug: "nowhere",
  title: "T",
  request_id: "00000000",
  subagent_id: "sa-0-00000000",
};

interface Answer {
  readonly what: string;
  readonly code: number | null;
  readonly message: string;
}

async function tryAll(host: GatewayHost, sid: string, methods: readonly Json[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { name, params } of methods) {
    const plain = Object.fromEntries(
      params.flatMap((param: Json) =>
        param.name === "session_id"
          ? [["session_id", sid]]
          : param.name in PLAUSIBLE
          ? [[param.name, PLAUSIBLE[param.name]]]
          : []
      ),
    );
    for (const param of params) {
      const ids = await Promise.all(
        ODD.map((value) => host.post(name, { ...plain, [param.name]: value })),
      );
      for (const [at, value] of ODD.entries()) {
        const { error } = await host.response(ids[at]);
        const what = `${name} ${param.name}=${JSON.stringify(value)?.slice(0, 60)}`;
        answers.push({ what, code: error?.code ?? null, message: error?.message ?? "" });
      }
    }
  }
  return answers;
}

Deno.test("A.6: no odd parameter of any method is a fault of the program", async () => {
  const { methods } = JSON.parse(await output("--schema"));
  const chosen = methods.filter(({ name }: Json) => !LEFT_OUT.has(name));
  await withGateway({ model: { respond: () => "said" } }, async ({ host }) => {
    const { sid } = await host.session();
    const answers = await tryAll(host, sid, chosen);
    const faults = answers.filter(({ code }) => code === -32603 || code === -32000 || code === -32601);
    assertEquals(faults, []);
    const isOurs = (code: number | null) => code === null || code === -32602 || (code >= 4000 && code < 6000);
    assertEquals(answers.filter(({ code }) => !isOurs(code)), []);
    assert(answers.some(({ code }) => code === null) && answers.some(({ code }) => code === -32602));
    assertEquals(await host.request("ping"), { pong: true });
  });
});
