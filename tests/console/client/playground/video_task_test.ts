import { assertEquals } from "@std/assert";
import { readTask } from "../../../../src/console/client/pages/playground/videos/video_request.ts";

const TASK = {
  id: "vid_1",
  status: "completed",
  created_at: 100,
  updated_at: 130,
  completed_at: 112,
  usage: { cost: 0.4, video_seconds: 4 },
  unsigned_urls: ["https://vendor.example/1.mp4", "https://vendor.example/2.mp4"],
  mirror_urls: [],
};
const COPIES = ["https://gateway.example/files/1.mp4", "https://gateway.example/files/2.mp4"];

Deno.test("playground: a video took as long as from its create to its end", () => {
  assertEquals(readTask(TASK).tookMs, 12_000);
  assertEquals(readTask({ ...TASK, status: "failed", completed_at: null }).tookMs, 30_000);
  assertEquals(readTask({ ...TASK, status: "pending", completed_at: null }).tookMs, null);
});

Deno.test("playground: a task has every video, its thumbnail and its last frame, and is read until they are copied", () => {
  const first = readTask({ ...TASK, thumbnail_url: "https://vendor.example/t.png" });
  assertEquals(first.results.map(({ type, index }) => `${type} ${index}`), ["video 0", "video 1", "thumbnail 0"]);
  assertEquals(first.isCopied, false);
  const copied = { ...TASK, mirror_urls: COPIES, last_frame_url: "https://vendor.example/l.png" };
  assertEquals(readTask(copied).results.map(({ url }) => url), [...COPIES, "https://vendor.example/l.png"]);
  assertEquals(readTask(copied).isCopied, false);
  const lastFrame = "https://gateway.example/files/l.png";
  const whole = readTask({ ...copied, last_frame_mirror_url: lastFrame });
  assertEquals([whole.isCopied, whole.results.at(-1)?.url], [true, lastFrame]);
});
