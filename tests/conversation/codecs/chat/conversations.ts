import type { ReplyContext } from "../../../../src/conversation/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/upstream_format.ts";
import { replyContextOf, RESEMBLING_QUIRKS, retarget, targetOf } from "../../../support/conversations.ts";

/** JSON as a wire has it, looked at freely, so that a test shares no reading with the code under test. */
// deno-lint-ignore no-explicit-any -- its shape is what a test asserts
export type Loose = any;

/** The form's author. */
export const AUTHOR: RequestTarget = targetOf({ model: "gpt-4.1", provider: "author", maxOutputTokens: 32_000 });
/** A vendor that resembles it. */
export const VENDOR: RequestTarget = retarget(AUTHOR, {
  model: "some-model",
  provider: "vendor",
  quirks: RESEMBLING_QUIRKS,
});

/** A caller who asked for no usage in its stream. */
export const CONTEXT: ReplyContext = replyContextOf();
