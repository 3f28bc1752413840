import { assertEquals } from "@std/assert";
import { type ProfileNode, timeSpent } from "../../bench/profile.ts";

const ROOT = new URL("../../", import.meta.url).href;

function node(id: number, functionName: string, url: string, children: number[] = []): ProfileNode {
  return { id, callFrame: { functionName, url, lineNumber: 9 }, children };
}

Deno.test("timeSpent() computes shares of the time in which JavaScript ran", () => {
  const { outside, self } = timeSpent({
    nodes: [
      node(1, "(root)", "", [2, 3, 4]),
      node(2, "(idle)", ""),
      node(3, "post", "ext:deno_node/inspector.js"),
      node(4, "", ""),
    ],
    samples: [2, 3, 4, 4],
    timeDeltas: [30, 30, 15, 25],
  });
  assertEquals(outside, 0.6);
  assertEquals(self, [{ label: "(anonymous)", share: 1 }]);
});

Deno.test("timeSpent() counts a recursive function once, and only the gateway's own functions with their callees", () => {
  const { inclusive } = timeSpent({
    nodes: [
      node(1, "(root)", "", [2]),
      node(2, "relay", `${ROOT}src/texts/relay.ts`, [3, 5]),
      node(3, "relay", `${ROOT}src/texts/relay.ts`, [4]),
      node(4, "op_write", ""),
      node(5, "other", "file:///elsewhere/src/other.ts"),
    ],
    samples: [4, 2, 5, 4],
    timeDeltas: [10, 10, 10, 10],
  });
  assertEquals(inclusive, [{ label: "relay src/texts/relay.ts:10", share: 1 }]);
});
