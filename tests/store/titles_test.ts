import { assertEquals, assertRejects } from "../support/assert.ts";
import { makeStore, sessionRow, user } from "./rig.ts";

Deno.test("setTitle() stores one clean line", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1"));
  assertEquals(await store.setTitle("s1", "  a\n\t b\u200B\u202E\u0007c  "), "a bc");
  assertEquals(await store.setTitle("s1", "x".repeat(100)), "x".repeat(100));
  assertEquals(await store.setTitle("s1", "\u{1F600}".repeat(100)), "\u{1F600}".repeat(100));
  await assertRejects(() => store.setTitle("s1", "x".repeat(101)), /too long: 101/);
  assertEquals(store.getSession("s1")!.title, "\u{1F600}".repeat(100));
  assertEquals(await store.setTitle("s1", " \u200B "), null);
  assertEquals(store.getSession("s1")!.title, null);
  await assertRejects(() => store.setTitle("nobody", "x"), /No session "nobody"/);
});

Deno.test("core 48: a title used twice is refused with the owner's id", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1", { title: "mine" }));
  await store.createSession(sessionRow("s2"));
  let caught: unknown;
  await store.setTitle("s2", "mine").catch((error) => caught = error);
  const { code, message } = caught as { code: string; message: string };
  assertEquals([code, message], ["title_taken", "Title 'mine' is already in use by session s1"]);
  await assertRejects(() => store.createSession(sessionRow("s3", { title: "mine" })), /by session s1/);
  assertEquals(store.getSession("s3"), null);
  assertEquals(await store.setTitle("s1", "mine"), "mine");
});

Deno.test("setTitle() takes the title over from an earlier row of the same conversation", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root", { title: "name" }));
  await store.rotate("root", sessionRow("tip"), [user("s")]);
  assertEquals(await store.setTitle("tip", "name"), "name");
  assertEquals(store.getSession("root")!.title, null);
  await assertRejects(() => store.setTitle("root", "name"), /by session tip/);
});

Deno.test("nextTitle() counts on from the highest number", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  assertEquals(store.nextTitle("job"), "job");
  for (const title of ["job", "job #2", "job #11", "job #x", "jobs"]) {
    await store.createSession(sessionRow(title, { title }));
  }
  assertEquals(store.nextTitle("job"), "job #12");
  assertEquals(store.nextTitle("job #2"), "job #12");
  assertEquals(store.nextTitle("jobs #7"), "jobs #2");
});

Deno.test("nextTitle() of a title at the limit stays within it", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  const long = "y".repeat(100);
  await store.createSession(sessionRow("s1", { title: long }));
  await store.createSession(sessionRow("s2", { title: store.nextTitle(long) }));
  await store.createSession(sessionRow("s3", { title: store.nextTitle(long) }));
  const next = [store.getSession("s2")!.title, store.getSession("s3")!.title];
  assertEquals(next, [`${"y".repeat(92)} #2`, `${"y".repeat(92)} #3`]);
});
