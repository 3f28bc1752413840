import * as z from "zod";
import { FILE_PURPOSES } from "../../../src/services/stored_files/stored_file.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { DeletedFile, FileList, FileObject, UploadObject, UploadPartObject } from "../replies/files.ts";
import { FileCreate, UploadComplete, UploadCreate, UploadPartCreate } from "../requests.ts";

const shared = { tag: "Files", face: "default" } as const;
const FILE_ID = inPath("id", "The id of the file.", z.string());
const UPLOAD_ID = inPath("id", "The id of the upload.", z.string());

/** The endpoints of files that callers store. */
export const FILE_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createFile",
    summary: "Store a file",
    description: "Only the key that stored it can find it. It has at most 512 MiB.",
    body: { form: FileCreate },
    replies: { 200: { description: "The file", json: FileObject } },
    errors: [400, 413, 429, 503],
  },
  {
    ...shared,
    id: "listFiles",
    summary: "List the key's own files",
    parameters: [
      inQuery("purpose", "Only files of this purpose.", z.enum(FILE_PURPOSES)),
      inQuery("order", "Newest first by default.", z.enum(["desc", "asc"])),
      inQuery("after", "The `last_id` of the page before.", z.string()),
      inQuery("limit", "The most files of a page.", z.int().min(1).max(10_000).default(10_000)),
    ],
    replies: { 200: { description: "A page", json: FileList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readStoredFile",
    summary: "Read what is known of a file",
    parameters: [FILE_ID],
    replies: { 200: { description: "The file", json: FileObject } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "readFileContent",
    summary: "Read the content of a file",
    parameters: [FILE_ID],
    replies: { 200: { description: "The bytes as they were stored", other: [{ mediaType: "*/*" }] } },
    errors: [404, 429, 503],
  },
  {
    ...shared,
    id: "deleteFile",
    summary: "Delete a file",
    parameters: [FILE_ID],
    replies: { 200: { description: "What was deleted", json: DeletedFile } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "createUpload",
    summary: "Begin a file that arrives in parts",
    body: {
      json: UploadCreate,
      examples: {
        "The lines of a batch": { filename: "lines.jsonl", purpose: "batch", bytes: 6, mime_type: "text/jsonl" },
      },
    },
    replies: { 200: { description: "The upload, which ends after an hour", json: UploadObject } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "addUploadPart",
    summary: "Add a part to an upload",
    description: "A part has at most 64 MiB, and all parts together the announced size.",
    parameters: [UPLOAD_ID],
    body: { form: UploadPartCreate },
    replies: { 200: { description: "The part", json: UploadPartObject } },
    errors: [400, 404, 413, 429, 503],
  },
  {
    ...shared,
    id: "completeUpload",
    summary: "Join the parts of an upload to a file",
    parameters: [UPLOAD_ID],
    body: { json: UploadComplete },
    replies: { 200: { description: "The upload with its file", json: UploadObject } },
    errors: [400, 404, 409, 503],
  },
  {
    ...shared,
    id: "cancelUpload",
    summary: "End an upload without a file",
    parameters: [UPLOAD_ID],
    replies: { 200: { description: "The upload", json: UploadObject } },
    errors: [400, 404, 409],
  },
];
