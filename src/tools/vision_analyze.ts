/**
 * `vision_analyze`: looks at one image (core.md B.10). Where the session's model takes images in results it gets the
 * image itself, else another model answers in words. Offered only where one of the two can see.
 */
import type { Tool, ToolOutcome } from "@/core/contract.ts";
import { maybeString, readText, ToolError } from "./args.ts";
import { isUrl, shownSource, visionAnalyze } from "./cards/files.ts";
import { absoluteOf } from "./paths.ts";
import { settle, succeed } from "./result.ts";
import type { LoadedImage } from "./vision_image.ts";

const DEFAULT_QUESTION = "Describe this image in detail.";
const NOT_SEEN = "The image could not be looked at, so nothing is known about what it shows.";

export function createVisionAnalyze(): Tool {
  return {
    name: "vision_analyze",
    toolset: "vision",
    description: "Answers a question about an image (path, URL or data URL).",
    parameters: {
      type: "object",
      properties: {
        image_url: { type: "string" },
        question: { type: "string" },
      },
      required: ["image_url", "question"],
    },
    parallel: "safe",
    available: ({ images }) => images === true,
    describe: visionAnalyze,
    paths(args, { cwd }) {
      const source = maybeString(args, "image_url") ?? "";
      const path = isUrl(source) ? null : absoluteOf(source, cwd);
      return path ? [path] : [];
    },
    execute(args, context) {
      return settle(async (): Promise<ToolOutcome> => {
        const source = readText(args, "image_url");
        const question = maybeString(args, "question")?.trim() || DEFAULT_QUESTION;
        const { eyes } = context;
        if (!eyes) throw new ToolError("No model that sees images is set up (auxiliary.vision)");
        const { loadImage } = await import("./vision_image.ts");
        const image = await loadImage(source, context);
        if (eyes.native) return nativeOutcome(source, question, image);
        try {
          return succeed({
            success: true,
            analysis: await eyes.look(image.dataUrl, question, context.signal),
          });
        } catch (error) {
          if (context.signal.aborted || !(error instanceof Error)) throw error;
          throw new ToolError(context.redact(error.message, "full"));
        }
      }, { success: false, analysis: NOT_SEEN });
    },
  };
}

function nativeOutcome(
  source: string,
  question: string,
  { dataUrl, bytes, from }: LoadedImage,
): ToolOutcome {
  const facts = {
    success: true,
    image_url: shownSource(source),
    size_bytes: bytes,
    native_vision: true,
    ...(from ? { made_smaller_from: `${from[0]}×${from[1]}` } : {}),
    question,
  };
  return {
    content: [
      { type: "text", text: JSON.stringify(facts) },
      { type: "image_url", image_url: { url: dataUrl } },
    ],
    isError: false,
  };
}
