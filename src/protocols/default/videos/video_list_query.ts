import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { METADATA_LIMITS, refuseMetadataKey } from "../../../services/videos/request/metadata.ts";
import type { OwnTaskFilter, OwnTaskPageRequest } from "../../../services/videos/tasks/own_tasks.ts";
import { VIDEO_STATUSES } from "../../../services/videos/tasks/task.ts";

/** The query of a list of videos. */
export interface VideoListQuery {
  readonly filter: OwnTaskFilter;
  readonly page: OwnTaskPageRequest;
}

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;
/** The prefix of a filter by metadata. */
const METADATA = "metadata.";
const PARAMETERS: ReadonlySet<string> = new Set(["status", "model", "order", "after", "limit"]);

/**
 * Reads the query of `GET /v1/videos`: `status`, `model`, `metadata.<key>`, `order`, `after` and `limit`.
 *
 * @param text Without its question mark.
 * @throws {GatewayError} `invalid_request`, naming the parameter that is unknown, repeated or invalid.
 */
export function readVideoListQuery(text: string): VideoListQuery {
  const query = new URLSearchParams(text);
  const names = [...query.keys()];
  for (const [index, name] of names.entries()) {
    if (!PARAMETERS.has(name) && !name.startsWith(METADATA)) {
      throw invalidField(name.slice(0, 100), `expected ${[...PARAMETERS].join(", ")} or ${METADATA}<key>`);
    }
    if (names.indexOf(name) !== index) throw invalidField(name, "expected it once");
  }
  const order = oneOf(query, "order", ["asc", "desc"]) ?? "desc";
  return {
    filter: { status: oneOf(query, "status", VIDEO_STATUSES), model: modelIn(query), metadata: metadataIn(query) },
    page: { after: query.get("after"), limit: limitIn(query), reverse: order === "desc" },
  };
}

function oneOf<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = values.find((each) => each === text);
  if (value === undefined) throw invalidField(name, `expected one of ${values.join(", ")}`);
  return value;
}

function modelIn(query: URLSearchParams): string | null {
  const model = query.get("model");
  if (model === "") throw invalidField("model", "expected the name of a model");
  return model;
}

function metadataIn(query: URLSearchParams): [string, string][] {
  const pairs = [...query].flatMap(([name, value]): [string, string][] =>
    name.startsWith(METADATA) ? [[name.slice(METADATA.length), value]] : []
  );
  if (pairs.length > METADATA_LIMITS.pairs) {
    throw invalidField("metadata", `expected at most ${METADATA_LIMITS.pairs} pairs`);
  }
  for (const [key, value] of pairs) {
    refuseMetadataKey(key, `${METADATA}${key}`.slice(0, 100));
    if (value.length <= METADATA_LIMITS.valueCharacters) continue;
    throw invalidField(`${METADATA}${key}`, `expected at most ${METADATA_LIMITS.valueCharacters} characters`);
  }
  return pairs;
}

function limitIn(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return DEFAULT_PAGE_SIZE;
  const limit = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_PAGE_SIZE) throw invalidField("limit", `expected 1 to ${MAX_PAGE_SIZE}`);
  return limit;
}
