import { JsonCursor, MAX_PARSED_BYTES } from "../../../platform/lib/json/json_cursor.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { readMember } from "./batch_exchange.ts";

/** A line of a vendor's results. */
interface ResultLine {
  /** What is around the reply, and the reply only if the line is short. */
  readonly around: unknown;
  /** Returns the member at a path, as it was sent; null if it is not an object, or is not the reply of a long line. */
  readonly memberAt: (path: readonly string[]) => Uint8Array<ArrayBuffer> | null;
}

/** Where the parts of a vendor's lines are. */
interface ResultNames {
  /** The names that lead to the reply. */
  readonly reply: readonly string[];
  /** The names of all else that is read. */
  readonly facts: ReadonlySet<string>;
}

/**
 * Reads a line of a vendor's results. Of one above {@linkcode MAX_PARSED_BYTES}, only what is around the reply is
 * parsed, and the reply is skipped with pauses. It is checked when it is read as a reply.
 *
 * @param turn Resolves in a later turn of the event loop.
 * @throws {SyntaxError} If the line is not a JSON text, or if a fact of a long line is longer than 64 KB.
 */
export async function readResultLine(
  line: Uint8Array<ArrayBuffer>,
  names: ResultNames,
  turn?: () => Promise<void>,
): Promise<ResultLine> {
  if (line.length <= MAX_PARSED_BYTES) {
    return { around: JSON.parse(new TextDecoder().decode(line)), memberAt: (path) => memberAt(line, path) };
  }
  const cursor = new JsonCursor(line, turn);
  const { around, reply } = await readAround(cursor, names);
  cursor.end();
  const path = names.reply.join("\n");
  return { around, memberAt: (wanted) => wanted.join("\n") === path ? reply : null };
}

function memberAt(line: Uint8Array<ArrayBuffer>, path: readonly string[]): Uint8Array<ArrayBuffer> | null {
  let member: Uint8Array<ArrayBuffer> | null = line;
  for (const name of path) member = member && readMember(member, name);
  return member;
}

/** The object that follows, and the reply in it. */
interface Around {
  readonly around: JsonObject;
  readonly reply: Uint8Array<ArrayBuffer> | null;
}

async function readAround(cursor: JsonCursor, { reply: [next, ...rest], facts }: ResultNames): Promise<Around> {
  const around: JsonObject = {};
  let reply: Uint8Array<ArrayBuffer> | null = null;
  for (const name of cursor.members()) {
    if (name === next && cursor.isAtObject) {
      if (rest.length === 0) reply = (await cursor.skip()).slice();
      else {
        const inner = await readAround(cursor, { reply: rest, facts });
        around[name] = inner.around;
        reply = inner.reply;
      }
    } else if (facts.has(name)) around[name] = cursor.value();
    else await cursor.skip();
    await cursor.pause();
  }
  return { around, reply };
}
