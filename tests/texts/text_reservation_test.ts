import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { highestReservation } from "../../src/money/billing/meter/highest_reservation.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { type Money, readMoney, readRate } from "../../src/platform/lib/basics/money.ts";
import {
  fitWithin,
  type TextMaximum,
  type TextRates,
  textReservation,
} from "../../src/services/texts/plan/text_reservation.ts";

/** Three dollars per million input tokens, fifteen per million output tokens. */
const MID_PRICED: TextRates = {
  prompt: readRate("0.000003"),
  cached: readRate("0.0000003"),
  output: readRate("0.000015"),
  picture: 0n,
  search: 0n,
  request: 0n,
};

const DEFAULT_CALL: TextMaximum = {
  promptTokens: 100,
  cachedTokens: 0,
  pictures: 0,
  hostedTools: 0,
  searches: 0,
  outputTokens: 128_000,
  reasoningTokens: 0,
  choices: 1,
  limitField: null,
  isSizeKnown: true,
};

/** Opens calls until one is rejected or the maximum is reached. Returns their limits. */
function openCalls(balance: string, call: TextMaximum, most: number): (number | null)[] {
  let spendable = readMoney(balance);
  const limits: (number | null)[] = [];
  try {
    while (limits.length < most) {
      const { amount, outputLimit } = textReservation(call, MID_PRICED)(spendable);
      spendable -= amount;
      limits.push(outputLimit);
    }
  } catch (error) {
    assert(error instanceof GatewayError && error.code === "insufficient_credits");
  }
  return limits;
}

Deno.test("one dollar covers ten parallel default calls of a mid-priced model", () => {
  const limits = openCalls("1", DEFAULT_CALL, 10);
  assertEquals(limits.length, 10);
  assertEquals(limits[0], 6_666, "a tenth of a dollar buys 6666 tokens");
});

