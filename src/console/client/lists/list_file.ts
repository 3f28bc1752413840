/** A format of a file with the rows of a list. */
export type ListFormat = "csv" | "jsonl";

/** The rows of a list as a file. Fields of CSV that are no text, number or truth value are JSON. */
export function listFile(rows: readonly object[], format: ListFormat): string {
  if (format === "jsonl") return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => {
    const fields: Readonly<Record<string, unknown>> = { ...row };
    return names.map((name) => csvField(fields[name])).join(",");
  });
  return [names.map(csvField).join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

/** Starts of text that spreadsheets read as a formula. Source: OWASP, "CSV Injection". */
const FORMULA = /^[=+\-@\t\r]/;

/** A field of CSV. Source: RFC 4180, section 2. */
function csvField(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A decimal, such as a negative amount, is no formula.
  const isFormula = FORMULA.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
