/** Whether a reference holds its medium itself. */
export function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}

/**
 * The bytes of a `data:` URI (RFC 2397) in base64; null when it is malformed, empty or in another coding. What it says
 * of its type is not relied on.
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

/** Decoded by the platform, which is many times faster than a search for strange characters in a text of 27 MB. */
function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length === 0 || text.length % 4 !== 0) return null;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  try {
    const bytes = Uint8Array.fromBase64(text);
    // White space, which the platform passes over, makes the result shorter.
    return bytes.length === text.length / 4 * 3 - padding ? bytes : null;
  } catch {
    return null; // it holds a character of no base64
  }
}
