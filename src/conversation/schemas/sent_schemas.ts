import type { JsonEdit } from "../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../parts/request/body_edits.ts";
import { isObject } from "../neutral/wire_value.ts";
import type { AcceptedSchema, SchemaDialect } from "./schema_dialect.ts";

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
  /** A fast search: true for a schema that the vendor may refuse although it does not enforce it. */
  readonly mayBeRefused: (schema: JsonObject, isTool: boolean) => boolean;
  readonly dialect: SchemaDialect;
}

/**
 * Edits the schemas that a vendor refuses in a request that passes through, as in a request that is translated. A
 * schema that the vendor cannot enforce is sent without `strict`, which is named.
 *
 * @param body Without long texts.
 */
export function sentSchemaEdits(
  { body, wholeBody }: { readonly body: JsonObject; readonly wholeBody: () => JsonObject },
  schemas: SentSchemas,
): BodyEdits {
  const { find, mayBeRefused } = schemas;
  const isAffected = (sent: SentSchema): boolean => {
    const schema = sent.owner[sent.name];
    if (!isObject(schema)) return false;
    return isStrict(sent) ? acceptedOf(sent, schemas) !== null : mayBeRefused(schema, sent.isTool);
  };
  if (!find(body).some(isAffected)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  for (const sent of find(wholeBody())) {
    const accepted = acceptedOf(sent, schemas);
    if (accepted === null) continue;
    const { owner, name, path, isTool } = sent;
    if (accepted.schema !== owner[name]) edits.push({ path: [...path, name], value: accepted.schema });
    if (accepted.isChanged) droppedFields.add(isTool ? "tool_schema" : "output_schema");
    if (!isStrict(sent) || accepted.isStrict) continue;
    edits.push({ path: [...path, "strict"], value: false });
    droppedFields.add(isTool ? "tool_strict" : "output_strict");
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [...droppedFields] };
}

function isStrict({ owner }: SentSchema): boolean {
  return owner.strict === true;
}

/** A schema as the vendor accepts it; null if it needs no change. */
function acceptedOf(sent: SentSchema, { mayBeRefused, dialect }: SentSchemas): AcceptedSchema | null {
  const { owner, name, isTool } = sent;
  const schema = owner[name];
  const strict = isStrict(sent);
  if (!isObject(schema) || !(strict || mayBeRefused(schema, isTool))) return null;
  const accepted = isTool ? dialect.parameters(schema, strict) : dialect.output(schema, strict);
  return accepted.schema === schema && !(strict && !accepted.isStrict) ? null : accepted;
}
