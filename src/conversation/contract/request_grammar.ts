import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ContextReference } from "./context_reference.ts";

/**
 * The meaning of request members that differs between wire formats, for code that scans a request without parsing it.
 */
export interface RequestGrammar {
  /** True where vendors match names exactly, as protobuf does; other vendors may read `Model` as `model`. */
  readonly hasExactNames: boolean;
  /** Whether the top-level `prompt` names a stored prompt. */
  readonly hasStoredPrompts: boolean;
  /** Top-level members that name a cached content of the gateway. */
  readonly cacheFields: readonly string[];
  /** The top-level member with the model's input. */
  readonly inputField: string;
  /**
   * Whether a member of a nested object holds the caller's own data, such as the arguments of a call.
   *
   * @param name The key in camel case.
   */
  isCallerData(owner: JsonObject, name: string): boolean;
  /**
   * References at positions that only this format has.
   *
   * @param wholeText Returns the text that a string of `body` represents.
   */
  ownReferences(body: JsonObject, wholeText: (text: string) => string): readonly ContextReference[];
  /** Whether the vendor stores the conversation, so that the request holds only a part of it. */
  isThreaded(body: JsonObject): boolean;
  /** Names of the hosted tools that an element of `tools` offers and that are billed in addition to tokens. */
  hostedToolNames(tool: JsonObject): readonly string[];
  /** Whether the vendor runs an element of `tools`, also when it bills tokens only. */
  isVendorTool(tool: JsonObject): boolean;
  /** Whether a part of the input is an image. */
  isImage(part: JsonObject): boolean;
}
