import { assert, assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../../src/sandbox/families/sample_video.ts";
import type { VideoGateway } from "../../support/video_gateway.ts";

/** What a video has cost, and where its copy is. */
interface MadeTask {
  readonly status: string;
  readonly provider: string;
  readonly error?: unknown;
  readonly usage: { readonly video_cost: string };
  readonly mirror_urls: readonly string[];
}

/** Creates a video, and checks that it is made, charged and copied. Returns its provider. */
export async function assertVideoMade(
  { create, until }: Pick<VideoGateway, "create" | "until">,
  body: Record<string, unknown>,
  cost: string,
): Promise<string> {
  const task = await until(await create(body), "completed", "failed") as unknown as MadeTask;
  const what = JSON.stringify([body.model, task.error]);
  assertEquals([task.status, task.usage?.video_cost], ["completed", cost], what);
  const [mirror] = task.mirror_urls;
  assert(mirror !== undefined, what);
  const response = await fetch(mirror);
  assertEquals([response.status, await response.bytes()], [200, SAMPLE_VIDEO], what);
  return task.provider;
}
