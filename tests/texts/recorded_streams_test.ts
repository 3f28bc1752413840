import { itemAt } from "../support/items.ts";
import { passRelayOf } from "./support.ts";
import { assert, assertEquals } from "@std/assert";
import { encodeFrames } from "../../src/platform/lib/streams/sse.ts";
import { minRecordings, recordings } from "../support/recordings.ts";
import { CODECS } from "../support/formats.ts";
import { admissionRecorder, attemptOf, bodyOf, cutAt, relayAll, withoutCost } from "./support.ts";

const PLACES = Array.from({ length: 40 }, (_, at) => (at * 0.618) % 1);

Deno.test({
  name: "PassRelay passes every recorded stream byte for byte",
  async fn() {
    let complete = 0;
    for (const { name, form, frames } of recordings()) {
      if (frames === null) continue;
      const hasMark = form !== "chat" || frames.at(-1)!.data === "[DONE]";
      const sent = hasMark ? frames : [...frames, { event: null, data: "[DONE]" }];
      const wire = withoutCost(new TextDecoder().decode(encodeFrames(sent)));
      const follower = CODECS[form].passThrough.watch({});
      for (const { data } of sent) if (follower.isRelevant(data)) follower.observe(data);
      const recorder = admissionRecorder();
      const asksForUsage = form === "chat" ? { stream_options: { include_usage: true } } : {};
      const relay = passRelayOf(attemptOf(form, { recorder, request: { body: bodyOf(form, asksForUsage) } }));
      const text = await relayAll(relay, cutAt(wire, PLACES));
      assertEquals(text.slice(0, wire.length), wire, name);
      assertEquals(recorder.charges.length, 1, name);
      // Some recordings lack their end.
      if (!follower.isComplete()) continue;
      assertEquals(text, wire, name);
      if (follower.usage() === null) continue;
      complete++;
      assertEquals(itemAt(recorder.charges, 0).usage, follower.usage()!, name);
    }
    assert(complete > minRecordings(40), `${complete} streams were complete`);
  },
});
