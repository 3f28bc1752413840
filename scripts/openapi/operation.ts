import type * as z from "zod";
import type { HeaderName } from "./headers.ts";
import type { JsonSchema } from "./schema.ts";

/** What an endpoint is part of, which decides about its credentials and its error bodies. */
export type Face = "default" | "video" | "message" | "content" | "admin" | "service";

/** A parameter in the path, the query or a header field. */
export interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** Default: of a path. */
  readonly isRequired?: boolean;
}

/** One kind of event of a stream. */
export interface StreamEvent {
  /** The field `event`; null for events without one. */
  readonly name: string | null;
  readonly description: string;
  /** Of the field `data` as JSON; null for a text such as `[DONE]`. */
  readonly data: z.ZodType | null;
}

/** A body that is no JSON. */
export interface OtherContent {
  /** `text/csv`, `video/*`. */
  readonly mediaType: string;
  readonly description?: string;
  /** Of a stream. */
  readonly events?: readonly StreamEvent[];
}

/** A response of one status. */
export interface Reply {
  readonly description: string;
  /** JSON; absent for a response without a body, or with another one only. */
  readonly json?: z.ZodType;
  readonly example?: unknown;
  readonly other?: readonly OtherContent[];
  /** Names of header fields, see `headers.ts`. */
  readonly headers?: readonly HeaderName[];
}

/** The body of a request. */
export interface Body {
  readonly json?: z.ZodType | JsonSchema;
  readonly form?: z.ZodType;
  /** Any bytes. */
  readonly isAny?: boolean;
  /** Default: true. */
  readonly isRequired?: boolean;
  /** By name: what it shows, and a valid body. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

/** One endpoint. */
export interface Operation {
  /** The name of its row in the tables of endpoints, which have its method and path. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly face: Face;
  /** `none`: public. `optional`: a key changes what is answered. Default: the credential of the face. */
  readonly auth?: "none" | "optional" | "admin";
  readonly parameters?: readonly Parameter[];
  readonly body?: Body;
  /** By status, those without an error. */
  readonly replies: Readonly<Record<number, Reply>>;
  /** The statuses of errors that are particular to it, besides those of every endpoint of its kind. */
  readonly errors: readonly number[];
}

/** A parameter of the path. */
export function inPath(name: string, description: string, schema: z.ZodType): Parameter {
  return { in: "path", name, description, schema, isRequired: true };
}

/** A parameter of the query that may be absent. */
export function inQuery(name: string, description: string, schema: z.ZodType): Parameter {
  return { in: "query", name, description, schema };
}
