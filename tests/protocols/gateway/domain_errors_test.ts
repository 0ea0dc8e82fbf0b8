/** Numbers of failures to write (tui-gateway.md A.7): a full disk has one of its own, on `prompt.submit` alone. */
import { HermesError } from "@/core/mod.ts";
import { toRpcError } from "@/protocols/gateway/domain_errors.ts";
import { assertEquals } from "../../support/assert.ts";

const SUBMIT = 5071;
const TITLE = 5007;

function system(code: string): Error {
  return Object.assign(new Error(`${code}: no`), { code });
}

Deno.test("A.7: a full disk is 5070 on prompt.submit; what else cannot be written there is 5071", () => {
  const full = new HermesError("store_failed", "database or disk is full", { diskFull: true });
  const cases: readonly (readonly [unknown, number, number])[] = [
    [full, SUBMIT, 5070],
    [system("ENOSPC"), SUBMIT, 5070],
    [system("EDQUOT"), SUBMIT, 5070],
    [new HermesError("store_failed", "disk I/O error"), SUBMIT, 5071],
    [new HermesError("store_locked", "locked"), SUBMIT, 5071],
    [system("EROFS"), SUBMIT, 5071],
    [new HermesError("store_newer", "newer"), SUBMIT, 5072],
    [full, TITLE, TITLE],
    [system("ENOSPC"), TITLE, TITLE],
  ];
  const codes = cases.map(([error, failCode]) => (toRpcError(error, failCode) as { code: number }).code);
  assertEquals(codes, cases.map(([, , code]) => code));
  assertEquals((toRpcError(full) as { code: number }).code, -32000);
  const other = system("ENOSPC");
  assertEquals(toRpcError(other), other);
});
