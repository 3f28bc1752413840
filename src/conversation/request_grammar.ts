import type { JsonObject } from "../lib/json_object.ts";
import type { ContextReference } from "./context_reference.ts";

/** What members of a request mean where wire formats differ, for whoever looks through a request without reading it. */
export interface RequestGrammar {
  /** True where vendors read names exactly, as protobuf does; elsewhere a vendor may take `Model` for `model`. */
  readonly namesAreExact: boolean;
  /** Whether `prompt` at the top names a stored prompt. */
  readonly namesPrompts: boolean;
  /** Members of the request itself that name a cached content which the gateway looks up. */
  readonly cacheFields: readonly string[];
  /** The member that holds what the model is to read. */
  readonly inputField: string;
  /**
   * Whether a member of a nested object holds what the caller wrote for its own use, such as the arguments of a call.
   *
   * @param name The key in camel case.
   */
  isCallersOwn(owner: JsonObject, name: string): boolean;
  /** References that stand where no other format has any. */
  ownReferences(body: JsonObject): readonly ContextReference[];
  /** Whether a vendor is to keep the conversation, or keeps it, so that the request holds a part of it alone. */
  isThreaded(body: JsonObject): boolean;
  /**
   * The hosted tools that an element of `tools` offers and that are billed beside tokens, by name; none for a caller's
   * own.
   */
  hostedToolNames(tool: JsonObject): readonly string[];
  /** Whether an element of `tools` is run by the vendor, also when it bills tokens alone. */
  isVendorTool(tool: JsonObject): boolean;
  /** Whether a part of the input is a picture. */
  isImage(part: JsonObject): boolean;
}
