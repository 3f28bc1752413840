import { mediaTypeOf } from "./media_type.ts";

/** The number of first bytes that decide. */
export const MEDIUM_HEAD_BYTES = 4_100;

/** What is expected, and what the sender says of it. */
export interface ExpectedMedium {
  /** A video can have pictures beside it, so `video` includes images and sound. */
  readonly kind: "image" | "video";
  /** The type that the sender declares: a hint. Null or empty if there is none. */
  readonly declaredType: string | null;
  /** Whether an SVG drawing, which is text, is accepted. Default: false. */
  readonly takesSvg?: boolean;
}

/** What the first bytes show. */
export interface MediumVerdict {
  /** Why this is no medium of the kind, such as `it is text`; null if it is accepted. */
  readonly problem: string | null;
  /** Whether it is accepted although its kind is unknown. */
  readonly isUnknown: boolean;
}

const KNOWN: MediumVerdict = { problem: null, isUnknown: false };

/** Containers of media whose types do not say so. */
const MEDIA_CONTAINERS: ReadonlySet<string> = new Set(["application/ogg", "application/mxf"]);

/**
 * Decides by the first bytes of a file from a vendor whether it is a picture or a video. Text (HTML, JSON, XML, plain
 * text), other known kinds of files, and nothing are refused whatever the declared type. Bytes of an unknown kind are
 * accepted unless the declared type is that of another kind.
 *
 * @param head The first {@linkcode MEDIUM_HEAD_BYTES}, or the whole file if it is shorter.
 */
export async function judgeMedium(head: Uint8Array, expected: ExpectedMedium): Promise<MediumVerdict> {
  const { kind, declaredType, takesSvg = false } = expected;
  if (head.length === 0) return refused("it is empty");
  if (isText(head)) return takesSvg && isSvg(head) ? KNOWN : refused("it is text");
  const type = await mediaTypeOf(head);
  if (type === null) {
    const isPossible = !declaredType || /^(?:image|video)\/|^(?:application|binary)\/octet-stream$/.test(declaredType);
    return isPossible ? { problem: null, isUnknown: true } : refused(`it is declared as ${declaredType.slice(0, 60)}`);
  }
  const isOfKind = type.startsWith("image/") ||
    (kind === "video" && (/^(?:video|audio)\//.test(type) || MEDIA_CONTAINERS.has(type)));
  return isOfKind ? KNOWN : refused(`it is ${type}`);
}

function refused(problem: string): MediumVerdict {
  return { problem, isUnknown: false };
}

const TEXT_HEAD_BYTES = 1_024;
/** So many bytes without a control character are text in any encoding; fewer must be valid UTF-8. */
const MIN_CERTAIN_BYTES = 64;

/** Whether the first bytes are text: markup, or no byte that texts do not have. Source: WHATWG MIME Sniffing, 7.2. */
function isText(file: Uint8Array): boolean {
  const head = file.subarray(0, TEXT_HEAD_BYTES);
  const [first, second, third] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true; // UTF-16
  if (first === 0xef && second === 0xbb && third === 0xbf) return true; // UTF-8
  if (/^\s*<[a-z!?/]/i.test(String.fromCharCode(...head.subarray(0, 64)))) return true;
  if (head.some(isBinary)) return false;
  return head.length >= MIN_CERTAIN_BYTES || isUtf8(head);
}

function isBinary(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false; // another encoding, or no text
  }
}

function isSvg(head: Uint8Array): boolean {
  return /<svg[\s/>]/i.test(new TextDecoder().decode(head));
}
