import { assertEquals } from "@std/assert";
import { loggedPathOf } from "../../src/platform/http/logged_texts.ts";

Deno.test("a logged path has no key, however many other paths were logged before and between", () => {
  const key = "sk-proj-4f9aB2c8D1e7F6a5";
  for (let round = 0; round < 3; round++) {
    for (let id = 0; id < 300; id++) {
      assertEquals(loggedPathOf({ sentPath: `/v1/videos/${id}` }), `/v1/videos/${id}`);
      assertEquals(loggedPathOf({ sentPath: `/v1/videos/${key}/${id}` }), `/v1/videos/[redacted]/${id}`);
    }
  }
});
