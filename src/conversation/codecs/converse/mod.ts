import type { WireFormat } from "../../contract/format.ts";
import { upstream } from "./upstream/mod.ts";

export { readCount, writeCountRequest } from "./upstream/count.ts";

/** The format of Converse, which vendors alone use. Source: Amazon Bedrock API reference, "Converse". */
export const converse: Pick<WireFormat, "upstream"> = { upstream };
