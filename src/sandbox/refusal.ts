/** What a vendor's error body says beside status and message. Undefined counts as absent. */
export interface RefusalDetails {
  /** The vendor's machine word: `error.code` of OpenAI, `error.type` of Anthropic, `ErrorInfo.reason` of Google. */
  readonly code?: string | undefined;
  /** The field at fault, in OpenAI's spelling: `error.param`. */
  readonly param?: string | undefined;
  /** The fields at fault and what is wrong with each: Google's `BadRequest`. */
  readonly violations?: readonly { readonly field: string; readonly description: string }[] | undefined;
  /** Google's status word where it does not follow from the HTTP status. */
  readonly grpcStatus?: string | undefined;
  /** `error.details` of Anthropic. */
  readonly shown?: Readonly<Record<string, unknown>> | undefined;
  /** Whole seconds until a retry can help. */
  readonly retryAfterSeconds?: number | undefined;
}

/** A failure in a vendor's own words. Thrown anywhere in a family, written once, by that family. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /**
   * @param status The HTTP status.
   * @param message As the vendor words it.
   */
  constructor(readonly status: number, message: string, readonly details: RefusalDetails = {}) {
    super(message);
  }
}
