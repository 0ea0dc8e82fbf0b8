/** The contract as the program prints it, and values held against it. */
import { Ajv } from "ajv";
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { makeRig, startProgram } from "../../support/program.ts";

/** What `hermes gateway` with these arguments prints. */
export async function output(...args: string[]): Promise<string> {
  await using rig = await makeRig();
  const child = startProgram(["gateway", ...args], { rig });
  await child.stdin.close();
  const [status, out] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  assertEquals(status.code, 0);
  return out;
}

/** Checks values against the document. */
export class Contract {
  readonly document: Json;
  /** Methods that were called, and types of the events that were checked. */
  readonly seen = new Set<string>();
  readonly #ajv: Ajv;

  constructor(text: string) {
    this.document = JSON.parse(text);
    this.#ajv = new Ajv({ strict: false, allErrors: true });
    this.#ajv.addSchema({ $id: "c", components: this.document.components });
  }

  check(schema: Json, value: unknown, what: string): void {
    const linked = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"c#/components/'));
    const validate = this.#ajv.compile(linked);
    assert(validate(value), `${what}: ${this.#ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
  }

  event(params: Json): void {
    this.seen.add(params.type);
    const schema = this.document["x-events"][params.type];
    assert(schema !== undefined, `the contract has no event ${params.type}`);
    if (schema === null) assertEquals("payload" in params, false, params.type);
    else this.check(schema, params.payload, params.type);
  }

  method(name: string): Json {
    const found = this.document.methods.find((one: Json) => one.name === name);
    assert(found, `the contract has no method ${name}`);
    return found;
  }

  /** Calls, and holds what was sent and what came back against the contract. */
  async call(host: GatewayHost, name: string, params: Json = {}): Promise<Json> {
    const method = this.method(name);
    for (const [key, value] of Object.entries(params)) {
      const param = method.params.find((one: Json) => one.name === key);
      assert(param, `${name} has no parameter ${key}`);
      this.check(param.schema, value, `${name} ${key}`);
    }
    this.seen.add(name);
    const result = await host.request(name, params);
    this.check(method.result.schema, result, name);
    return result;
  }
}
