import type { WireFormat } from "../../format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

export { checkCountRequest, readCount, readCountRequest, writeCount, writeCountRequest } from "./shared/count.ts";
export { wireToolName } from "./shared/tools.ts";

/** The message protocol. Source: Messages API reference. */
export const messages: WireFormat = { caller, upstream, passThrough };
