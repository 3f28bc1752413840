/** A JSON object as `JSON.parse` gives it. */
export type JsonObject = { [key: string]: unknown };
