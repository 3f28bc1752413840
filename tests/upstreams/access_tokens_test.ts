import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { HeaderFields } from "../../src/vendors/upstreams/call/authorization.ts";
import { type AccessToken, createAccessTokens } from "../../src/vendors/upstreams/call/access_tokens.ts";
import { ManualClock } from "../support/manual_clock.ts";

const HOUR_MS = 3_600_000;

/** A source whose fetches the test settles. */
function source() {
  const clock = new ManualClock();
  const fetches: (PromiseWithResolvers<AccessToken> & { readonly late: AbortSignal })[] = [];
  const tokens = createAccessTokens((late) => {
    const fetch = { ...Promise.withResolvers<AccessToken>(), late };
    fetches.push(fetch);
    return fetch.promise;
  }, clock);
  const issue = (value: string, lifetimeMs = HOUR_MS) => fetches.at(-1)!.resolve({ value, lifetimeMs });
  /** A source that has a token. */
  const issued = async (value: string, lifetimeMs?: number): Promise<HeaderFields> => {
    const fields = tokens.fields();
    issue(value, lifetimeMs);
    return await fields;
  };
  return { clock, fetches, tokens, issue, issued };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const turn = () => new Promise<void>((resolve) => setTimeout(resolve));

Deno.test("a token is fetched once for many requests, and kept", async () => {
  const { fetches, tokens, issue } = source();
  const waiting = [tokens.fields(), tokens.fields(), tokens.fields()];
  assertEquals(fetches.length, 1);
  issue("one");
  const [first] = await Promise.all(waiting);
  assertEquals(first, bearer("one"));
  assertStrictEquals(tokens.fields(), first);
  assertEquals(fetches.length, 1);
});

Deno.test("a token is renewed in the background before it ends", async () => {
  const { clock, fetches, tokens, issue, issued } = source();
  const first = await issued("one");
  clock.stall(HOUR_MS - 300_001);
  tokens.fields();
  assertEquals(fetches.length, 1);
  clock.stall(1);
  assertStrictEquals(tokens.fields(), first);
  assertEquals(fetches.length, 2);
  issue("two");
  await turn();
  assertEquals(tokens.fields(), bearer("two"));
});

Deno.test("a token is not used in its last seconds, nor for longer than a short lifetime", async () => {
  for (const [lifetimeMs, usedMs] of [[HOUR_MS, HOUR_MS - 30_000], [10_000, 9_000]] as const) {
    const { clock, tokens, issued } = source();
    await issued("one", lifetimeMs);
    clock.stall(usedMs - 1);
    assert(!(tokens.fields() instanceof Promise));
    clock.stall(1);
    assert(tokens.fields() instanceof Promise);
  }
});

Deno.test("a failed renewal is reported only after the token has ended, and not repeated at once", async () => {
  const { clock, fetches, tokens, issued } = source();
  const first = await issued("one");
  clock.stall(HOUR_MS - 300_000);
  tokens.fields();
  fetches.at(-1)!.reject(new Error("down"));
  await turn();
  assertStrictEquals(tokens.fields(), first);
  assertEquals(fetches.length, 2);
  clock.stall(2_000);
  tokens.fields();
  assertEquals(fetches.length, 3);
  clock.stall(270_000);
  const late = tokens.fields();
  fetches.at(-1)!.reject(new Error("still down"));
  await assertRejects(async () => await late, Error, "still down");
  await assertRejects(async () => await tokens.fields(), Error, "still down");
  assertEquals(fetches.length, 3);
});

Deno.test("a rejected token is replaced, unless it is new", async () => {
  const { clock, fetches, tokens, issue, issued } = source();
  const first = await issued("one");
  assertEquals(tokens.reject(first), false);
  clock.stall(60_000);
  assertEquals(tokens.reject(first), true);
  const second = tokens.fields();
  issue("two");
  assertEquals(await second, bearer("two"));
  // The answer to a request that was sent before.
  assertEquals(tokens.reject(first), true);
  assertEquals(tokens.fields(), bearer("two"));
  assertEquals(fetches.length, 2);
});

Deno.test("the signal of a fetch aborts after 30 seconds", async () => {
  const { clock, fetches, tokens, issue } = source();
  const fields = tokens.fields();
  clock.advance(29_999);
  assertEquals(fetches[0]?.late.aborted, false);
  clock.advance(1);
  assertEquals(fetches[0]?.late.aborted, true);
  issue("one");
  await fields;
  assertEquals(clock.waiting, 0);
});

Deno.test("the last two tokens are hidden in texts", async () => {
  const { clock, tokens, issued } = source();
  await issued("opaque-one");
  clock.stall(HOUR_MS);
  await issued("opaque-two");
  assertEquals(tokens.hide("opaque-one, opaque-two, other"), "[redacted], [redacted], other");
});
