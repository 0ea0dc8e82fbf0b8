import { untilAborted } from "../support/abort.ts";
import type {
  ContentPart,
  Message,
  ModelChunk,
  ModelClient,
  Models,
  ResolvedModel,
  Settings,
} from "@/core/mod.ts";
import { canLook, createEyes, type Eyes } from "../../src/core/eyes.ts";
import { describeImages, withoutImages, withTrueTypes } from "../../src/core/inbound_images.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";

const image = (url = "data:image/png;base64,AAAA"): ContentPart => ({
  type: "image_url",
  image_url: { url },
});
const text = (text: string): ContentPart => ({ type: "text", text });
const idle = new AbortController().signal;

function eyes(look: Eyes["look"], describer: string | null = "painter"): Eyes {
  return { native: false, describer, look };
}

Deno.test("describeImages() puts words before each image and asks with the user's own text", async () => {
  const asked: string[] = [];
  const look: Eyes["look"] = (url, question) => {
    asked.push(question);
    return Promise.resolve(`seen ${url.slice(-1)}`);
  };
  const content = [text("Which is larger?"), image("https://a.test/1"), image("https://a.test/2")];
  const described = await describeImages(content, eyes(look), idle);
  assertEquals(described, {
    content: [
      text("Which is larger?"),
      text("[Attached image 1, described by painter:\nseen 1\n]"),
      image("https://a.test/1"),
      text("[Attached image 2, described by painter:\nseen 2\n]"),
      image("https://a.test/2"),
    ],
    problems: [],
  });
  assert(asked.every((question) => question.endsWith("Which is larger?")));
});

Deno.test("describeImages() says that an image was not seen, and why; never invents", async () => {
  const failing = eyes(() => Promise.reject(new Error("overloaded")));
  const failed = await describeImages([image()], failing, idle);
  assertEquals(failed.problems, ["An image was not seen: overloaded"]);
  assertEquals(
    failed.content[0],
    text(
      "[Attached image 1: it was not seen, because overloaded. Nothing is known about what it shows.]",
    ),
  );
  const blind = await describeImages(
    [image()],
    eyes(() => Promise.reject(new Error("never asked")), null),
    idle,
  );
  assertEquals(blind.problems, [
    "An image was not seen: the model takes no images and no other one is set up (auxiliary.vision)",
  ]);
  const many = await describeImages(
    Array.from({ length: 10 }, () => image()),
    eyes(() => Promise.resolve("x")),
    idle,
  );
  assertEquals(many.problems, ["An image was not seen: only 8 images of a message are described"]);
});

Deno.test("withoutImages() leaves words: what was described, or a note; other messages stay the same objects", () => {
  const plain: Message = { role: "user", content: "hi" };
  assertEquals(withoutImages([plain])[0], plain);
  const messages: Message[] = [
    plain,
    {
      role: "user",
      content: [text("q"), text("[Attached image 1, described by p:\nwords\n]"), image(), image()],
    },
    { role: "assistant", content: "a" },
    { role: "tool", toolCallId: "c", toolName: "vision_analyze", content: [text("facts"), image()] },
  ];
  const seen = withoutImages(messages);
  const note = "[An image was left out: this model takes no images]";
  assertEquals(seen.map(({ content }) => content), [
    "hi",
    `q\n[Attached image 1, described by p:\nwords\n]\n${note}`,
    "a",
    `facts\n${note}`,
  ]);
  assert(seen[0] === messages[0] && seen[2] === messages[2]);
});

Deno.test("withTrueTypes() believes the bytes of an image, not its label", () => {
  const jpeg = "/9j/4AAQSkZJRgABAQ==";
  const content = [
    image(`data:image/png;base64,${jpeg}`),
    image("data:image/png;base64,iVBORw0KGgo="),
    image("https://a.test/"),
  ];
  const urls = (withTrueTypes(content) as ContentPart[]).map((part) =>
    part.type === "image_url" && part.image_url.url
  );
  assertEquals(urls, [
    `data:image/jpeg;base64,${jpeg}`,
    "data:image/png;base64,iVBORw0KGgo=",
    "https://a.test/",
  ]);
  assertEquals(withTrueTypes("text"), "text");
  const odd = [image("data:image/png;base64,%%%%"), image("data:,x"), image("data:image/png;base64,AAAA")];
  assertEquals(withTrueTypes(odd), odd);
});

