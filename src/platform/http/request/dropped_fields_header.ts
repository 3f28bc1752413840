const MAX_NAMES = 32;
const MAX_NAME_CHARACTERS = 80;

/**
 * Returns the names of dropped fields as a header value, each once. A caller can send thousands of unknown fields, and
 * clients reject a response head beyond some kilobytes.
 */
export function droppedFieldsHeader(droppedFields: readonly string[]): string {
  const names = [...new Set(droppedFields.map(fieldName))];
  const shown = names.slice(0, MAX_NAMES).join(", ");
  return names.length > MAX_NAMES ? `${shown}, ...` : shown;
}

/** Returns a name as a header can carry it: a caller may send any text as a key. */
function fieldName(name: string): string {
  return name.replace(/[^\x21-\x2b\x2d-\x7e]/g, "?").slice(0, MAX_NAME_CHARACTERS) || "?";
}
