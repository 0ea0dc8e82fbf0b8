/**
 * Message content as clients send it, made into core content or refused with the part's code (api-server.md B1.2).
 * Text-only arrays collapse to one string; with images the parts are kept. Nothing is ever shortened.
 */
import type { Content, ContentPart } from "@/core/contract.ts";
import { isObject, type JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";

const MAX_PARTS = 1000;
const TEXT_TYPES = new Set(["text", "input_text", "output_text"]);
const IMAGE_TYPES = new Set(["image_url", "input_image"]);

/** `param` names the place in the body for the error, e.g. `messages[0].content`. */
export function readContent(value: unknown, param: string): Content {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!Array.isArray(value)) {
    throw badRequest("Content must be a string or an array of parts", "invalid_content_part", param);
  }
  if (value.length > MAX_PARTS) {
    throw badRequest(`Content has more than ${MAX_PARTS} parts`, "invalid_content_part", param);
  }
  const parts = value.flatMap((part) => readPart(part, param) ?? []);
  if (parts.some((part) => part.type === "image_url")) return parts;
  return parts.map((part) => part.type === "text" ? part.text : "").join("\n");
}

/** True when a person or a model would see something. */
export function hasContent(content: Content): boolean {
  if (typeof content === "string") return content.trim() !== "";
  return content.some((part) => part.type === "image_url" || part.text.trim() !== "");
}

function readPart(part: unknown, param: string): ContentPart | null {
  if (typeof part === "string") return { type: "text", text: part };
  if (Array.isArray(part)) {
    throw badRequest("A content part must be an object or a string", "invalid_content_part", param);
  }
  if (!isObject(part)) return null;
  const type = typeof part.type === "string" ? part.type : "";
  if (TEXT_TYPES.has(type)) return readText(part);
  if (IMAGE_TYPES.has(type)) return readImage(part, param);
  throw badRequest(
    `Content part type "${type.slice(0, 40)}" is not supported`,
    "unsupported_content_type",
    param,
  );
}

function readText(part: JsonObject): ContentPart | null {
  const text = part.text;
  if (text === null || text === undefined) return null;
  return { type: "text", text: typeof text === "string" ? text : stringify(text) };
}

function stringify(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function readImage(part: JsonObject, param: string): ContentPart {
  const nested = isObject(part.image_url) ? part.image_url : null;
  const raw = nested ? nested.url : part.image_url;
  const url = typeof raw === "string" ? raw.trim() : "";
  checkImageUrl(url, param);
  const detail = nested && "detail" in nested ? nested.detail : part.detail;
  if (detail === undefined) return { type: "image_url", image_url: { url } };
  if (typeof detail !== "string" || detail.trim() === "") {
    throw badRequest("Image detail must be a non-empty string", "invalid_content_part", param);
  }
  return { type: "image_url", image_url: { url, detail } };
}

function checkImageUrl(url: string, param: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") return;
  if (scheme !== "data") {
    throw badRequest("Image URL must be http(s) or data:image/…", "invalid_image_url", param);
  }
  if (!/^data:image\//i.test(url) || !url.includes(",")) {
    throw badRequest("Only data:image/… URLs are supported", "unsupported_content_type", param);
  }
}