function modelOf(name: string, supportsVision: boolean, apiMode = "chat_completions"): ResolvedModel {
  return { model: name, provider: "p", supportsVision, apiMode } as ResolvedModel;
}

function modelsOf(answer: readonly ModelChunk[] | "hang", requests: unknown[] = []): Models {
  const client = (info: ResolvedModel): ModelClient => ({
    info,
    async *stream(request, { signal }) {
      requests.push({ model: info.model, request });
      if (answer === "hang") {
        await untilAborted(signal);
        return;
      }
      yield answer;
    },
  });
  return {
    client,
    resolve: (choice?: { model?: string }) => modelOf(choice?.model ?? "main", true),
  } as unknown as Models;
}

const settingsOf = (vision: Record<string, unknown> = {}, mode = "auto") =>
  ({ auxiliary: { vision }, agent: { image_input_mode: mode } }) as unknown as Settings;

function done(words: string): ModelChunk[] {
  const usage = { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  return [{ type: "text", text: words }, { type: "done", finish: "stop", toolCalls: [], usage }];
}

Deno.test("createEyes() asks auxiliary.vision, else a main model that sees; counts what that costs", async () => {
  const counted: string[] = [];
  const make = (settings: Settings, model: ResolvedModel, models = modelsOf(done("a dot"))) =>
    createEyes({
      models,
      settings,
      model,
      sessionId: "s",
      count: (usage, { model }) => void counted.push(`${model} ${usage.input}`),
    });
  const aux = make(settingsOf({ model: "painter", provider: "p" }), modelOf("blind", false));
  assertEquals([aux.native, aux.describer, await aux.look("data:x", "?", idle)], [false, "painter", "a dot"]);
  assertEquals(counted, ["painter 5"]);
  const own = make(settingsOf(), modelOf("main", true));
  assertEquals([own.native, own.describer, await own.look("data:x", "?", idle)], [false, "main", "a dot"]);
  assertEquals(make(settingsOf(), modelOf("m", true, "anthropic_messages")).native, true);
  const none = make(settingsOf(), modelOf("blind", false));
  assertEquals([none.native, none.describer], [false, null]);
  await assertRejects(() => none.look("data:x", "?", idle), /auxiliary\.vision/);
});

Deno.test("createEyes() tells failure, silence, slowness and cancel apart", async () => {
  const failure = { kind: "server" as const, message: "broken", provider: "p", model: "m", retryable: true };
  const look = (
    answer: Parameters<typeof modelsOf>[0],
    signal = idle,
    vision: Record<string, unknown> = {},
  ) =>
    createEyes({
      models: modelsOf(answer),
      settings: settingsOf(vision),
      model: modelOf("main", true),
      sessionId: "s",
      count: () => {},
    }).look("data:x", "?", signal);
  const error = [{ type: "error", failure, toolInFlight: false }] as unknown as ModelChunk[];
  await assertRejects(() => look(error), /^Error: broken|broken/);
  await assertRejects(() => look(done("  ")), /empty answer/);
  await assertRejects(() => look("hang", idle, { timeout: 0.02 }), /did not answer in 0\.02 s/);
  const controller = new AbortController();
  const running = look("hang", controller.signal);
  controller.abort();
  await assertRejects(() => running, /aborted/);
});

Deno.test("canLook() follows the model, agent.image_input_mode and auxiliary.vision", () => {
  const models = modelsOf(done("x"));
  const can = (settings: Settings, sees: boolean) => canLook(models, settings, modelOf("m", sees));
  assertEquals([can(settingsOf(), true), can(settingsOf(), false)], [true, false]);
  assertEquals([can(settingsOf({}, "native"), false), can(settingsOf({}, "text"), true)], [true, false]);
  assertEquals(can(settingsOf({ model: "x", provider: "p" }, "text"), false), true);
});
