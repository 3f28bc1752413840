import * as z from "zod";
import type { ModerationUpstream } from "../contract/moderation_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { wholeRequestOptions } from "../shared/whole_request_options.ts";

const Reply = z.object({
  id: z.string().nullish(),
  results: z.array(
    z.looseObject({ flagged: z.boolean().optional(), categories: z.record(z.string(), z.boolean().nullable()) }),
  ),
  usage: z.object({ prompt_tokens: z.unknown().optional() }).nullish(),
});

/**
 * Moderations of OpenAI and compatible vendors. Mistral sends no `flagged`, which then follows from the categories.
 * Sources: API references of OpenAI, "Create moderation", and of Mistral, "Moderations".
 */
export function openaiModerations(outbound: Outbound): ModerationUpstream {
  return {
    moderate: ({ model, input, count }, exchange) =>
      outbound.json("POST", "/moderations", { model, input }, (response) => {
        const { id = null, results, usage } = Reply.parse(response);
        if (results.length !== count) throw outbound.failure("broken", "", { accepted: "unknown" });
        return {
          id,
          results: results.map(({ flagged, ...result }) => ({
            flagged: flagged ?? Object.values(result.categories).includes(true),
            ...result,
          })),
          reportedTokens: usage?.prompt_tokens ?? null,
        };
      }, wholeRequestOptions(exchange)),
  };
}
