import { createHash } from "node:crypto";
import type { Key } from "../../store/store.ts";
import type { VideoStatus, VideoTask } from "./task.ts";

/**
 * One property by which a credential's tasks are looked up. The index has one list of ids for each value of each
 * property that a task of the credential has, in the order of creation, so that a page of any filter reads lists and no
 * other tasks.
 */
export type OwnTaskTerm =
  | { readonly by: "status"; readonly status: VideoStatus }
  /** The catalog's id of the model. */
  | { readonly by: "model"; readonly model: string }
  | { readonly by: "metadata"; readonly key: string; readonly value: string };

/** The list of all tasks of a credential. The last part of each key below it is a task's id. */
export function ownTasksKey(keyId: string): Key {
  return ["video", "own", keyId];
}

/** The list of a credential's tasks with one property; built like {@linkcode ownTasksKey}. */
export function ownTermKey(keyId: string, term: OwnTaskTerm): Key {
  return ["video", "own_by", keyId, term.by, valueOf(term)];
}

/** The keys of a task in all lists of its credential. */
export function ownIndexKeysOf(task: VideoTask): Key[] {
  const { id, keyId, status, model, metadata = {} } = task;
  const terms: OwnTaskTerm[] = [
    { by: "status", status },
    { by: "model", model },
    ...Object.entries(metadata).map(([key, value]) => ({ by: "metadata", key, value }) as const),
  ];
  return [ownTasksKey(keyId), ...terms.map((term) => ownTermKey(keyId, term))].map((list) => [...list, id]);
}

/** Pairs of metadata are hashed: a key of the store has at most 1 KB, and every pair then costs the same. */
function valueOf(term: OwnTaskTerm): string {
  if (term.by === "status") return term.status;
  if (term.by === "model") return term.model;
  return createHash("sha256").update(JSON.stringify([term.key, term.value])).digest("base64url").slice(0, 22);
}
