import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import { replyContextOf, RESEMBLING_QUIRKS, retarget, targetOf } from "../../../support/conversations.ts";

/** Untyped JSON, so that tests do not depend on the code under test. */
// deno-lint-ignore no-explicit-any -- its shape is what a test asserts
export type Loose = any;

/** OpenAI, the author of the format. */
export const AUTHOR: RequestTarget = targetOf({ model: "gpt-4.1", provider: "author", maxOutputTokens: 32_000 });
/** A compatible vendor. */
export const VENDOR: RequestTarget = retarget(AUTHOR, {
  model: "some-model",
  provider: "vendor",
  quirks: RESEMBLING_QUIRKS,
});

/** A caller that did not request usage in its stream. */
export const CONTEXT: ReplyContext = replyContextOf();
