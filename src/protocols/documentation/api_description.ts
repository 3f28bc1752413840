import { bundledFile, IS_BUNDLED } from "../../platform/lib/process/program_files.ts";

/** The file with the description of the interface that a bundle of the gateway contains. */
export const DESCRIPTION_FILE = "openapi.json";

/** A JSON Schema, as far as it is shown. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: ApiSchema;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ApiSchema;
  readonly anyOf?: readonly ApiSchema[];
  readonly allOf?: readonly ApiSchema[];
  readonly not?: ApiSchema;
}

/** A parameter, or a reference to one. */
export interface ApiParameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: ApiSchema;
}

/** A body of one media type. */
export interface ApiContent {
  readonly schema?: ApiSchema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  /** The events of a stream. */
  readonly "x-events"?: readonly {
    readonly event?: string;
    readonly description: string;
    readonly data?: ApiSchema;
  }[];
}

/** A response, or a reference to one. */
export interface ApiResponse {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, ApiContent>>;
}

/** An endpoint with one method. */
export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, ApiContent>> };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

/** Operations by method in lower case. */
export type ApiPath = Readonly<Record<string, ApiOperation>>;

/** Where a credential is sent. */
export interface ApiSecurityScheme {
  readonly type: "http" | "apiKey";
  readonly in?: "header" | "query";
  readonly name?: string;
}

/** The description of the interface, an OpenAPI document of version 3.1. */
export interface ApiDescription {
  readonly info: { readonly description: string };
  /** The address of the gateway. */
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly "x-tagGroups": readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly paths: Readonly<Record<string, ApiPath>>;
  readonly webhooks: Readonly<Record<string, ApiPath>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, ApiSchema>>;
    readonly parameters: Readonly<Record<string, ApiParameter>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
    readonly responses: Readonly<Record<string, ApiResponse>>;
    readonly securitySchemes: Readonly<Record<string, ApiSecurityScheme>>;
  };
}

/** Reads the description. */
export async function readDescription(): Promise<ApiDescription> {
  const source = IS_BUNDLED ? bundledFile(DESCRIPTION_FILE) : new URL("../../../docs/openapi.json", import.meta.url);
  return JSON.parse(await Deno.readTextFile(source));
}

/** The last part of a reference: the name of a component. */
export function referredName($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
