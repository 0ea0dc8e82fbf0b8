/** The yardstick: the least a compiled program does. With an argument it waits, so that its memory can be read. */
Deno.stdout.writeSync(new TextEncoder().encode("hi\n"));
if (Deno.args.length > 0) { for await (const _ of Deno.stdin.readable); }
