/** `pdf.attach` (tui-gateway.md B.18, A.7): pages as images for the next prompt. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { installPoppler, PDF } from "../../support/poppler.ts";
import type { Rig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";

const code = async (host: GatewayHost, params: Json) => (await host.refused("pdf.attach", params)).code;

Deno.test("B.18 pdf.attach: the pages go with the next prompt, and the text says which they are", async () => {
  const prepare = (rig: Rig) => installPoppler(rig, 3);
  await withGateway({ model: { turns: ["read"] }, prepare }, async ({ host, model, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    await Deno.writeTextFile(`${rig.workspace}/the report.pdf`, PDF);
    const all = await host.request("pdf.attach", { session_id: sid, path: '"the report.pdf"' });
    assertEquals([all.attached, all.filename, all.pages_attached, all.total_pages, all.count], [
      true,
      "the report.pdf",
      3,
      3,
      3,
    ]);
    assertEquals(all.pages.map(({ page, width }: Json) => [page, width]), [[1, 1], [2, 1], [3, 1]]);
    assertEquals(all.text, "[User attached PDF: the report.pdf, pages 1-3 of 3]");
    assertEquals((await Deno.stat(all.pages[0].path)).mode! & 0o777, 0o600);
    assertEquals(all.pages[0].path.startsWith(`${rig.home}/images/`), true);
    const one = await host.request("pdf.attach", {
      session_id: sid,
      content_base64: `data:application/pdf;base64,${btoa(PDF)}`,
      filename: "../../etc/scan.pdf",
      first_page: 2,
      last_page: 2,
    });
    assertEquals([one.filename, one.pages_attached, one.count, one.pages[0].page], ["scan.pdf", 1, 4, 2]);
    assertEquals(one.text, "[User attached PDF: scan.pdf, page 2 of 3]");
    await host.turn(sid, `${all.text} sum it up`);
    const parts = model.calls()[0]!.body.messages.at(-1).content;
    assertEquals(parts.map(({ type }: Json) => type), [
      "text",
      "image_url",
      "image_url",
      "image_url",
      "image_url",
    ]);
  });
});

Deno.test("B.18 pdf.attach: 25 pages at a time; more, and pages that are none, are refused", async () => {
  const prepare = (rig: Rig) => installPoppler(rig, 40);
  await withGateway({ prepare }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    await Deno.writeTextFile(`${rig.workspace}/long.pdf`, PDF);
    const on = { session_id: sid, path: "long.pdf" };
    assertEquals(await code(host, { ...on, first_page: 1, last_page: 26 }), 4019);
    for (const range of [{ first_page: 0 }, { first_page: 3, last_page: 2 }, { first_page: 41 }]) {
      assertEquals(await code(host, { ...on, ...range }), 4015, JSON.stringify(range));
    }
    assertEquals(await code(host, { ...on, first_page: "two" }), -32602);
    const some = await host.request("pdf.attach", on);
    assertEquals([some.pages_attached, some.text], [
      25,
      "[User attached PDF: long.pdf, pages 1-25 of 40]",
    ]);
    const rest = await host.request("pdf.attach", { ...on, first_page: 26 });
    assertEquals([rest.pages_attached, rest.pages[0].page, rest.count], [15, 26, 40]);
    const asked = (await Deno.readTextFile(`${rig.workspace}/../bin/asked`)).split("\n");
    assertMatch(
      asked[0]!,
      /^-png -scale-to 1754 -f 1 -l 25 \S+\/long\.pdf \S+\/images\/pdf_[0-9a-f]{8}\/pages\/page$/,
    );
  });
});

Deno.test("B.18 pdf.attach: what is no PDF, too large, or cannot be drawn attaches nothing", async () => {
  const prepare = (rig: Rig) => installPoppler(rig, 1);
  await withGateway({ prepare }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    await Deno.writeTextFile(`${rig.workspace}/broken.pdf`, `${PDF}broken`);
    await Deno.writeTextFile(`${rig.workspace}/notes.pdf`, "only text");
    await Deno.writeTextFile(`${rig.workspace}/huge.pdf`, PDF);
    await Deno.truncate(`${rig.workspace}/huge.pdf`, (50 << 20) + 1);
    const tries: readonly (readonly [Json, number])[] = [
      [{}, 4015],
      [{ path: " " }, 4015],
      [{ path: "nowhere.pdf" }, 4016],
      [{ path: "notes.pdf" }, 4016],
      [{ content_base64: btoa("only text") }, 4016],
      [{ content_base64: "%%" }, 4017],
      [{ path: "huge.pdf" }, 4018],
      [{ content_base64: "A".repeat(68 << 20) }, 4018],
    ];
    for (const [params, wanted] of tries) {
      assertEquals(
        await code(host, { session_id: sid, ...params }),
        wanted,
        JSON.stringify(params).slice(0, 40),
      );
    }
    assertEquals(await code(host, { session_id: "none", path: "broken.pdf" }), 4001);
    const broken = await host.refused("pdf.attach", { session_id: sid, path: "broken.pdf" });
    assertEquals(broken, { code: 5028, message: "No page could be drawn: Syntax Error: broken" });
    assertEquals([...Deno.readDirSync(`${rig.home}/images`)], []);
    assertEquals((await host.refused("prompt.submit", { session_id: sid, text: "" })).code, 4012);
  });
});

Deno.test("B.18 pdf.attach: without pdftoppm it is 5028, which says what to install", async () => {
  const prepare = async (rig: Rig) => {
    await Deno.mkdir(`${rig.workspace}/../none`);
    return { PATH: `${rig.workspace}/../none` };
  };
  await withGateway({ prepare }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    await Deno.writeTextFile(`${rig.workspace}/a.pdf`, PDF);
    const refused = await host.refused("pdf.attach", { session_id: sid, path: "a.pdf" });
    assertEquals(refused.code, 5028);
    assertMatch(refused.message, /pdftoppm, which is not on this machine: install poppler/);
  });
});
