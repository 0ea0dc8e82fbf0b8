import { needsNodelay, setNodelayAt } from "@/lib/nodelay.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("needsNodelay() is true on Linux before 2.8.3 only", () => {
  for (const version of ["1.46.0", "2.6.10", "2.8.2", "2.8.2+abc"]) {
    assertEquals([version, needsNodelay(version, "linux")], [version, true]);
  }
  for (const version of ["2.8.3", "2.8.10", "2.9.0", "3.0.0"]) {
    assertEquals([version, needsNodelay(version, "linux")], [version, false]);
  }
  assertEquals(needsNodelay("2.6.10", "windows"), false);
});

Deno.test({
  name: "setNodelayAt() finds the listener and its accepted connections, and no other socket",
  ignore: Deno.build.os !== "linux",
  async fn() {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    assertEquals(setNodelayAt(port), 1);
    using client = await Deno.connect({ hostname: "127.0.0.1", port });
    using accepted = await listener.accept();
    assertEquals(setNodelayAt(port), 2);
    assertEquals(setNodelayAt(other.addr.port), 1);
    assertEquals(client.remoteAddr, accepted.localAddr);
  },
});
