import type { WireFormat } from "../../contract/format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

export { wireToolName } from "./shared/tools.ts";

/** The format of `POST /v1/responses`. Source: Responses API reference. */
export const responses: WireFormat = { caller, upstream, passThrough };
