import { compactRecords } from "../../../platform/lib/json/compact_record.ts";
import type { VideoTask } from "./task.ts";

/**
 * Stored form of a task. Ended tasks are retained for long and read rarely, so they are stored compact. Pending tasks
 * change often and are stored as objects. Records of earlier versions are never compact.
 */
export type StoredTask = VideoTask | Uint8Array<ArrayBuffer>;

const records = compactRecords<VideoTask>({
  names: {
    i: "id",
    a: "account",
    k: "keyId",
    m: "model",
    n: "modelName",
    p: "prompt",
    ln: "line",
    md: "metadata",
    sz: "size",
    dr: "dropped",
    mo: "mode",
    s: "status",
    c: "createdAt",
    u: "updatedAt",
    d: "deadlineAt",
    cb: "callbackUrl",
    pi: "pin",
    st: "stage",
    pr: "progress",
    of: "offers",
    fo: "firstOfferedAt",
    $: "price",
    r: "results",
    mi: "mirrors",
    x: "extras",
    xm: "extraMirrors",
    mg: "mirroring",
    rn: "renewedAt",
    cp: "copiedAt",
    rc: "recopy",
    us: "usage",
    e: "error",
  },
  usual: {
    callbackUrl: null,
    pin: null,
    order: null,
    inputs: [],
    results: [],
    mirrors: [],
    mirroring: false,
    usage: null,
    error: null,
  },
});

/** Returns the stored form of a task. */
export function packTask(task: VideoTask): StoredTask {
  return task.status === "pending" ? task : records.write(task);
}

/** The inverse of {@linkcode packTask}. */
export function unpackTask(stored: StoredTask): VideoTask {
  return stored instanceof Uint8Array ? records.read(stored).record : stored;
}
