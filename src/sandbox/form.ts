/** The body as a form; null when the request has another type, or the form cannot be read. */
export async function readForm(request: Request): Promise<FormData | null> {
  if (!request.headers.get("content-type")?.toLowerCase().startsWith("multipart/form-data")) return null;
  try {
    return await request.formData();
  } catch {
    return null;
  }
}

/**
 * A form as the log of seen requests keeps it: texts as they are, of files what they are. A name that repeats has a
 * list.
 */
export function writeForm(form: FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name).map((value) =>
      typeof value === "string" ? value : { filename: value.name, type: value.type, bytes: value.size }
    );
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}
