import { objectIn, parsedJson } from "../../json.ts";
import type { LoggedRequest } from "./logged_request.ts";

/** Where the key of the caller goes, which the gateway does not have. */
const KEY = "$API_KEY";

/** How the protocols take the key that take it otherwise than in `Authorization`, by the start of their paths. */
const KEY_FIELDS: Readonly<Record<string, string>> = {
  msgcompat: `x-api-key: ${KEY}`,
  gencompat: `x-content-api-key: ${KEY}`,
};

/** Requests of the console itself have this before the path of the endpoint. */
const CONSOLE_API = "/console/api";

/** Endpoints whose bodies are forms, by the field of their file. */
const FORM_FILES: Readonly<Record<string, string>> = {
  "/v1/images/edits": "image[]",
  "/v1/audio/transcriptions": "file",
  "/v1/audio/translations": "file",
};

/** Whether a program can send a request again. A sign-in to the console is the page's own. */
export function isForPrograms({ path }: Pick<LoggedRequest, "path">): boolean {
  return path.startsWith(`${CONSOLE_API}/`) || !/^\/console(\/|$)/.test(path);
}

/** What a request is sent again with. */
export interface SentRequest extends Pick<LoggedRequest, "method" | "path"> {
  /** As captured; null if it was not kept. */
  readonly body: string | null;
  /** Of the gateway, without a final slash. */
  readonly address: string;
}

/** A command line that sends a request again. Without a captured body, a place for one is left. */
export function curlText({ method, path: sentPath, body, address }: SentRequest): string {
  const path = sentPath.startsWith(`${CONSOLE_API}/`) ? sentPath.slice(CONSOLE_API.length) : sentPath;
  const [, start = ""] = path.split("/");
  const parts = [
    `curl ${quoted(address + path)}`,
    ...method === "GET" ? [] : [`-X ${method}`],
    `-H "${KEY_FIELDS[start] ?? `Authorization: Bearer ${KEY}`}"`,
    ...method === "GET" || method === "DELETE" ? [] : bodyParts(FORM_FILES[path], body),
  ];
  return parts.join(" \\\n  ");
}

/** @param file The field of the file in a form; undefined if the body is JSON. */
function bodyParts(file: string | undefined, body: string | null): string[] {
  if (file === undefined) return ["-H 'Content-Type: application/json'", `--data-raw ${quoted(body ?? "{…}")}`];
  // The log keeps the texts of a form as JSON, and no files.
  const texts = Object.entries(objectIn(parsedJson(body ?? "")));
  return [
    ...texts.map(([name, value]) => `--form-string ${quoted(`${name}=${String(value)}`)}`),
    `--form ${quoted(`${file}=@…`)}`,
  ];
}

/** A text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
