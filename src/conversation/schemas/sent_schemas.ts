import type { JsonEdit } from "../../lib/json_edits.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../body_edits.ts";
import { isObject } from "../wire_value.ts";
import type { SchemaDialect } from "./schema_dialect.ts";

/** A schema in a request that passes through. */
export interface SentSchema {
  /** The path of the object that has it. */
  readonly path: JsonEdit["path"];
  /** The object that has it: the definition of a tool, or the format of a reply. */
  readonly owner: JsonObject;
  /** The name of the member. */
  readonly name: string;
  readonly isTool: boolean;
}

/** How the schemas of a format are found and changed. */
export interface SentSchemas {
  /** The schemas of a request. */
  readonly find: (body: JsonObject) => readonly SentSchema[];
  /** A fast search: true for a schema that the vendor may refuse. */
  readonly mayBeRefused: (schema: JsonObject) => boolean;
  readonly dialect: SchemaDialect;
}

/**
 * Edits the schemas that a vendor refuses in a request that passes through. Schemas that the caller wants enforced stay
 * as they are: a strict schema is a request to be told what is wrong with it.
 *
 * @param body Without long texts.
 */
export function sentSchemaEdits(
  { body, wholeBody }: { readonly body: JsonObject; readonly wholeBody: () => JsonObject },
  { find, mayBeRefused, dialect }: SentSchemas,
): BodyEdits {
  const isAffected = ({ owner, name }: SentSchema) =>
    isObject(owner[name]) && owner.strict !== true && mayBeRefused(owner[name]);
  if (!find(body).some(isAffected)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  for (const sent of find(wholeBody())) {
    const { owner, name, path, isTool } = sent;
    const schema = owner[name];
    if (!isObject(schema) || !isAffected(sent)) continue;
    const accepted = isTool ? dialect.parameters(schema, false) : dialect.output(schema, false);
    if (accepted.schema === schema) continue;
    edits.push({ path: [...path, name], value: accepted.schema });
    if (accepted.isChanged) droppedFields.add(isTool ? "tool_schema" : "output_schema");
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [...droppedFields] };
}
