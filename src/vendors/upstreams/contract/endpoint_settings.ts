import type { Quirks } from "../../../conversation/contract/quirks.ts";

/** The settings of one provider that its endpoints depend on. */
export interface EndpointSettings {
  /**
   * The text formats of the default protocol that the provider supports (kinds `openai` and `xai` only). `chat_first`:
   * both, but responses only for models that refuse requests at chat completions.
   */
  readonly speaks: "chat" | "responses" | "both" | "chat_first";
  /** Default: none. */
  readonly quirks?: Quirks;
  /** The project whose models are called (kind `vertex` only). */
  readonly vertex?: { readonly project: string; readonly location: string };
}
