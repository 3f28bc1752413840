/** Returns the body as a multipart form. Null if the request has another type, or the form is invalid. */
export async function readMultipartForm(request: Request): Promise<FormData | null> {
  if (!request.headers.get("content-type")?.toLowerCase().startsWith("multipart/form-data")) return null;
  try {
    return await request.formData();
  } catch {
    return null;
  }
}

/**
 * Returns a form as the request log stores it: texts unchanged, and the name, type and size of files. A repeated name
 * has a list.
 */
export function describeForm(form: FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name).map((value) =>
      typeof value === "string" ? value : { filename: value.name, type: value.type, bytes: value.size }
    );
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return fields;
}
