import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { ContentChoice } from "../../../services/videos/results/content.ts";

const VARIANTS = ["video", "thumbnail", "last_frame"] as const;

/**
 * Reads the query of `GET /v1/videos/{id}/content`: `index` of OpenRouter's clients and `variant` of OpenAI's. Default:
 * the first video.
 *
 * @param text Without its question mark.
 * @throws {GatewayError} `invalid_request`, naming the parameter.
 */
export function readContentQuery(text: string): ContentChoice {
  const query = new URLSearchParams(text);
  const index = query.get("index") ?? "0";
  if (!/^[0-9]{1,2}$/.test(index)) throw invalidField("index", "expected 0 to 99");
  const variant = query.get("variant") ?? "video";
  const type = VARIANTS.find((each) => each === variant);
  if (type === undefined) throw invalidField("variant", `expected one of ${VARIANTS.join(", ")}`);
  return type === "video" ? { type, index: Number(index) } : { type };
}
