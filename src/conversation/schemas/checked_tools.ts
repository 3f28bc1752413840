import { KnownBytes } from "../../platform/lib/bytes/known_bytes.ts";
import { type BodyEdits, NO_EDITS } from "../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../contract/pass_through.ts";

/** How many bytes of definitions of tools are kept for each format and thread. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Definitions of tools that a vendor accepts as they are. Agents send the same ones in every request, and comparing
 * their bytes costs a hundredth of a search.
 */
export class CheckedTools {
  readonly #known = new KnownBytes(MAX_BYTES);

  /** The request with what is to be searched: without its tools if they are known. */
  toSearch(request: PassThroughRequest): PassThroughRequest {
    const tools = toolsOf(request);
    if (tools === null || !this.#known.has(tools)) return request;
    return { ...request, body: { ...request.body, tools: null } };
  }

  /** The edits of a request. Tools without any are known from then on. */
  editsOf(request: PassThroughRequest, find: (searched: PassThroughRequest) => BodyEdits): BodyEdits {
    const searched = this.toSearch(request);
    const edits = find(searched);
    if (edits === NO_EDITS && searched === request) this.add(request);
    return edits;
  }

  /** Notes that the tools of a request need no change. */
  add(request: PassThroughRequest): void {
    const tools = toolsOf(request);
    if (tools !== null) this.#known.add(tools);
  }
}

/** The bytes of the tools; null where there are none, or so few that a search costs nothing. */
function toolsOf({ bytes, scan }: PassThroughRequest): Uint8Array | null {
  const found = scan.members.find(({ key }) => key === "tools");
  if (found === undefined || found.valueEnd - found.valueStart < MIN_BYTES) return null;
  return bytes.subarray(found.valueStart, found.valueEnd);
}

const MIN_BYTES = 256;
