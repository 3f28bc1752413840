import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isOwnGoogleSchema } from "../../../schemas/own_google_schema.ts";
import { isAbsent, isObject, objectOf } from "../../../neutral/wire_value.ts";
import { googleJsonSchemaOf } from "../shared/schema.ts";
import { dialectOf } from "../upstream/dialect.ts";
import { hasNoArguments } from "../upstream/write_tools.ts";
import { CONFIGS, declarationsIn } from "./schema_places.ts";

/** A member for a schema of the vendor's own type, and the spellings of that for JSON Schema. */
interface Member {
  readonly name: string;
  readonly jsonNames: readonly [string, string];
}

const REPLY = ["responseJsonSchema", "response_json_schema"] as const;
const OF_DECLARATIONS: readonly Member[] = [
  { name: "parameters", jsonNames: ["parametersJsonSchema", "parameters_json_schema"] },
  { name: "response", jsonNames: REPLY },
];
const OF_CONFIGS: readonly Member[] = [
  { name: "responseSchema", jsonNames: REPLY },
  { name: "response_schema", jsonNames: REPLY },
];

/** A schema that the vendor refuses, with the path of the object that has it. */
interface RefusedSchema {
  readonly schema: JsonObject;
  readonly path: JsonEdit["path"];
  readonly member: Member;
  readonly isTool: boolean;
}

/**
 * Edits the schemas of the vendor's own type that have what this type lacks. They are sent as JSON Schema, or at a
 * vendor without it as that type allows, as in a request that is translated.
 */
export function ownSchemaEditsOf(
  { body, wholeBody, facts, quirks }: Pick<PassThroughRequest, "body" | "wholeBody" | "facts" | "quirks">,
): BodyEdits {
  if (refusedIn(body).length === 0) return NO_EDITS;
  const dialect = dialectOf({ facts, quirks });
  const droppedFields = new Set<string>();
  const edits = refusedIn(wholeBody()).map(({ schema, path, member, isTool }): JsonEdit => {
    const at = [...path, member.name];
    const json = googleJsonSchemaOf(schema);
    if (isTool && hasNoArguments(json)) return { path: at, value: undefined };
    const accepted = isTool ? dialect.parameters(json, false) : dialect.output(json, false);
    if (accepted.isChanged) droppedFields.add(isTool ? "tool_schema" : "output_schema");
    const isRenamed = !quirks.has("openapi_schemas");
    return { path: at, value: accepted.schema, ...isRenamed && { name: member.jsonNames[0] } };
  });
  return { edits, droppedFields: [...droppedFields] };
}

function refusedIn(body: JsonObject): RefusedSchema[] {
  const ofTools = declarationsIn(body).flatMap(({ owner, path }) => refusedOf({ owner, path, isTool: true }));
  const ofReplies = CONFIGS.flatMap((config) => {
    const owner = objectOf(body[config]);
    return owner === null ? [] : refusedOf({ owner, path: [config], isTool: false });
  });
  return [...ofTools, ...ofReplies];
}

/** An object that may have schemas. */
interface Owner extends Pick<RefusedSchema, "path" | "isTool"> {
  readonly owner: JsonObject;
}

/** A request with a schema of both types is refused for that, and stays as it is. */
function refusedOf({ owner, path, isTool }: Owner): RefusedSchema[] {
  return (isTool ? OF_DECLARATIONS : OF_CONFIGS).flatMap((member) => {
    const schema = owner[member.name];
    const isOther = member.jsonNames.some((name) => !isAbsent(owner[name]));
    if (!isObject(schema) || isOther || isOwnGoogleSchema(schema)) return [];
    return [{ schema, path, member, isTool }];
  });
}
