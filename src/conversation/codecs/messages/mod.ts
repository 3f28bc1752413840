import type { WireFormat } from "../../contract/format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

export { checkCountRequest, readCountRequest, writeCount } from "./caller/count.ts";
export { readCount, writeCountRequest } from "./upstream/count.ts";
export { passThroughTo } from "./pass_through/mod.ts";
export { wireToolName } from "./upstream/write_tools.ts";

/** The message protocol. Source: Messages API reference. */
export const messages: WireFormat = { caller, upstream, passThrough };
