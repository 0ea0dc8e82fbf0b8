import { checkPublicUrl, classifyAddress, type UrlPolicy } from "@/lib/url_safety.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

const PUBLIC = "93.184.216.34";
const names: Readonly<Record<string, readonly string[]>> = {
  "public.test": [PUBLIC, "2606:2800:220:1::1"],
  "inside.test": ["10.1.2.3"],
  "mixed.test": [PUBLIC, "192.168.0.1"],
  "cloud.test": ["169.254.169.254"],
  "localhost": ["127.0.0.1", "::1"],
  "empty.test": [],
  "odd.test": ["not-an-address"],
};

const resolve: UrlPolicy["resolve"] = (host) =>
  names[host] ? Promise.resolve(names[host]) : Promise.reject(new Error("ENOTFOUND"));

async function reasonOf(url: string, policy: Partial<UrlPolicy> = {}): Promise<string | null> {
  const verdict = await checkPublicUrl(url, { resolve, ...policy });
  return verdict.ok ? null : verdict.reason;
}

Deno.test("core 46: checkPublicUrl() refuses every spelling of private and metadata addresses", async () => {
  const spellings = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://017700000001/",
    "http://0177.0.0.01/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:53aa:64c::1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://10.0.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
    "http://metadata.goog/",
    "http://localhost/",
    "http://localhost./",
    "http://inside.test/",
    "http://mixed.test/",
    "http://cloud.test/",
    "http://user@127.0.0.1/",
  ];
  for (const url of spellings) assert(await reasonOf(url) !== null, url);
});

Deno.test("checkPublicUrl() gives the addresses that were checked", async () => {
  assertEquals(await checkPublicUrl("https://public.test/a", { resolve }), {
    ok: true,
    url: new URL("https://public.test/a"),
    addresses: [PUBLIC, "2606:2800:220:1::1"],
  });
  const literal = await checkPublicUrl("http://1.1.1.1/", {
    resolve: () => Promise.reject(new Error("asked")),
  });
  assert(literal.ok);
  assertEquals(literal.addresses, ["1.1.1.1"]);
});

Deno.test("checkPublicUrl() refuses other schemes, unknown names, and names without a readable address", async () => {
  for (
    const url of ["file:///etc/passwd", "ftp://public.test/", "javascript:alert(1)", "data:text/plain,x"]
  ) {
    assertEquals(await reasonOf(url), "only http and https addresses are opened");
  }
  assertEquals(await reasonOf("no url"), "it is not a valid URL");
  assertEquals(await reasonOf("http://unknown.test/"), "the host name unknown.test cannot be resolved");
  assertEquals(await reasonOf("http://empty.test/"), "the host name empty.test cannot be resolved");
  assertEquals(await reasonOf("http://odd.test/"), "its address cannot be read");
});

Deno.test("checkPublicUrl() lets private addresses through where that is allowed, metadata services never", async () => {
  const open = { allowPrivate: true };
  for (const url of ["http://127.0.0.1/", "http://inside.test/", "http://[::1]/", "http://100.64.0.1/"]) {
    assertEquals(await reasonOf(url, open), null, url);
  }
  const never = [
    "http://169.254.169.254/",
    "http://169.254.1.1/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://cloud.test/",
    "http://metadata.google.internal/",
  ];
  for (const url of never) assertMatch(await reasonOf(url, open) ?? "", /metadata/, url);
  const listed = { allowHosts: ["inside.test", "127.0.0.1:8080", "[::1]:80"] };
  assertEquals(await reasonOf("http://inside.test:9/", listed), null);
  assertEquals(await reasonOf("http://127.0.0.1:8080/", listed), null);
  assertEquals(await reasonOf("http://[::1]/", listed), null);
  assert(await reasonOf("http://127.0.0.1:8081/", listed) !== null);
  assert(
    await reasonOf("http://not-inside.test/", { ...listed, resolve: () => Promise.resolve(["10.0.0.1"]) }),
  );
});

Deno.test("checkPublicUrl() passes on a cancel of the lookup", async () => {
  const stop = Object.assign(new Error("stop"), { name: "AbortError" });
  let caught: unknown;
  await checkPublicUrl("http://public.test/", { resolve: () => Promise.reject(stop) }).catch((e) =>
    caught = e
  );
  assertEquals(caught, stop);
});

Deno.test("classifyAddress() knows the edges of the ranges", () => {
  const kinds = {
    "9.255.255.255": "public",
    "11.0.0.0": "public",
    "100.63.255.255": "public",
    "100.128.0.0": "public",
    "172.15.255.255": "public",
    "172.32.0.0": "public",
    "192.0.1.0": "public",
    "223.255.255.255": "public",
    "169.253.255.255": "public",
    "168.63.129.16": "metadata",
    "2606:4700::1111": "public",
    "64:ff9b::8.8.8.8": "public",
    "::ffff:8.8.8.8": "public",
    "2002:808:808::1": "public",
    "2001:4860::8888": "public",
    "fe80::1%eth0": "private",
    "3fff::1": "private",
    "4000::1": "private",
    "::2": "private",
    "1.2.3": null,
    "01.2.3.4": null,
    "1:2:3": null,
    "1::2::3": null,
    "12345::": null,
    "": null,
  };
  for (const [address, kind] of Object.entries(kinds)) assertEquals(classifyAddress(address), kind, address);
});
