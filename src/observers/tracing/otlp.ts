/** The value of an attribute in the JSON of OTLP. */
type AttributeValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

/** An attribute of a span or of a resource. */
export interface Attribute {
  /** By the semantic conventions of OpenTelemetry, or with the prefix `switchyard.`. */
  readonly key: string;
  /** Integers are text. */
  readonly value: AttributeValue;
}

/**
 * A span in the JSON of OTLP.
 *
 * Source: opentelemetry-proto, `trace.proto`, and the JSON encoding of the OTLP specification: ids are hexadecimal,
 * 64-bit integers are text, enumerations are numbers.
 */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first span of a trace. */
  readonly parentSpanId?: string;
  /** The `tracestate`; absent if it is empty. */
  readonly traceState?: string;
  readonly name: string;
  readonly kind: typeof SERVER | typeof CLIENT;
  /** Unix nanoseconds. */
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events?: readonly { readonly timeUnixNano: string; readonly name: string }[];
  readonly status: { readonly code?: typeof ERROR };
}

/** The kind of a span that handles a request. */
export const SERVER = 2;
/** The kind of a span that sends a request. */
export const CLIENT = 3;
/** The status of a span that failed. */
export const ERROR = 2;

/** Returns attributes; those without a value are left out. Whole numbers are integers. */
export function attributesOf(values: Readonly<Record<string, string | number | boolean | null>>): Attribute[] {
  const attributes: Attribute[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== "") attributes.push({ key, value: valueOf(value) });
  }
  return attributes;
}

function valueOf(value: string | number | boolean): AttributeValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Converts Unix milliseconds to the text of Unix nanoseconds. */
export function nanoseconds(atMs: number): string {
  return `${Math.round(atMs)}000000`;
}

/** Writes the body of an export request. */
export function writeExport(resource: readonly Attribute[], spans: readonly Span[]): string {
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: "switchyard" }, spans }] }],
  });
}
