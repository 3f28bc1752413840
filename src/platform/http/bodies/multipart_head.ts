import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { essenceOf } from "../../lib/media/content_type.ts";

/** The head of a part. Source: RFC 7578, 4. */
export interface PartHead {
  /** The form field. */
  readonly name: string;
  /** True for a file: the part has a file name, or a type other than text. */
  readonly isFile: boolean;
  /** The last segment of the file name, for people: it must never become a path. Absent without a file name. */
  readonly fileName?: string;
  /** The type of a file as it was sent, without its parameters. Absent: none, or an invalid one. */
  readonly mediaType?: string;
}

/** Source: RFC 6838, 4.2. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** A media type in lower case without its parameters; null for anything else. */
export function mediaTypeIn(field: string): string | null {
  const type = field.split(";", 1).join().trim().toLowerCase();
  return MEDIA_TYPE.test(type) ? type : null;
}

const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/; // RFC 2046, 5.1.1
/** Counted separately: clients send long paths there, and nothing uses them. */
const FILE_NAME = /filename\*?="?[^"]*/gi;
const IDENTITY_CODINGS: readonly string[] = ["", "7bit", "8bit", "binary"];

/**
 * The boundary of a Content-Type.
 *
 * @throws {GatewayError} `invalid_request`: 415 for another type, 400 if the boundary is missing or invalid.
 */
export function boundaryOf(contentType: string | null): string {
  const field = contentType ?? "";
  if (essenceOf(field) !== "multipart/form-data") {
    throw new GatewayError("invalid_request", "Cannot read this Content-Type: expected multipart/form-data", {
      status: 415,
    });
  }
  const semicolon = field.indexOf(";");
  const boundary = parametersIn(semicolon < 0 ? "" : field.slice(semicolon))?.get("boundary");
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw new GatewayError(
      "invalid_request",
      "Cannot read this Content-Type: expected a boundary of 1 to 70 characters after multipart/form-data",
    );
  }
  return boundary;
}

/**
 * Parses the head of a part, without the empty line that ends it.
 *
 * @param longest The maximum length in characters, without the file name.
 * @throws {GatewayError} `invalid_request` if it names no form field, is too long, or describes an encoded part.
 */
export function readPartHead(text: string, longest = Infinity): PartHead {
  if (text.length > longest && text.replace(FILE_NAME, "").length > longest) {
    throw unreadable(`expected at most ${longest} characters before its content`);
  }
  const fields = new Map<string, string>();
  for (const line of text === "" ? [] : text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1 || /^[\t ]|[\r\n]/.test(line)) throw unreadable("its head contains an invalid line");
    const name = line.slice(0, colon).toLowerCase();
    if (fields.has(name)) throw unreadable("its head contains a field twice");
    fields.set(name, line.slice(colon + 1).trim());
  }
  const coding = fields.get("content-transfer-encoding") ?? "";
  // Deprecated (RFC 7578, 4.7). Read without decoding, the part would not be what its sender meant.
  if (!IDENTITY_CODINGS.includes(coding.toLowerCase())) throw unreadable("expected no Content-Transfer-Encoding");
  const disposition = /^form-data\s*(;[^]*)?$/i.exec(fields.get("content-disposition") ?? "");
  const parameters = disposition && parametersIn(disposition[1] ?? "");
  const name = parameters?.get("name");
  if (!parameters || name === undefined) throw unreadable("expected Content-Disposition: form-data with a name");
  const type = (fields.get("content-type") ?? "text/plain").toLowerCase();
  const isFile = parameters.has("filename") || parameters.has("filename*") || !type.startsWith("text/plain");
  const fileName = fileNameIn(parameters);
  const mediaType = fields.has("content-type") ? mediaTypeIn(type) : null;
  return { name, isFile, ...fileName !== null && { fileName }, ...isFile && mediaType !== null && { mediaType } };
}

/** `filename*` has the name in full (RFC 5987); clients that send it also send a `filename` for others. */
function fileNameIn(parameters: ReadonlyMap<string, string>): string | null {
  const [, coded] = /^utf-8'[^']*'(.*)$/i.exec(parameters.get("filename*") ?? "") ?? [];
  const name = (coded === undefined ? null : decoded(coded)) ?? parameters.get("filename") ?? null;
  if (name === null) return null;
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1).replaceAll(/\p{Cc}/gu, "");
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Parameters after a value by lower-case name; null if the text is invalid or repeats one. RFC 9110, 5.6.6. */
function parametersIn(text: string): Map<string, string> | null {
  const parameters = new Map<string, string>();
  const pattern = /\s*;\s*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\[^])*)"|([^\s;"]*)))?\s*/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) return null;
    const [, name, quoted, token] = match;
    // Only quotes are escaped: browsers send Windows file names with unescaped backslashes.
    const value = quoted?.replaceAll('\\"', '"') ?? token;
    if (name === undefined || value === undefined) continue; // a lone semicolon
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), value);
  }
  return parameters;
}

function unreadable(what: string): GatewayError {
  return new GatewayError("invalid_request", `Cannot read a part of the form: ${what}`, { closeConnection: true });
}
