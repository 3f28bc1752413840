import type { FileStore } from "../../../platform/files/files.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { mediaTypeOf } from "../../../platform/lib/media/media_type.ts";
import { decodedMedia, type EmbeddedMedia, FileReference } from "../../../platform/lib/media/sent_media.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { checkTargetUrl } from "../../../platform/net/target.ts";
import type { Store } from "../../../platform/store/store.ts";
import { audioSecondsAt, isTooLong, MAX_AUDIO_SECONDS } from "./audio_length.ts";
import { prepareImages } from "./real_person.ts";
import type { ReferenceFiles } from "./reference_files.ts";
import { readTask } from "../tasks/records.ts";
import type { SentReference } from "../request/references.ts";
import type { VideoRequest } from "../request/request.ts";
import type { TaskMedia, TaskOrder } from "../tasks/task.ts";
import { taskIdIn } from "../tasks/task_id.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** The media of an order as stored with its task, and the files written for it. */
export interface StoredInputs {
  readonly media: Pick<TaskOrder, "firstFrame" | "lastFrame" | "references">;
  readonly names: readonly string[];
}

/** Dependencies for checking and storing inputs. */
type InputParts = Pick<VideoParts, "egress" | "media"> & { readonly files: Pick<FileStore, "write" | "remove"> };

/** The task and account that inputs belong to. */
interface Owner {
  readonly taskId: string;
  readonly accountId: string;
  /** Limits the memory of fetched media. Default: no limit. */
  readonly memory?: HeldMemory | undefined;
  /** Addresses in a vendor's own store, which only that vendor can read. */
  readonly assets: ReadonlySet<string>;
  /** The stored files that the references name; null if they name none. */
  readonly files: ReferenceFiles | null;
}

const MAX_FILE_BYTES = 50_000_000;

/**
 * Checks the references of a request and writes embedded media to the file store. If it throws, no file remains.
 *
 * @throws {GatewayError} `invalid_request`, with the reason codes of docs/api/errors.md#reason-codes, for
 * `real_person`.
 */
export async function storeInputs(parts: InputParts, owner: Owner, request: VideoRequest): Promise<StoredInputs> {
  const names: string[] = [];
  try {
    const sent = [request.firstFrame, request.lastFrame, ...request.references].filter((each) => each !== null);
    const stored = request.realPerson
      ? await storePersonImages(parts, owner, sent, names)
      : new Map<SentReference, TaskMedia>();
    for (const each of sent) if (!stored.has(each)) stored.set(each, await store(parts, owner, each, names));
    const mediaOf = (each: SentReference | null) => each && (stored.get(each) ?? null);
    return {
      media: {
        firstFrame: mediaOf(request.firstFrame),
        lastFrame: mediaOf(request.lastFrame),
        references: request.references.map((each) => stored.get(each)!),
      },
      names,
    };
  } catch (error) {
    await removeInputs(parts, names);
    throw error;
  }
}

/** Removes the files written for a task that is not created. */
export async function removeInputs({ files }: Pick<InputParts, "files">, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => files.remove(name)));
}

/**
 * Whether a file is still needed. An input is needed only while its task is pending; a process may end before it
 * removes the file.
 */
export async function isFileNeeded(store: Store, name: string): Promise<boolean> {
  const id = taskIdIn(name);
  if (id === null || !name.startsWith(`${id}-in-`)) return true;
  return (await readTask(store, id))?.value.status === "pending";
}

async function storePersonImages(
  parts: InputParts,
  { taskId, accountId, memory, files }: Owner,
  sent: readonly SentReference[],
  names: string[],
): Promise<Map<SentReference, TaskMedia>> {
  const images = sent.filter(({ medium }) => medium === "image");
  const pictures = await prepareImages(images, accountId, { ...fetchingFor(parts, memory), files });
  const stored = new Map<SentReference, TaskMedia>();
  for (const [index, image] of images.entries()) {
    const { bytes, mediaType } = elementAt(pictures, index);
    stored.set(image, await write(parts, taskId, "image", bytes, mediaType, names));
  }
  return stored;
}

