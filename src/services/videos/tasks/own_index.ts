import { createHash } from "node:crypto";
import type { Key } from "../../../platform/store/store.ts";
import type { VideoStatus, VideoTask } from "./task.ts";

/**
 * One property by which a credential's tasks are indexed. The index has one list of task ids, in order of creation, for
 * each property value. A page with any filter therefore reads only index entries and its own tasks.
 */
export type OwnTaskTerm =
  | { readonly by: "status"; readonly status: VideoStatus }
  /** Id of the model in the catalog. */
  | { readonly by: "model"; readonly model: string }
  | { readonly by: "metadata"; readonly key: string; readonly value: string };

/** Returns the key prefix of all tasks of a credential. The last part of each key below it is a task id. */
export function ownTasksKey(keyId: string): Key {
  return ["video", "own", keyId];
}

/** Returns the key prefix of a credential's tasks with one property; same structure as {@linkcode ownTasksKey}. */
export function ownTermKey(keyId: string, term: OwnTaskTerm): Key {
  return ["video", "own_by", keyId, term.by, valueOf(term)];
}

/** Returns the keys of a task in all lists of its credential. */
export function ownIndexKeysOf(task: VideoTask): Key[] {
  const { id, keyId, status, model, metadata = {} } = task;
  const terms: OwnTaskTerm[] = [
    { by: "status", status },
    { by: "model", model },
    ...Object.entries(metadata).map(([key, value]) => ({ by: "metadata", key, value }) as const),
  ];
  return [ownTasksKey(keyId), ...terms.map((term) => ownTermKey(keyId, term))].map((list) => [...list, id]);
}

/** Metadata pairs are hashed, because a store key has at most 1 KB. Every pair then has the same size. */
function valueOf(term: OwnTaskTerm): string {
  if (term.by === "status") return term.status;
  if (term.by === "model") return term.model;
  return createHash("sha256").update(JSON.stringify([term.key, term.value])).digest("base64url").slice(0, 22);
}
