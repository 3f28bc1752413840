import type { Form } from "../seal.ts";
import { neutralTierOf, type TierWords } from "../service_tier.ts";
import { TIER_WORDS as chat } from "./chat/upstream/tier_words.ts";
import { TIER_WORDS as content } from "./content/upstream/tier_words.ts";
import { TIER_WORDS as messages } from "./messages/upstream/tier_words.ts";
import { TIER_WORDS as responses } from "./responses/upstream/tier_words.ts";

const WORDS: Readonly<Record<Form, TierWords>> = { chat, content, messages, responses };

/**
 * Whether a request that is translated can ask a vendor for a tier.
 *
 * @param format The vendor's.
 * @param tier As a request names it, in lower case.
 */
export function isTierCarried(format: Form, tier: string): boolean {
  return Object.hasOwn(WORDS[format], neutralTierOf(tier));
}
