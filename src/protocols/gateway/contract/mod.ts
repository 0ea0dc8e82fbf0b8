/** The contract of this door for people who write hosts: as OpenRPC, or as TypeScript declarations. */
import { contractDocument } from "./document.ts";
import { contractTypes } from "./types.ts";

export type ContractForm = "schema" | "types";

/** The whole text, ended by a line break. */
export async function printContract(form: ContractForm, version: string): Promise<string> {
  const document = await contractDocument(version);
  return form === "types" ? contractTypes(document) : `${JSON.stringify(document, null, 2)}\n`;
}
