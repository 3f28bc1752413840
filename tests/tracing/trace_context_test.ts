import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { HeaderFields } from "../../src/platform/http/request/headers.ts";
import {
  newSpanId,
  newTraceId,
  readTraceParent,
  traceHeaderLines,
} from "../../src/platform/lib/tracing/trace_context.ts";
import { traceBySampling } from "../../src/observers/tracing/sampling.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

Deno.test("readTraceParent() reads version 00, and later versions by its fields", () => {
  for (const [text, isSampled] of [["01", true], ["00", false], ["03", true], ["fe", false]] as const) {
    assertEquals(readTraceParent(`00-${TRACE}-${SPAN}-${text}`, null), {
      traceId: TRACE,
      parentId: SPAN,
      isSampled,
      state: "",
    });
  }
  assertEquals(readTraceParent(`cc-${TRACE}-${SPAN}-01-what-the-future-adds`, null)?.isSampled, true);
  assertEquals(readTraceParent(`cc-${TRACE}-${SPAN}-01`, null)?.parentId, SPAN);
});

Deno.test("readTraceParent() ignores every malformed traceparent", () => {
  for (
    const text of [
      "",
      TRACE,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-1`,
      `00-${TRACE}-${SPAN}-01-more`,
      `00-${TRACE}-${SPAN}-01.`,
      `cc-${TRACE}-${SPAN}-01.more`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${"0".repeat(16)}-01`,
      ` 00-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ]
  ) assertEquals(readTraceParent(text, null), null, text);
  fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => {
    assertEquals(readTraceParent(text, null), null);
  }));
});

Deno.test("readTraceParent() keeps a valid tracestate unchanged, and none that is malformed or too long", () => {
  const stateOf = (state: string) => readTraceParent(`00-${TRACE}-${SPAN}-01`, state)?.state;
  for (const state of ["congo=t61rcWkgMzE", "a=1,b=2", "a=1 , \tb=2", "a=1,,b=2", "tenant@vendor=x y", "a=1-_*/"]) {
    assertEquals(stateOf(state), state);
  }
  for (
    const state of [
      "a",
      "=1",
      "A=1",
      "a=1,a=2",
      "a=1\r\nx-evil: 1",
      "a=é",
      "a=1=2",
      `a=${"1".repeat(257)}`,
      Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(","),
      Array.from({ length: 20 }, (_, at) => `k${at}=${"1".repeat(30)}`).join(","),
    ]
  ) assertEquals(stateOf(state), "", state);
});

Deno.test("traceHeaderLines() is read back as the span that sent it", () => {
  const trace = { traceId: TRACE, spanId: SPAN, parentId: null, isSampled: true, state: "a=1" };
  assertEquals(
    traceHeaderLines(trace, "c".repeat(16)),
    `traceparent: 00-${TRACE}-${"c".repeat(16)}-01\r\ntracestate: a=1\r\n`,
  );
  assertEquals(
    traceHeaderLines({ ...trace, isSampled: false, state: "" }, SPAN),
    `traceparent: 00-${TRACE}-${SPAN}-00\r\n`,
  );
});

Deno.test("ids are hexadecimal, of the right length, and unique", () => {
  const spans = Array.from({ length: 5_000 }, newSpanId);
  const traces = Array.from({ length: 5_000 }, newTraceId);
  for (const id of spans) assertMatch(id, /^[0-9a-f]{16}$/);
  for (const id of traces) assertMatch(id, /^[0-9a-f]{32}$/);
  assertEquals(new Set([...spans, ...traces]).size, 10_000);
});

Deno.test("the caller's decision is followed, and the ratio decides for the others", () => {
  const headersOf = (traceparent?: string) => new HeaderFields(new Headers(traceparent ? { traceparent } : {}));
  for (const ratio of [0, 0.5, 1]) {
    const traceOf = traceBySampling(ratio);
    for (const flags of ["00", "01"]) {
      const trace = traceOf(headersOf(`00-${TRACE}-${SPAN}-${flags}`));
      assertEquals([trace.traceId, trace.parentId, trace.isSampled], [TRACE, SPAN, flags === "01"]);
    }
    const sampled = Array.from({ length: 10_000 }, () => traceOf(headersOf())).filter(({ isSampled }) => isSampled);
    // Six standard deviations: 50 for 10,000 draws at one half.
    assert(Math.abs(sampled.length - ratio * 10_000) <= (ratio === 0.5 ? 300 : 0), `${ratio}: ${sampled.length}`);
  }
  assertEquals(traceBySampling(1)(headersOf("nonsense")).parentId, null);
});
