/**
 * Returns the path of a method of a model, below the provider's base URL.
 *
 * @param model The vendor's name of the model.
 * @param method Such as `generateContent`.
 */
export type ModelPaths = (model: string, method: string) => string;

/** The paths of the Gemini API. Source: Gemini API reference, version v1beta. */
export const geminiPath: ModelPaths = (model, method) => `/v1beta/models/${encodeURI(model)}:${method}`;
