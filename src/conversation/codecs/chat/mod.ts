import type { WireFormat } from "../../contract/format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

/** Chat completions of OpenAI and of compatible vendors. Source: Chat Completions reference. */
export const chat: WireFormat = { caller, upstream, passThrough };
