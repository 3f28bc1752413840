import * as z from "zod";
import { inPath, inQuery, type Operation, type Parameter } from "../operation.ts";
import { ContentFile, ContentFileList, UploadedContentFile } from "../replies/content_files.ts";

const shared = { tag: "Files", face: "content" } as const;
const ID = inPath("id", "The name of the file without `files/`.", z.string());

function header(name: string, description: string, schema: z.ZodType): Parameter {
  return { in: "header", name, description, schema };
}

/** The endpoints of files of the content protocol. */
export const CONTENT_FILE_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "uploadContentFile",
    summary: "Store a file by a resumable upload",
    description: "`start` returns the address of the upload in `X-Goog-Upload-URL`; the other commands go there. " +
      "The body of `start` is JSON, `{file: {displayName}}`, and that of `upload` the bytes.",
    parameters: [
      header(
        "X-Goog-Upload-Command",
        "What the request does. `upload` and `finalize` may be one request, with a comma between.",
        z.string(),
      ),
      header("X-Goog-Upload-Protocol", "Of a start.", z.literal("resumable")),
      header("X-Goog-Upload-Header-Content-Length", "Of a start: the size of the whole file.", z.int().min(0)),
      header("X-Goog-Upload-Header-Content-Type", "Of a start: the type of the file.", z.string()),
      header("X-Goog-Upload-File-Name", "Of a start: the name of a file without `displayName`.", z.string()),
      header("X-Goog-Upload-Offset", "Of an upload: the bytes that were sent before.", z.int().min(0)),
      inQuery("upload_id", "The upload, as in its address.", z.string()),
    ],
    body: { isAny: true, isRequired: false },
    replies: {
      200: {
        description: "The state of the upload, with the file at its end",
        json: UploadedContentFile,
        headers: ["X-Goog-Upload-Status", "X-Goog-Upload-URL", "X-Goog-Upload-Size-Received"],
      },
    },
    errors: [400, 404, 409, 413, 429, 503],
  },
  {
    ...shared,
    id: "listContentFiles",
    summary: "List the key's own files, in the content protocol",
    parameters: [
      inQuery("pageSize", "The most of a page, at most 100; 0 for the default, 10.", z.int().min(0)),
      inQuery("pageToken", "The `nextPageToken` of the page before.", z.string()),
    ],
    replies: { 200: { description: "A page, newest first", json: ContentFileList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readContentFile",
    summary: "Read what is known of a file, in the content protocol",
    parameters: [ID],
    replies: { 200: { description: "The file", json: ContentFile } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "downloadContentFile",
    summary: "Read the content of a file, in the content protocol",
    parameters: [ID],
    replies: { 200: { description: "The bytes as they were stored", other: [{ mediaType: "*/*" }] } },
    errors: [404, 429, 503],
  },
  {
    ...shared,
    id: "deleteContentFile",
    summary: "Delete a file, in the content protocol",
    parameters: [ID],
    replies: { 200: { description: "Done", json: z.object({}) } },
    errors: [404, 429],
  },
];
