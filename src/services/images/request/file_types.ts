import type { Catalog } from "../../../vendors/catalog/catalog.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { ImageExtra, ImageExtras } from "../../../vendors/upstreams/contract/image_options.ts";
import type { ImageModel } from "./series.ts";

/** Source: OpenAI API reference, "Create image", `frame_count`: the default. */
const DEFAULT_FRAMES = 9;

/** Whether a file type has a member. Source: OpenAI API reference, "Create image". */
export function hasExtra(outputFormat: string | null, name: ImageExtra): boolean {
  if (name === "frame_count" || name === "frame_duration_ms") return outputFormat === "gif";
  return name !== "output_compression" || (outputFormat !== "gif" && outputFormat !== "svg");
}

/** A file type and the members that are sent as they are. */
interface TypedFile {
  readonly outputFormat: string | null;
  readonly extras: ImageExtras;
}

/** The number of frames of each picture; 1 for one that is not animated. */
export function framesOf({ outputFormat, extras }: TypedFile): number {
  if (outputFormat !== "gif") return 1;
  return typeof extras.frame_count === "number" ? extras.frame_count : DEFAULT_FRAMES;
}

/** Who writes an SVG drawing. */
export interface SvgAuthor {
  readonly model: Model;
  /** Whether the caller named it, so that the vendor is told. */
  readonly isNamed: boolean;
  /** Its reasoning effort; null if the caller chose none. */
  readonly effort: string | null;
}

/**
 * Reads `svg`: the author of a drawing and its effort. Null for other file types.
 *
 * @throws {GatewayError} `invalid_request` if nobody is known who writes it.
 */
export function readSvg(
  value: unknown,
  { image, serves }: ImageModel,
  { outputFormat, catalog }: { readonly outputFormat: string | null; readonly catalog: Catalog },
): SvgAuthor | null {
  if (outputFormat !== "svg") return null;
  const given = value === undefined || value === null ? {} : value;
  if (!isObject(given)) throw invalidField("svg", "expected an object");
  const { model: name, reasoning } = given;
  const effort = effortIn(reasoning);
  if (name !== undefined && name !== null && typeof name !== "string") throw invalidField("svg.model", "expected text");
  const wanted = name ?? image.svgAuthor;
  if (wanted === null) throw invalidField("svg.model", "expected the model that writes the drawing");
  const servedAs = (own: string) =>
    serves.map(({ provider }) => catalog.servedAs(provider, own)).find((found) => found !== null) ?? null;
  const isNamed = typeof name === "string";
  // The vendor chooses its default author, whatever models the key may use.
  const known = isNamed
    ? catalog.find(wanted) ?? servedAs(wanted)
    : servedAs(wanted.slice(wanted.indexOf("/") + 1)) ?? catalog.find(wanted);
  if (known === null || !known.text || (isNamed && !catalog.models.some(({ id }) => id === known.id))) {
    throw invalidField("svg.model", "expected a text model of the same vendor");
  }
  return { model: known, isNamed, effort };
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function effortIn(reasoning: unknown): string | null {
  if (reasoning === undefined || reasoning === null) return null;
  const effort = isObject(reasoning) ? reasoning.effort : reasoning;
  if (effort === undefined || effort === null) return null;
  if (typeof effort === "string" && EFFORTS.includes(effort)) return effort;
  throw invalidField("svg.reasoning.effort", `expected one of ${EFFORTS.join(", ")}`);
}

/** What a request for a file type cannot have. */
interface Refusable {
  readonly outputFormat: string | null;
  readonly background: string | null;
  readonly hasMask: boolean;
}

/**
 * Refuses what an animation or a drawing cannot have, and where nothing is near. Source: OpenAI API reference, "Create
 * image", `background`, `frame_count`.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function checkFileType({ outputFormat, background, hasMask }: Refusable): void {
  if (outputFormat !== "gif" && outputFormat !== "svg") return;
  if (background === "transparent") {
    throw invalidField("background", `expected opaque or auto with the output format ${outputFormat}`);
  }
  if (hasMask && outputFormat === "gif") throw invalidField("mask", "an animation (gif) is made without a mask");
}
