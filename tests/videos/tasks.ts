import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import { itemAt } from "../support/items.ts";

/** Models of {@linkcode taskOf}. */
export const MODELS = ["one/model", "two/model"];

/** Returns a stored task, numbered in order of creation, of the key `key` by default. */
export function taskOf(n: number, over: Partial<VideoTask> = {}): VideoTask {
  return {
    id: `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`,
    account: "acme",
    keyId: "key",
    model: itemAt(MODELS, 0),
    prompt: "A lighthouse",
    mode: "text2video",
    status: "pending",
    createdAt: 1_000,
    updatedAt: 1_000,
    deadlineAt: 2_000,
    callbackUrl: null,
    pin: null,
    order: null,
    inputs: [],
    stage: { step: "waiting" },
    offers: 0,
    price: { perSecond: 1n, seconds: 5, estimate: 5n, held: false },
    results: [],
    mirrors: [],
    mirroring: false,
    usage: null,
    error: null,
    ...over,
  };
}
