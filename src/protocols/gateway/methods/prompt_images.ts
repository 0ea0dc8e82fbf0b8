/** Attached images as parts of a prompt (tui-gateway.md B.11, B.16). */
import type { Content, ContentPart, UserInput } from "@/core/contract.ts";
import { textOf } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import { imagePart } from "../image_files.ts";
import type { Gateway } from "../server.ts";

/** One that is attached, as it is now. */
export interface Image {
  readonly path: string;
  readonly part: ContentPart | null;
  /** Why it cannot be read. */
  readonly error: string | null;
}

export function readImages({ hermes }: Gateway, paths: readonly string[]): Promise<Image[]> {
  return Promise.all(paths.map((path): Promise<Image> =>
    imagePart(hermes, path).then(
      (part) => ({ path, part, error: null }),
      (error) => ({ path, part: null, error: error instanceof Error ? error.message : String(error) }),
    )
  ));
}

/** Throws 5027. */
export function refuseUnread(images: readonly Image[]): void {
  const unread = images.find(({ error }) => error !== null);
  if (!unread) return;
  throw new RpcError(5027, `Cannot read an attached image, it is detached now: ${unread.error}`);
}

export function withImages(content: Content, images: readonly Image[]): UserInput {
  if (images.length === 0) return { content };
  const said = typeof content === "string" ? content : textOf(content);
  const parts: readonly ContentPart[] = typeof content === "string"
    ? (said === "" ? [] : [{ type: "text", text: said }])
    : content;
  const labels = images.map(({ path }) => `[image: ${path.replace(/^.*[/\\]/, "")}]`);
  return {
    content: [...parts, ...images.flatMap(({ part }) => part ?? [])],
    displayText: [said, ...labels].filter((line) => line !== "").join("\n"),
  };
}
