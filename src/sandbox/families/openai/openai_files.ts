import { type Call, jsonResponse } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import type { SimulatedVendors } from "../../simulated_vendors.ts";

/** A file of a key. */
export interface SimulatedFile {
  readonly id: string;
  readonly owner: string;
  readonly purpose: string;
  readonly filename: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Null if the vendor has lost it. */
  readonly text: string | null;
}

const PURPOSES: ReadonlySet<string> = new Set(["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]);
const filesOf = new WeakMap<SimulatedVendors, Map<string, SimulatedFile>>();

function filesIn(vendors: SimulatedVendors): Map<string, SimulatedFile> {
  const known = filesOf.get(vendors);
  if (known !== undefined) return known;
  const files = new Map<string, SimulatedFile>();
  filesOf.set(vendors, files);
  return files;
}

/** Answers about files; null for another path. Source: OpenAI API reference, "Files". */
export function answerFile(call: Call): Promise<Response> | Response | null {
  const [, id, part] = /^\/v1\/files(?:\/([^/]+)(\/content)?)?$/.exec(call.path) ?? [null, null];
  if (id === null) return null;
  if (id === undefined) return call.method === "POST" ? upload(call) : call.method === "GET" ? list(call) : null;
  const file = ownFile(call, id);
  if (call.method === "DELETE" && part === undefined) {
    filesIn(call.vendors).delete(id);
    return jsonResponse({ id, object: "file", deleted: true });
  }
  if (call.method !== "GET") return null;
  if (part === undefined) return jsonResponse(fileObject(file));
  if (file.text === null) throw missing(id);
  return new Response(file.text, { headers: { "content-type": "application/octet-stream" } });
}

/** A file of the key of a call. @throws {SimulatedError} 404 */
export function ownFile(call: Call, id: string): SimulatedFile {
  const file = filesIn(call.vendors).get(id);
  if (file === undefined || file.owner !== ownerOf(call)) throw missing(id);
  return file;
}

/** Stores a file of the vendor's own, and returns its id. */
export function keepFile(call: Call, file: Pick<SimulatedFile, "purpose" | "filename" | "text">): string {
  const id = `file-${call.vendors.nextId()}`;
  const createdAt = Math.floor(call.vendors.clock.now() / 1000);
  filesIn(call.vendors).set(id, { ...file, id, owner: ownerOf(call), createdAt, expiresAt: null });
  return id;
}

async function upload(call: Call): Promise<Response> {
  const { form, vendors } = call;
  const file = form?.get("file");
  const purpose = form?.get("purpose");
  if (!(file instanceof File)) {
    throw new SimulatedError(400, "'file' is a required property", { param: "file" });
  }
  if (typeof purpose !== "string" || !PURPOSES.has(purpose)) {
    throw new SimulatedError(400, `'${purpose}' is not one of ['${[...PURPOSES].join("', '")}'] - 'purpose'`);
  }
  if (file.size === 0) throw new SimulatedError(400, "File is empty.", { code: "empty_file" });
  const seconds = form?.get("expires_after[seconds]") ?? null;
  if (seconds !== null && (Number(seconds) < 3_600 || Number(seconds) > 2_592_000)) {
    throw new SimulatedError(400, "Invalid 'expires_after.seconds': expected 3600 to 2592000");
  }
  const createdAt = Math.floor(vendors.clock.now() / 1000);
  const id = keepFile(call, { purpose, filename: file.name, text: await file.text() });
  const stored = { ...ownFile(call, id), expiresAt: seconds === null ? null : createdAt + Number(seconds) };
  filesIn(vendors).set(id, stored);
  return jsonResponse(fileObject(stored));
}

function list(call: Call): Response {
  const own = filesIn(call.vendors).values().filter(({ owner }) => owner === ownerOf(call)).map(fileObject);
  const data = own.toArray().toReversed();
  return jsonResponse({ object: "list", data, first_id: data[0]?.id ?? null, has_more: false });
}

function fileObject({ id, purpose, filename, createdAt, expiresAt, text }: SimulatedFile) {
  const bytes = new TextEncoder().encode(text ?? "").length;
  const expiry = expiresAt === null ? {} : { expires_at: expiresAt };
  return { id, object: "file", bytes, created_at: createdAt, ...expiry, filename, purpose, status: "processed" };
}

function ownerOf({ headers }: Call): string {
  return headers.get("authorization") ?? "";
}

function missing(id: string): SimulatedError {
  return new SimulatedError(404, `No such File object: ${id}`, { param: "id" });
}
