import * as z from "zod";
import { about } from "../schema.ts";

/** A file of the message protocol. */
export const MessageFile = z.object({
  id: about(z.string(), "`file_` and digits."),
  type: z.literal("file"),
  filename: z.string(),
  mime_type: about(z.string(), "As it was sent."),
  size_bytes: z.int(),
  created_at: about(z.string(), "RFC 3339."),
  expires_at: about(z.string().nullable(), "RFC 3339; null if it is kept until it is deleted."),
  downloadable: about(z.boolean(), "Whether its content can be read: only of results of batches."),
}).meta({ id: "MessageFile" });

/** A page of files of the message protocol. */
export const MessageFileList = z.object({
  data: z.array(MessageFile),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  next_page: about(z.string().nullable(), "The `page` of the next request."),
}).meta({ id: "MessageFileList" });

/** A file of the message protocol that was deleted. */
export const DeletedMessageFile = z.object({ id: z.string(), type: z.literal("file_deleted") })
  .meta({ id: "DeletedMessageFile" });
