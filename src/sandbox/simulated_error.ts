/** The fields of a vendor's error body beside status and message. Undefined counts as absent. */
export interface SimulatedErrorDetails {
  /** The vendor's error code: `error.code` of OpenAI, `error.type` of Anthropic, `ErrorInfo.reason` of Google. */
  readonly code?: string | undefined;
  /** The invalid field, in OpenAI's spelling: `error.param`. */
  readonly param?: string | undefined;
  /** The invalid fields and the fault of each: Google's `BadRequest`. */
  readonly violations?: readonly { readonly field: string; readonly description: string }[] | undefined;
  /** Google's status name, if it does not follow from the HTTP status. */
  readonly grpcStatus?: string | undefined;
  /** `error.details` of Anthropic. */
  readonly shown?: Readonly<Record<string, unknown>> | undefined;
  /** The whole seconds until a retry can succeed. */
  readonly retryAfterSeconds?: number | undefined;
}

/** An error with a vendor's own message. The endpoints of a vendor throw it anywhere and write it in one place. */
export class SimulatedError extends Error {
  override readonly name = "Refusal";

  /**
   * @param status The HTTP status.
   * @param message In the vendor's wording.
   */
  constructor(readonly status: number, message: string, readonly details: SimulatedErrorDetails = {}) {
    super(message);
  }
}
