/** A certificate for the names `localhost`, `a.invalid` and `b.invalid`, and its authority as a file. */
import { CA, NAMED_CERT, NAMED_KEY } from "./tls_certificates.ts";

export interface NamedCertificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** Path of the authority's PEM, for `DENO_CERT`. */
  readonly ca: string;
}

/** Writes into `dir`, which the caller removes. */
export async function writeNamedCertificate(dir: string): Promise<NamedCertificate> {
  const ca = `${dir}/ca.pem`;
  await Deno.writeTextFile(ca, CA);
  return { cert: NAMED_CERT, key: NAMED_KEY, ca };
}
