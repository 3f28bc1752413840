import { Buffer } from "node:buffer";

/** Whether a reference holds its medium itself. */
export function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}

/**
 * The bytes of a `data:` URI (RFC 2397) in base64; null when it is malformed, empty or in another coding. What it says of its
 * type is not relied on.
 */
export function bytesOfDataUri(uri: string): Uint8Array<ArrayBuffer> | null {
  const comma = uri.indexOf(",");
  if (
    comma < 0 || comma > 200 || !/^data:[\w.+-]*\/?[\w.+-]*(;[\w.+-]+=[\w.+"-]+)*;base64$/i.test(uri.slice(0, comma))
  ) {
    return null;
  }
  const text = uri.slice(comma + 1);
  const padding = /={0,2}$/.exec(text)![0].length;
  const isWhole = text.length > 0 && text.length % 4 === 0 &&
    /^[A-Za-z0-9+/]*$/.test(text.slice(0, text.length - padding));
  return isWhole ? new Uint8Array(Buffer.from(text, "base64")) : null;
}