Deno.test("ten parallel default calls fit any balance from fifty cents", () => {
  fc.assert(fc.property(fc.integer({ min: 50, max: 5_000 }), (cents) => {
    assertEquals(
      openCalls(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`, DEFAULT_CALL, 10).length,
      10,
    );
  }));
});

Deno.test("no limit is sent while the balance covers the model's own output and nine small calls", () => {
  assertEquals(openCalls("2.0613", DEFAULT_CALL, 1), [null]);
  assertEquals(openCalls("2.0612", DEFAULT_CALL, 1), [13_741]);
});

Deno.test("a small balance passes when it covers the prompt and 1,024 tokens", () => {
  assertEquals(openCalls("0.0157", DEFAULT_CALL, 1), [1_024]);
  assertEquals(openCalls("0.0156", DEFAULT_CALL, 1), []);
  assertEquals(
    openCalls("0.005", { ...DEFAULT_CALL, outputTokens: 256 }, 1),
    [null],
    "a model's own limit may be lower",
  );
});

Deno.test("a caller's limit that does not fit is rejected, naming the largest one that fits", () => {
  const call = { ...DEFAULT_CALL, outputTokens: 100_000, limitField: "max_tokens" };
  const error = assertThrows(() => textReservation(call, MID_PRICED)(readMoney("0.3")), GatewayError);
  assertEquals([error.code, error.details.field], ["insufficient_credits", "max_tokens"]);
  assert(error.message.includes("expected at most 19979"), error.message);
  assertEquals(textReservation({ ...call, outputTokens: 19_979 }, MID_PRICED)(readMoney("0.3")).outputLimit, null);
});

Deno.test("choices multiply the output", () => {
  const call = { ...DEFAULT_CALL, outputTokens: 1_000, limitField: "max_tokens", choices: 128 };
  assertThrows(() => textReservation(call, MID_PRICED)(readMoney("1.9")), GatewayError);
  assertEquals(textReservation(call, MID_PRICED)(readMoney("2")).amount, readMoney("1.9203"));
  assertEquals(openCalls("1", { ...DEFAULT_CALL, choices: 4 }, 1), [1_666]);
});

Deno.test("a request of unknown size is rejected with the reason", () => {
  const call = { ...DEFAULT_CALL, promptTokens: 1_000_000, isSizeKnown: false };
  const error = assertThrows(() => textReservation(call, MID_PRICED)(readMoney("1")), GatewayError);
  assert(error.message.includes("refers to files, stored context or hosted tools"), error.message);
});

Deno.test("a free model reserves no money, and the tokens that a request may use", () => {
  const free = { prompt: 0n, cached: 0n, output: 0n, picture: 0n, search: 0n, request: 0n };
  assertEquals(textReservation(DEFAULT_CALL, free)(-5n), {
    amount: 0n,
    outputLimit: null,
    tokens: DEFAULT_CALL.promptTokens + DEFAULT_CALL.outputTokens,
    knownTokens: DEFAULT_CALL.promptTokens + 1_024,
  });
});

const anyMeasure: fc.Arbitrary<TextMaximum> = fc.record({
  promptTokens: fc.nat(200_000),
  cachedTokens: fc.nat(200_000),
  pictures: fc.nat(3),
  hostedTools: fc.nat(2),
  searches: fc.nat(5),
  outputTokens: fc.integer({ min: 1, max: 200_000 }),
  reasoningTokens: fc.constant(0),
  choices: fc.integer({ min: 1, max: 128 }),
  limitField: fc.constantFrom(null, "max_tokens"),
  isSizeKnown: fc.boolean(),
});

const anyRate = fc.bigInt({ min: 0n, max: 10n ** 14n });

const anyRates: fc.Arbitrary<TextRates> = fc.record({
  prompt: anyRate,
  cached: anyRate,
  output: anyRate,
  picture: anyRate,
  search: anyRate,
  request: anyRate,
});

Deno.test("a reservation fits the balance, covers the maximum use, and a limit is at least 1,024 tokens", () => {
  fc.assert(
    fc.property(anyMeasure, anyRates, fc.bigInt({ min: -5n, max: 10n ** 12n }), (measure, rates, spendable) => {
      let reserved;
      try {
        reserved = textReservation(measure, rates)(spendable);
      } catch (error) {
        assert(error instanceof GatewayError && error.code === "insufficient_credits");
        return;
      }
      assert(reserved.amount <= spendable || reserved.amount === 0n);
      const { outputLimit } = reserved;
      assert(outputLimit === null || (outputLimit >= 1_024 && outputLimit < measure.outputTokens));
      assert(measure.limitField === null || outputLimit === null);
      assert(reserved.amount >= costOf(measure, rates, outputLimit ?? measure.outputTokens));
    }),
    { numRuns: 1_000 },
  );
});

function costOf(measure: TextMaximum, rates: TextRates, outputTokens: number): Money {
  const exact = BigInt(measure.promptTokens) * rates.prompt + BigInt(measure.cachedTokens) * rates.cached +
    BigInt(measure.pictures) * rates.picture + BigInt(measure.searches) * rates.search + rates.request +
    BigInt(outputTokens * measure.choices) * rates.output;
  return (exact + 50_000_000n) / 100_000_000n;
}

Deno.test("joinedReserve() reserves the highest amount that fits, with the first option's limit", () => {
  const dear = { ...MID_PRICED, output: MID_PRICED.output * 10n };
  const limited = { ...DEFAULT_CALL, limitField: "max_tokens", outputTokens: 1_000 };
  const [cheap, costly] = [textReservation(limited, MID_PRICED), textReservation(limited, dear)];
  const joined = highestReservation([cheap, costly]);
  assertEquals(joined(readMoney("1")).amount, costly(readMoney("1")).amount);
  assertEquals(joined(readMoney("0.1")), cheap(readMoney("0.1")));
  assertThrows(() => highestReservation([costly, cheap])(readMoney("0.1")), GatewayError);
  const long = highestReservation([textReservation(DEFAULT_CALL, MID_PRICED), costly])(readMoney("10"));
  assertEquals(long, textReservation(DEFAULT_CALL, MID_PRICED)(readMoney("10")));
});

Deno.test("fitWithin() returns the exact limit that the reservation covers", () => {
  const amounts = fc.bigInt({ min: 0n, max: readMoney("20") });
  fc.assert(fc.property(amounts, fc.integer({ min: 1, max: 3 }), fc.boolean(), (amount, choices, isLimited) => {
    const call = { ...DEFAULT_CALL, choices, limitField: isLimited ? "max_tokens" : null };
    const fit = fitWithin(amount, call, MID_PRICED);
    const costOf = (outputTokens: number) =>
      textReservation({ ...call, outputTokens, limitField: "max_tokens" }, MID_PRICED)(readMoney("1000000")).amount;
    const limit = fit === null ? null : fit.outputLimit ?? call.outputTokens;
    if (limit === null) assert(costOf(isLimited ? call.outputTokens : 1_024) > amount);
    else {
      assert(costOf(limit) <= amount);
      assert(limit === call.outputTokens || costOf(limit + 1) > amount);
    }
  }));
});

Deno.test("fitWithin() fits every call into its own reservation", () => {
  for (const balance of ["0.05", "0.5", "3", "20", "500"]) {
    const { amount, outputLimit } = textReservation(DEFAULT_CALL, MID_PRICED)(readMoney(balance));
    assertEquals(fitWithin(amount, DEFAULT_CALL, MID_PRICED), { outputLimit });
  }
});
