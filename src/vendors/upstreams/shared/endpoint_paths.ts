/**
 * Returns the path of a vendor's endpoint below the provider's base URL, with query.
 *
 * @param endpoint As in the documentation of the format: `/chat/completions`.
 * @param model The vendor's name of the model.
 */
export type EndpointPaths = (endpoint: string, model: string) => string;
