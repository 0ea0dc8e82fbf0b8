import { LateRooms } from "@/app/late_rooms.ts";
import type { Rooms } from "@/app/rooms.ts";
import { assertEquals, assertRejects, assertThrows } from "../support/assert.ts";

const ROOMS = { tools: [] } as unknown as Rooms;

Deno.test("LateRooms loads once, runs what has waited in order, and refuses what comes too early", async () => {
  let loads = 0;
  const rooms = new LateRooms(() => {
    loads++;
    return Promise.resolve(ROOMS);
  });
  const ran: string[] = [];
  rooms.when(() => ran.push("first"));
  rooms.when(() => ran.push("second"));
  assertEquals([rooms.isReady, rooms.maybe], [false, null]);
  assertThrows(() => rooms.now, /ready\(\) comes first/);
  await Promise.all([rooms.ready(), rooms.ready()]);
  rooms.when(() => ran.push("third"));
  assertEquals([loads, rooms.isReady, rooms.now === ROOMS, ran.join()], [
    1,
    true,
    true,
    "first,second,third",
  ]);
});

Deno.test("LateRooms.ready() tells everyone who waits that loading has failed", async () => {
  const rooms = new LateRooms(() => Promise.reject(new Error("broken")));
  await assertRejects(() => rooms.ready(), /broken/);
  await assertRejects(() => rooms.ready(), /broken/);
  assertEquals(rooms.isReady, false);
});
