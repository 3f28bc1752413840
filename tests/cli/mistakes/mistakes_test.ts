import { assertEquals } from "@std/assert";
import { COMMAND_MISTAKES, CONFIG_MISTAKES, GATEWAY_MISTAKES, STOPPED_MISTAKES } from "./mistakes.ts";
import { makeMistakePlace, type Mistake, type MistakePlace } from "./place.ts";

/** The answer to each mistake. Written again by this test if the environment variable is set; read the difference. */
const ANSWERS = new URL("./answers.txt", import.meta.url);
const isWriting = Deno.env.get("SWITCHYARD_WRITE_ANSWERS") !== undefined;

Deno.test("each mistake of a newcomer gets the recorded answer", async (t) => {
  const recorded = isWriting ? new Map<string, string>() : await readAnswers();
  const place = await makeMistakePlace();
  try {
    const answers: (readonly [string, string])[] = [];
    const answerEach = async (mistakes: readonly Mistake[]) => {
      for (const { name, answer } of mistakes) {
        await t.step(name, async () => {
          const found = await answer(place);
          answers.push([name, found]);
          if (!isWriting) assertEquals(found, recorded.get(name));
        });
      }
    };
    await answerEach([...CONFIG_MISTAKES, ...COMMAND_MISTAKES]);
    await whileRunning(place, () => answerEach(GATEWAY_MISTAKES));
    await answerEach(STOPPED_MISTAKES);
    if (isWriting) await Deno.writeTextFile(ANSWERS, answers.map(([name, text]) => `== ${name}\n${text}\n`).join("\n"));
    else assertEquals(answers.map(([name]) => name), [...recorded.keys()]);
  } finally {
    await place.remove();
  }
});

async function whileRunning(place: MistakePlace, act: () => Promise<void>): Promise<void> {
  await place.start();
  try {
    await act();
  } finally {
    await place.stop();
  }
}

async function readAnswers(): Promise<ReadonlyMap<string, string>> {
  const [, ...parts] = `\n${await Deno.readTextFile(ANSWERS)}`.split(/\n== /);
  return new Map(parts.map((part) => {
    const at = part.indexOf("\n");
    return [part.slice(0, at), part.slice(at + 1).trimEnd()];
  }));
}
