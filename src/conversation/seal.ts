import { Buffer } from "node:buffer";

/** The names of the wire forms that carry a conversation. */
export type Form = "chat" | "responses" | "messages" | "content";

/**
 * An opaque proof that a vendor attaches to reasoning, tool calls or text and wants back byte for byte: a `signature`,
 * `encrypted_content`, `thoughtSignature` or `redacted_thinking.data`. It means something to its issuer alone.
 */
export interface Seal {
  /** The wire form that it was issued in. */
  readonly form: Form;
  /** The provider that issued it; null while unknown (as a caller sent it bare, or the reader of a reply made it). */
  readonly issuer: string | null;
  /** The vendor's bytes as text, untouched. */
  readonly value: string;
}

const MARK = "sy1";

/** How a wrapped seal begins on every wire, so that a body can be searched for one without parsing. */
export const WRAPPED_SEAL_PREFIX: string = Buffer.from(`${MARK}.`).toString("base64").slice(0, 5);

/**
 * A seal as it is handed to a caller of another form: base64 of `sy1.<form>.<issuer>.<value>`, so that it comes home
 * labelled. Plain base64 because the content form decodes it to bytes. A seal whose form is the caller's own and whose
 * issuer is unknown goes out bare.
 */
export function writeSeal(seal: Seal, callerForm: Form): string {
  if (seal.issuer === null && seal.form === callerForm) return seal.value;
  const issuer = withoutDots(seal.issuer ?? "");
  return Buffer.from(`${MARK}.${seal.form}.${issuer}.${seal.value}`).toString("base64");
}

/** The inverse of {@linkcode writeSeal}: a bare value is of the caller's own form and of unknown issuer. */
export function readSeal(text: string, callerForm: Form): Seal {
  if (text.startsWith(WRAPPED_SEAL_PREFIX)) {
    // Some clients echo the value in the URL-safe alphabet; Buffer reads both.
    const [mark, form, issuer, ...value] = Buffer.from(text, "base64").toString().split(".");
    if (mark === MARK && isForm(form) && issuer !== undefined) {
      return { form, issuer: withDots(issuer) || null, value: value.join(".") };
    }
  }
  return { form: callerForm, issuer: null, value: text };
}

/** A provider's name may hold dots, which part the fields of a wrapped seal. */
function withoutDots(issuer: string): string {
  return issuer.replace(/[.%]/g, (sign) => sign === "." ? "%2E" : "%25");
}

function withDots(issuer: string): string {
  return issuer.replace(/%2E|%25/g, (code) => code === "%2E" ? "." : "%");
}

function isForm(word: string | undefined): word is Form {
  return word === "chat" || word === "responses" || word === "messages" || word === "content";
}
