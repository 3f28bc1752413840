import { type ApiSchema, referredName } from "../api_description.ts";
import { code, escapeHtml, sentence } from "../html.ts";

/** A schema as a table of fields; a sentence if it has none. */
export function renderSchema(schema: ApiSchema): string {
  const fields = Object.entries(schema.properties ?? {});
  const text = schema.description === undefined ? "" : `<p>${sentence(schema.description)}</p>`;
  if (fields.length === 0) return `${text}<p>${typeOf(schema)}</p>`;
  const rows = fields.map(([name, field]) => fieldRow(name, field, schema.required?.includes(name) ?? false));
  return `${text}<table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${
    rows.join("")
  }</tbody></table>${openNote(schema)}`;
}

function fieldRow(name: string, field: ApiSchema, isRequired: boolean): string {
  const required = isRequired ? ' <strong title="always there">*</strong>' : "";
  return `<tr><td>${code(name)}${required}</td><td>${typeOf(field)}</td><td>${meaningOf(field)}${
    nestedFields(field)
  }</td></tr>`;
}

/** The description of a schema with its default and its bounds, as HTML. */
export function meaningOf(schema: ApiSchema): string {
  const inner = withoutNull(schema);
  const parts = [
    ...[schema.description ?? inner.description].flatMap((text) => text === undefined ? [] : [sentence(text)]),
    ...schema.default === undefined ? [] : [`Default ${code(JSON.stringify(schema.default))}.`],
    ...boundsOf(inner),
    ...inner.examples === undefined ? [] : [`Such as ${inner.examples.map((each) => code(String(each))).join(", ")}.`],
  ];
  return parts.join(" ");
}

function boundsOf({ minimum, maximum }: ApiSchema): string[] {
  if (minimum === undefined && maximum === undefined) return [];
  if (maximum === undefined) return [`At least ${minimum}.`];
  return [minimum === undefined ? `At most ${maximum}.` : `${minimum} to ${maximum}.`];
}

/** The fields of an object that is no component of its own. */
function nestedFields(schema: ApiSchema): string {
  const inner = withoutNull(schema);
  const object = inner.items === undefined ? inner : withoutNull(inner.items);
  if (Object.keys(object.properties ?? {}).length === 0) return "";
  return `<details><summary>Fields</summary>${renderSchema({ ...object, description: "" })}</details>`;
}

function openNote({ additionalProperties }: ApiSchema): string {
  if (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0) {
    return `<p>Further fields: ${typeOf(additionalProperties)}. ${meaningOf(additionalProperties)}</p>`;
  }
  const isOpen = additionalProperties === true || typeof additionalProperties === "object";
  return isOpen ? "<p>Further fields are possible.</p>" : "";
}

/** The type of a value in a few words, as HTML. Components are links. */
export function typeOf(schema: ApiSchema): string {
  const { $ref, const: only, enum: words, anyOf, allOf, type, items } = schema;
  if ($ref !== undefined) return `<a href="#schema-${escapeHtml(referredName($ref))}">${referredName($ref)}</a>`;
  if (only !== undefined) return code(JSON.stringify(only));
  if (words !== undefined) return words.map((word) => code(String(word))).join(", ");
  if (anyOf !== undefined) return [...new Set(anyOf.filter((each) => !each.not).map(typeOf))].join(" or ");
  if (allOf !== undefined) return allOf.map(typeOf).join(" with ");
  if (type === undefined) return schema.properties?.type?.not === undefined ? "any value" : "another object";
  const types = typeof type === "string" ? [type] : type;
  return types.map((each) => {
    if (each === "array" && items !== undefined) return `list of ${typeOf(items)}`;
    if (each === "object" && isMap(schema)) return `map of ${typeOf(schema.additionalProperties as ApiSchema)}`;
    return each === "string" && schema.format === "binary" ? "file" : each;
  }).join(" or ");
}

function isMap({ properties, additionalProperties }: ApiSchema): boolean {
  return properties === undefined && typeof additionalProperties === "object" &&
    Object.keys(additionalProperties).length > 0;
}

/** The one branch of a value that may also be null. */
function withoutNull(schema: ApiSchema): ApiSchema {
  const branches = schema.anyOf?.filter(({ type }) => type !== "null") ?? [];
  return branches.length === 1 && branches[0] !== undefined ? branches[0] : schema;
}
