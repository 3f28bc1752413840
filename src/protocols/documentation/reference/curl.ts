import type { ApiContent, ApiDescription, ApiOperation, ApiParameter, ApiSchema } from "../api_description.ts";

/** An operation with where it is. */
export interface PlacedOperation {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
  /** Its parameters without references. */
  readonly parameters: readonly ApiParameter[];
}

/**
 * An operation as a command to the gateway's address. `SWITCHYARD_KEY` is a key; parameters of the path are variables
 * of their names.
 *
 * @param value The body; undefined for none.
 */
export function curlOf(placed: PlacedOperation, description: ApiDescription, value: unknown): string {
  const { method, operation: { requestBody } } = placed;
  const form = requestBody?.content["multipart/form-data"];
  const hasJson = value !== undefined;
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"${description.servers[0]?.url ?? ""}${addressOf(placed)}"`,
    ...headersOf(placed, description).map((header) => `-H "${header}"`),
    ...hasJson ? ['-H "Content-Type: application/json"', `-d '${quoted(JSON.stringify(value))}'`] : [],
    ...!hasJson && form !== undefined ? fieldsOf(form, description) : [],
  ];
  return lines.join(" \\\n  ");
}

function addressOf({ path, parameters }: PlacedOperation): string {
  const query = parameters.filter((each) => each.in === "query" && each.required);
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => variable(name));
  return place + (query.length === 0 ? "" : `?${query.map(({ name }) => `${name}=${variable(name)}`).join("&")}`);
}

/** `KEY` would rather be the key itself than its id. */
function variable(name: string): string {
  if (name === "key") return "${KEY_ID}";
  return `$\{${name.toUpperCase()}}`;
}

/** The documented place of the credential, and the header fields that have one value only. */
function headersOf({ operation, parameters }: PlacedOperation, description: ApiDescription): string[] {
  const scheme = operation.security.map((each) => Object.keys(each)[0]).at(0);
  const isPublic = operation.security.length === 0 || scheme === undefined;
  const fixed = parameters.filter((each) => each.in === "header" && each.schema.const !== undefined);
  return [
    ...isPublic ? [] : [credentialOf(scheme, description)],
    ...fixed.map(({ name, schema }) => `${name}: ${schema.const}`),
  ];
}

function credentialOf(scheme: string, { components }: ApiDescription): string {
  const { type, name = "" } = components.securitySchemes[scheme] ?? { type: "http" };
  const key = scheme === "adminKey" ? "$SWITCHYARD_ADMIN_KEY" : "$SWITCHYARD_KEY";
  return type === "http" ? `Authorization: Bearer ${key}` : `${name}: ${key}`;
}

/** The fields that a form needs. */
function fieldsOf({ schema = {} }: ApiContent, { components }: ApiDescription): string[] {
  const { properties = {}, required = [] } = schema.$ref === undefined
    ? schema
    : components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] ?? {};
  return required.map((name) => `-F "${name}=${isFile(properties[name]) ? "@" : ""}${variable(name)}"`);
}

function isFile(schema: ApiSchema | undefined): boolean {
  return schema?.format === "binary" || (schema?.anyOf?.some(isFile) ?? false);
}

/** A text within single quotes of a shell. */
function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
