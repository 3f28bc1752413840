/** An attempt, as the admin API writes it. Source: docs/api/admin.md#requests. */
export interface PrintedAttempt {
  readonly provider: string;
  readonly model: string;
  readonly duration_ms: number | null;
  readonly status: number | null;
  readonly vendor_request_id: string | null;
  readonly code: string | null;
  readonly message: string | null;
}

/** A choice of providers, as the admin API writes it. */
export interface PrintedRoute {
  readonly model: string;
  readonly pin: string | null;
  readonly warm?: string | undefined;
  readonly candidates: readonly {
    readonly provider: string;
    readonly weight: number;
    readonly state: string;
    /** As in `RecordedCandidate`. */
    readonly by?: string | null | undefined;
    readonly since?: number | null | undefined;
  }[];
}

/** A logged request, as the admin API writes it. Source: docs/api/admin.md#requests. */
export interface PrintedRequest {
  readonly id: string;
  readonly position: number;
  readonly account: string | null;
  readonly key: string | null;
  readonly received_at: number;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly method: string;
  readonly path: string;
  readonly kind: string | null;
  readonly model: string | null;
  readonly served_model: string | null;
  readonly provider: string | null;
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string | null } | null;
  readonly refusal: {
    readonly holder: string;
    readonly limit: string;
    readonly value: string;
    readonly resets_at: number | null;
  } | null;
  readonly reserved: { readonly amount: string; readonly tokens: number | null } | null;
  readonly end: string | null;
  readonly routes: readonly PrintedRoute[];
  readonly attempts: readonly PrintedAttempt[];
  readonly dropped: readonly string[];
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly is_estimated: boolean;
  } | null;
  readonly images: number;
  readonly cost: string | null;
  readonly charged: readonly { readonly price: string; readonly quantity: number; readonly rate: string }[];
  /** Absent in answers of earlier versions. */
  readonly price_conditions?: readonly string[];
  readonly answered_by?: string | null;
  readonly client_address: string;
  /** Absent in answers of earlier versions. */
  readonly session?: string | null;
}

/** A request as one line: when it arrived, id, status, account, work, providers, tokens, cost, duration, failure. */
export function requestLine(request: PrintedRequest): string {
  const { usage, images, cost, error, end } = request;
  return [
    instantOf(request.received_at),
    request.id,
    String(request.status),
    request.account ?? "-",
    plain(request.model ?? `${request.method} ${request.path}`),
    request.attempts.map(({ provider, code }) => code === null ? provider : `${provider}:${code}`).join(","),
    usage === null ? "" : `${usage.input_tokens}+${usage.output_tokens} tokens`,
    images === 0 ? "" : `${images} images`,
    cost === null ? "" : `${shortAmount(cost)} USD`,
    `${request.duration_ms} ms`,
    end === null || end === "completed" ? "" : end,
    error === null ? "" : `${error.code}: ${plain(error.message ?? "")}`,
  ].filter((part) => part !== "").join("  ");
}

/** An instant in UTC with milliseconds. */
export function instantOf(seconds: number): string {
  return new Date(Math.round(seconds * 1_000)).toISOString();
}

/** A decimal without zeros at its end. */
export function shortAmount(amount: string): string {
  return amount.includes(".") ? amount.replace(/\.?0+$/, "") : amount;
}

/** Text of a caller or a vendor without characters that control a terminal. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "\ufffd");
}
