import type { WireFormat } from "../../contract/format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

export { readCountRequest, writeCount } from "./caller/count.ts";
export { readCount, writeCountRequest } from "./upstream/count.ts";
export { rejectDoubleSpellings } from "./caller/double_spellings.ts";
export { needsInlining } from "./shared/parts.ts";
export { readCachedContent } from "./caller/read_request.ts";
export { withAcceptedSchemas } from "./pass_through/sent_schemas.ts";

/** The content format: `generateContent` and `streamGenerateContent`. Source: Gemini API reference, version v1beta. */
export const content: WireFormat = { caller, upstream, passThrough };
