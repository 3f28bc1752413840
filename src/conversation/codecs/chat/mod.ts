import type { WireFormat } from "../../format.ts";
import { caller } from "./caller/mod.ts";
import { passThrough } from "./pass_through/mod.ts";
import { upstream } from "./upstream/mod.ts";

/**
 * Chat completions, of the format's author and of the many vendors that resemble it. Source: Chat Completions
 * reference.
 */
export const chat: WireFormat = { caller, upstream, passThrough };
