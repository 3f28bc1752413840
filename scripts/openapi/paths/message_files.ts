import * as z from "zod";
import { MessageFileCreate } from "../batch_requests.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { MESSAGE_VERSIONS } from "../parameters.ts";
import { DeletedMessageFile, MessageFile, MessageFileList } from "../replies/message_files.ts";

const shared = { tag: "Files", face: "message" } as const;
const ID = inPath("id", "The id of the file.", z.string());
const text = (name: string, description: string) => inQuery(name, description, z.string());

/** The endpoints of files of the message protocol. */
export const MESSAGE_FILE_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "createMessageFile",
    summary: "Store a file, in the message protocol",
    description: "Only the key that stored it can find it. It has at most 512 MiB.",
    parameters: MESSAGE_VERSIONS,
    body: { form: MessageFileCreate },
    replies: { 200: { description: "The file", json: MessageFile } },
    errors: [400, 413, 429, 503],
  },
  {
    ...shared,
    id: "listMessageFiles",
    summary: "List the key's own files, in the message protocol",
    parameters: [
      text("page", "The `next_page` of the page before."),
      text("after_id", "The `last_id` of the page before."),
      text("before_id", "The `first_id` of the page after; not with `page` or `after_id`."),
      text("ids", "Only these files, up to 100; can be repeated."),
      inQuery("limit", "The most files of a page.", z.int().min(1).max(1_000).default(20)),
    ],
    replies: { 200: { description: "A page, newest first", json: MessageFileList } },
    errors: [400, 429],
  },
  {
    ...shared,
    id: "readMessageFile",
    summary: "Read what is known of a file, in the message protocol",
    parameters: [ID],
    replies: { 200: { description: "The file", json: MessageFile } },
    errors: [404, 429],
  },
  {
    ...shared,
    id: "readMessageFileContent",
    summary: "Read the content of a file, in the message protocol",
    description: "Only of files that are `downloadable`.",
    parameters: [ID],
    replies: { 200: { description: "The bytes as they were stored", other: [{ mediaType: "*/*" }] } },
    errors: [400, 404, 429, 503],
  },
  {
    ...shared,
    id: "deleteMessageFile",
    summary: "Delete a file, in the message protocol",
    parameters: [ID],
    replies: { 200: { description: "What was deleted", json: DeletedMessageFile } },
    errors: [404, 429],
  },
];
