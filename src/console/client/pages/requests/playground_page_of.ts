/** The page of the playground for requests of an endpoint; null if it has none. */
export function playgroundPageOf(endpoint: string): string | null {
  if (endpoint === "/v1/videos") return "playground/videos";
  if (endpoint === "/v1/images/generations" || endpoint === "/v1/images/edits") return "playground/pictures";
  const isText = /^\/(v1\/(chat\/completions|responses)|msgcompat\/v1\/messages)$/.test(endpoint) ||
    /^\/gencompat\/.*[gG]enerateContent$/.test(endpoint);
  return isText ? "playground" : null;
}
