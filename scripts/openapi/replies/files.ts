import * as z from "zod";
import { FILE_PURPOSES } from "../../../src/services/stored_files/stored_file.ts";
import { about, seconds } from "../schema.ts";

/** A file that a caller stored. */
export const FileObject = z.object({
  id: z.string(),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: seconds(),
  expires_at: about(z.int(), "Unix seconds; absent if it is kept until it is deleted.").exactOptional(),
  filename: z.string(),
  purpose: z.enum(FILE_PURPOSES),
  status: z.literal("processed"),
}).meta({ id: "FileObject" });

/** A page of files. */
export const FileList = z.object({
  object: z.literal("list"),
  data: z.array(FileObject),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
}).meta({ id: "FileList" });

/** A file that was deleted. */
export const DeletedFile = z.object({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .meta({ id: "DeletedFile" });

/** A file that arrives in parts. */
export const UploadObject = z.object({
  id: z.string(),
  object: z.literal("upload"),
  bytes: z.int(),
  created_at: seconds(),
  expires_at: seconds(),
  filename: z.string(),
  purpose: z.enum(FILE_PURPOSES),
  status: z.enum(["pending", "completed", "cancelled", "expired"]),
  file: about(FileObject.nullable(), "Once it is completed."),
}).meta({ id: "Upload" });

/** A part of an upload. */
export const UploadPartObject = z.object({
  id: z.string(),
  object: z.literal("upload.part"),
  created_at: seconds(),
  upload_id: z.string(),
}).meta({ id: "UploadPart" });
