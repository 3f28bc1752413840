import { limitIn, oneOfIn, readListQuery } from "../../../platform/http/request/inbound.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { METADATA_LIMITS, refuseMetadataKey } from "../../../services/videos/request/metadata.ts";
import type { OwnTaskFilter, OwnTaskPageRequest } from "../../../services/videos/tasks/own_tasks.ts";
import { VIDEO_STATUSES } from "../../../services/videos/tasks/task.ts";

/** The query of a list of videos. */
export interface VideoListQuery {
  readonly filter: OwnTaskFilter;
  readonly page: OwnTaskPageRequest;
}

const PAGE_SIZES = { usual: 20, max: 100 };
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
  const query = readListQuery(text, {
    isKnown: (name) => PARAMETERS.has(name) || name.startsWith(METADATA),
    expectation: `expected ${[...PARAMETERS].join(", ")} or ${METADATA}<key>`,
    isOnce: true,
  });
  const order = oneOfIn(query, "order", ["asc", "desc"]) ?? "desc";
  return {
    filter: { status: oneOfIn(query, "status", VIDEO_STATUSES), model: modelIn(query), metadata: metadataIn(query) },
    page: { after: query.get("after"), limit: limitIn(query, PAGE_SIZES), reverse: order === "desc" },
  };
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