async function store(
  parts: InputParts,
  owner: Owner,
  { medium, url: sent, path }: SentReference,
  names: string[],
): Promise<TaskMedia> {
  const { taskId, accountId, memory, assets } = owner;
  if (sent instanceof FileReference && medium !== "audio") {
    return await copyFile(parts, owner, { medium, path, reference: sent, names });
  }
  const url = sent instanceof FileReference ? await readClip(owner, sent) : decodedMedia(sent);
  if (typeof url === "string" && assets.has(url)) return { medium, at: "url", url };
  if (typeof url === "string") {
    refuseAddress(parts, url, path);
    if (medium === "audio" && isTooLong(await audioSecondsAt(url, accountId, fetchingFor(parts, memory)))) {
      throw tooLong(path);
    }
    return { medium, at: "url", url };
  }
  const { bytes } = url;
  if (bytes === null) throw invalidField(path, "expected a data: URI with contents in base64");
  const mediaType = await mediaTypeOf(bytes) ?? "";
  if (!isOf(medium, mediaType)) throw invalidField(path, `expected ${medium} data`);
  if (medium !== "audio") return await write(parts, taskId, medium, bytes, mediaType, names);
  const measured = await parts.media.measureAudio(bytes, mediaType, accountId);
  if (isTooLong(measured.seconds)) throw tooLong(path);
  return await write(parts, taskId, medium, measured.bytes, mediaType, names);
}

interface CopiedFile extends Pick<SentReference, "medium" | "path"> {
  readonly reference: FileReference;
  readonly names: string[];
}

/** Copies a stored file, which its caller may remove. It is never in memory as a whole. */
async function copyFile(
  parts: InputParts,
  { taskId, files: found }: Owner,
  { medium, path, reference, names }: CopiedFile,
): Promise<TaskMedia> {
  const files = foundFiles(found);
  const { mediaType, stream } = await files.open(reference);
  if (!isOf(medium, mediaType)) {
    await stream.cancel();
    throw invalidField(path, `expected the id of ${medium} data, got that of a file of the type ${mediaType}`);
  }
  const name = newName(taskId, mediaType, names);
  await parts.files.write(name, stream, { capBytes: MAX_FILE_BYTES });
  return { medium, at: "file", name, mediaType, bytes: files.fileOf(reference).bytes };
}

/** A clip is measured as a whole. */
async function readClip(
  { memory, files: found }: Owner,
  reference: FileReference,
): Promise<Pick<EmbeddedMedia, "bytes">> {
  const files = foundFiles(found);
  memory?.reserve(files.fileOf(reference).bytes);
  return { bytes: await files.readAll(reference) };
}

function foundFiles(files: Owner["files"]): ReferenceFiles {
  if (files === null) throw new Error("The files of the references were not looked for");
  return files;
}

/** Returns the options for fetching and measuring media. */
function fetchingFor({ egress, media }: InputParts, memory: HeldMemory | undefined) {
  return { egress, media, reserve: (bytes: number) => memory?.reserve(bytes) };
}

/** An MP4 file with audio only has the media type of a video. */
function isOf(medium: SentReference["medium"], mediaType: string): boolean {
  return mediaType.startsWith(`${medium}/`) ||
    (medium === "audio" && /^(video\/mp4|application\/ogg)$/.test(mediaType));
}

/**
 * Checks the address only as written. The vendor fetches it, or the gateway later resolves the name and checks the
 * result.
 */
function refuseAddress({ egress }: InputParts, url: string, path: string): void {
  try {
    checkTargetUrl(url, ["https:", "http:"], egress);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw invalidField(path, error.message);
  }
}

function tooLong(path: string) {
  return invalidField(path, `expected a clip of at most ${MAX_AUDIO_SECONDS} seconds`);
}

async function write(
  { files }: InputParts,
  taskId: string,
  medium: TaskMedia["medium"],
  bytes: Uint8Array,
  mediaType: string,
  names: string[],
): Promise<TaskMedia> {
  const name = newName(taskId, mediaType, names);
  await files.write(name, once(bytes), { capBytes: MAX_FILE_BYTES });
  return { medium, at: "file", name, mediaType, bytes: bytes.length };
}

/** The name of the next file of a task, which is added to `names`. */
function newName(taskId: string, mediaType: string, names: string[]): string {
  const ending = /\/(?:x-)?([a-z0-9]{1,5})$/.exec(mediaType)?.[1] ?? "bin";
  const name = `${taskId}-in-${names.length}.${ending}`;
  names.push(name);
  return name;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
