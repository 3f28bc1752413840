/** Whether a reference is a `data:` URI. */
export function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}

/**
 * Returns the bytes of a base64 `data:` URI (RFC 2397); null if it is malformed, empty or not base64. Its media type is
 * ignored.
 */
export function bytesOfDataUri(uri: string): Uint8Array<ArrayBuffer> | null {
  const comma = uri.indexOf(",");
  if (
    comma < 0 || comma > 200 || !/^data:[\w.+-]*\/?[\w.+-]*(;[\w.+-]+=[\w.+"-]+)*;base64$/i.test(uri.slice(0, comma))
  ) {
    return null;
  }
  return bytesOfBase64(uri.slice(comma + 1));
}

/** Uses the platform's decoder, which is much faster than a search for invalid characters in 27 MB of text. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length === 0 || text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  try {
    const bytes = Uint8Array.fromBase64(text);
    // The platform skips white space, which makes the result shorter.
    return bytes.length === text.length / 4 * 3 - padding ? bytes : null;
  } catch {
    return null; // an invalid base64 character
  }
}
