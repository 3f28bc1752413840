import { isAbsent, isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isMissingModel } from "../../call.ts";
import type { SimulatedImageFormat } from "../../pictures/file.ts";
import { writeGif } from "../../pictures/gif.ts";
import type { SimulatedImage } from "../../pictures/make.ts";
import { writeSvg } from "../../pictures/svg.ts";
import { tokensOf } from "../../tokens.ts";
import { badParameter, checkPresent, checkRange } from "./openai_fields.ts";

/** The file type of a request with what only some types have. */
export interface FileOrder {
  readonly format: SimulatedImageFormat | "gif" | "svg";
  /** 1 for a picture that is not animated. */
  readonly frames: number;
  /** Milliseconds of each frame. */
  readonly frameMs: number;
  /** The author of a drawing; null for other types. */
  readonly author: { readonly model: string; readonly effort: string } | null;
}

const FORMATS: readonly SimulatedImageFormat[] = ["png", "jpeg", "webp"];
/** Models that make animations and drawings. */
const WITH_ALL = /^gpt-image-2\.5-(?:sunburst|flare)/;
const DEFAULT_FRAMES = 9;
const DEFAULT_FRAME_MS = 200;
const DEFAULT_AUTHOR = "gpt-6.2-sol";
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The file types of a model. */
export function formatsOf(model: string): readonly FileOrder["format"][] {
  return WITH_ALL.test(model) ? [...FORMATS, "gif", "svg"] : FORMATS;
}

/**
 * Reads what belongs to the file type of a request. Source: OpenAI API reference, "Create image": `frame_count`,
 * `frame_duration_ms`, `svg`, `background`.
 *
 * @throws {SimulatedError} For what the type does not have.
 */
export function readFileOrder(body: JsonObject, format: FileOrder["format"], hasMask: boolean): FileOrder {
  for (const name of ["frame_count", "frame_duration_ms"]) {
    if (!isAbsent(body[name]) && format !== "gif") throw only(name, "gif");
  }
  if (!isAbsent(body.svg) && format !== "svg") throw only("svg", "svg");
  if (body.background === "transparent" && format !== "png" && format !== "webp") {
    const name = format.toUpperCase();
    throw badParameter(
      "background",
      `Transparent background is not supported for ${name} output format.`,
      "invalid_value",
    );
  }
  if (format !== "gif" && format !== "svg") return { format, frames: 1, frameMs: 0, author: null };
  for (const name of ["stream", "partial_images", "output_compression"]) {
    if (!isAbsent(body[name]) && body[name] !== false && body[name] !== 0) throw without(name, format);
  }
  if (format === "svg") return { format, frames: 1, frameMs: 0, author: authorOf(body) };
  if (hasMask) throw without("mask", format);
  checkRange(body, "frame_count", 2, 16);
  checkRange(body, "frame_duration_ms", 1, 655_350);
  const frames = Number(body.frame_count ?? DEFAULT_FRAMES);
  return { format, frames, frameMs: Number(body.frame_duration_ms ?? DEFAULT_FRAME_MS), author: null };
}

function only(name: string, format: string): Error {
  return badParameter(name, `'${name}' is only supported with output_format=${format}.`, "invalid_value");
}

function without(name: string, format: string): Error {
  return badParameter(name, `'${name}' is not supported with output_format=${format}.`, "invalid_value");
}

function authorOf(body: JsonObject): FileOrder["author"] {
  if (!isAbsent(body.n) && body.n !== 1) throw badParameter("n", "SVG output requires n=1.", "invalid_value");
  if (isAbsent(body.svg)) return { model: DEFAULT_AUTHOR, effort: "medium" };
  if (!isObject(body.svg)) throw badParameter("svg", "Invalid type for 'svg': expected an object.", "invalid_type");
  const { model, reasoning } = body.svg;
  checkPresent({ "svg.model": model }, "svg.model");
  if (isMissingModel(String(model))) throw badParameter("svg.model", `Invalid value: '${model}'.`, "invalid_value");
  const effort = isObject(reasoning) && !isAbsent(reasoning.effort) ? String(reasoning.effort) : "medium";
  if (!EFFORTS.includes(effort)) {
    throw badParameter("svg.reasoning.effort", `Invalid value: '${effort}'.`, "invalid_value");
  }
  return { model: String(model), effort };
}

/** A picture as a file of the requested type, in base64. */
export function fileOf({ pixels, base64 }: SimulatedImage, { format, frames, frameMs }: FileOrder): string {
  if (format === "gif") return writeGif(pixels, { frames, frameMs }).toBase64();
  return format === "svg" ? new TextEncoder().encode(writeSvg(pixels)).toBase64() : base64;
}

const REASONING_TOKENS = 64;
const IMAGE_TOKENS = 323;

/** What the author of a drawing consumed, in addition to the picture. */
export function svgUsageOf(made: SimulatedImage, { author }: FileOrder, prompt: string): JsonObject {
  if (author === null) return {};
  const input = tokensOf(prompt) + IMAGE_TOKENS;
  const reasoning = REASONING_TOKENS * EFFORTS.indexOf(author.effort);
  const output = reasoning + tokensOf(writeSvg(made.pixels));
  return {
    svg_usage: {
      model: author.model,
      input_tokens: input,
      output_tokens: output,
      reasoning_tokens: reasoning,
      total_tokens: input + output,
    },
  };
}
