/** The type of a `Content-Type` field without its parameters, in lower case: `text/html`. Source: RFC 9110, 8.3.1. */
export function essenceOf(contentType: string): string {
  const end = contentType.indexOf(";");
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
