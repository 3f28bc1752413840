import { assertEquals } from "@std/assert";
import { recordReadBacks } from "../support/read_backs.ts";
import { createWith, openStage, runDue } from "./stage.ts";

Deno.test("the creation and submission of a task do not read back their own writes", async () => {
  const stage = await openStage();
  const { store, readBacks } = recordReadBacks(stage.store);
  const videos = stage.reopen(store);
  const id = await createWith(videos);
  await stage.store.get([["another", "key"]]);
  const created = readBacks.length;
  // The job handler reads the task that the caller wrote; after that, each stage uses the version of its own commit.
  await runDue(store, videos, ["video_submit"]);
  assertEquals([created, readBacks.length - created], [0, 1]);
  assertEquals((await videos.read("key-1", id)).status, "pending");
});
