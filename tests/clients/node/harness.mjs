/**
 * Runs scenarios of npm packages for `tests/clients/sdk_worker.ts`, as `../python/harness.py` does for those of Python:
 * a row is a class that is constructed with a place and has a method for each scenario; the checks are here.
 *
 * A request is a line of JSON on standard input, {row, scenario, address, key, model}; the answer is a line of JSON on
 * standard output, {outcome}: `yes` or `no: <why>`. By hand: `node ai_sdk.mjs ADDRESS KEY [part of a row's name]`.
 */
import { createInterface } from "node:readline";

const PLAIN = "one two three four";
const STREAM = "[[words 40]] Grüße";
const CITY = 'Zürich "West"';
const TOOL = '[[tool weather {"city":"Zürich \\"West\\""}]] How is the weather?';
const PARALLEL = '[[tool weather {"city":"Bern"}]] [[tool weather {"city":"Oslo"}]] How is the weather?';
const STRUCTURED = "Weather in Bern?";
const UNKNOWN_MODEL = "sandbox/nowhere";
const REFUSED = "[[fail 400 The pigeons are tired]] hello";
const RATE_LIMITED = "[[fail 429 1]] hello";

const MAX_SCENARIO_MS = 60_000;

/** JSON Schema of the tool's arguments. */
export const TOOL_PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", description: "Name of the city" } },
  required: ["city"],
  additionalProperties: false,
};

/** JSON Schema of structured answers. */
export const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

function check(holds, message) {
  if (!holds) throw new Error(message);
}

function equal(actual, expected, what) {
  const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(is === wanted, `${what}: ${is} in place of ${wanted}`);
}

/** The tool that a model calls. Keeps the cities that it was asked for. */
function weatherTool() {
  const cities = [];
  const weather = ({ city }) => {
    cities.push(city);
    return `sunny in ${city}`;
  };
  return { weather, cities };
}

/** What each row is tried with, by the names of the table's columns. */
const SCENARIOS = {
  /** `plain(prompt)` resolves to {text, input, output}: the text and its tokens. */
  async plain(Row, place) {
    const { text, input, output } = await new Row(place).plain(PLAIN);
    equal(text, `You said: ${PLAIN}`, "text");
    equal([input, output], [4, 6], "tokens");
  },
  /** `stream(prompt)` resolves to the pieces of text in order. */
  async stream(Row, place) {
    const pieces = (await new Row(place).stream(STREAM)).filter((piece) => piece !== "");
    equal(pieces.join(""), Array.from({ length: 40 }, (_, at) => `word${at + 1}`).join(" "), "text");
    check(pieces.length > 10, `came in ${pieces.length} pieces`);
  },
  /** `turn(prompt, weather)` lets the model call the tool and resolves to the final {text}; `streamedTurn` alike. */
  tools: (Row, place) => toolTurns(Row, place, ["turn", "streamedTurn"], TOOL, [CITY]),
  "parallel tools": (Row, place) => toolTurns(Row, place, ["turn", "streamedTurn"], PARALLEL, ["Bern", "Oslo"]),
  /** `structured(prompt)` resolves to the object. */
  async structured(Row, place) {
    const value = await new Row(place).structured(STRUCTURED);
    equal(Object.keys(value).toSorted(), ["city", "degrees"], "fields");
    equal([typeof value.city, Number.isInteger(value.degrees)], ["string", true], "types");
  },
  /** `reasoning(prompt, weather)` resolves to the final {text, thoughts} of a model that thinks. */
  reasoning: (Row, place) => toolTurns(Row, place, ["reasoning"], TOOL, [CITY]),
  /** `plain` rejects; `Row.shown(error)` gives class, status and message. */
  async error(Row, place) {
    await raises(Row, { ...place, model: UNKNOWN_MODEL }, PLAIN, ["unknown", 404, UNKNOWN_MODEL]);
    await raises(Row, place, REFUSED, ["refused", 400, "The pigeons are tired"]);
    await raises(Row, place, RATE_LIMITED, ["limited", 429, ""]);
  },
};

async function toolTurns(Row, place, names, prompt, wanted) {
  for (const name of names) {
    const row = new Row(place);
    if (!row[name]) continue;
    const { weather, cities } = weatherTool();
    const { text, thoughts } = await row[name](prompt, weather);
    equal(cities.toSorted(), wanted.toSorted(), `${name}: cities asked for`);
    const plain = text.replaceAll('\\"', '"');
    for (const city of wanted) {
      check(
        /The tool weather answered: /.test(text) && plain.includes(`sunny in ${city}`),
        `${name}: final answer ${text}`,
      );
    }
    check(thoughts === undefined || thoughts.includes("think about this"), `${name}: thoughts "${thoughts}"`);
  }
}

async function raises(Row, place, prompt, [kind, status, part]) {
  let shown;
  try {
    shown = await new Row(place).plain(prompt);
  } catch (error) {
    const [name, actual, message] = Row.shown(error);
    equal(name, Row.errors[kind], `class of the ${status} (${message})`);
    equal(actual, status, `status of ${name} (${message})`);
    check(message.includes(part) && message.length > 10, `message of the ${status}: ${message}`);
    return;
  }
  throw new Error(`no error where ${status} was expected, but ${JSON.stringify(shown)}`);
}

async function outcomeOf(Row, scenario, place) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("not done after 60 s")), MAX_SCENARIO_MS);
  });
  try {
    await Promise.race([SCENARIOS[scenario](Row, place), late]);
    return "yes";
  } catch (error) {
    if (process.env.SWITCHYARD_TRACE) console.error(error);
    const name = error.constructor === Error ? "" : `${error.constructor.name}: `;
    return `no: ${name}${error.message}`;
  } finally {
    clearTimeout(timer);
  }
}

/** The base addresses of a place, as each family's clients are given them. */
export function bases({ address }) {
  return { openai: `${address}/v1`, anthropic: `${address}/msgcompat`, google: `${address}/gencompat` };
}

/** Serves requests until standard input ends, or tries everything where the address is an argument. */
export async function main(rows) {
  const [, , address, key, part = ""] = process.argv;
  if (address !== undefined) return await byHand(rows, { address, key }, part);
  // Packages print, too.
  console.log = console.error;
  for await (const line of createInterface({ input: process.stdin })) {
    const { row, scenario, ...place } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ outcome: await outcomeOf(rows[row], scenario, place) }) + "\n");
  }
  process.exit(0);
}

async function byHand(rows, place, part) {
  const models = { openai: "sandbox/chat-1", anthropic: "sandbox/messages-1", google: "sandbox/content-1" };
  for (const [name, Row] of Object.entries(rows)) {
    if (!name.includes(part)) continue;
    for (const [vendor, model] of Object.entries(models)) {
      for (const scenario of Object.keys(SCENARIOS)) {
        console.log(`${name}, ${vendor}, ${scenario}: ${await outcomeOf(Row, scenario, { ...place, model })}`);
      }
    }
  }
  process.exit(0);
}
