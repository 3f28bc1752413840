import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";
import { AnswerError } from "./questions.ts";
import { INIT_VENDORS, type InitVendor } from "./vendors.ts";

const NAMES = INIT_VENDORS.map(({ name }) => name);
const COLUMNS = 4;
const MAX_VENDORS = INIT_VENDORS.length;

/** All vendors with their numbers, in columns. */
export function vendorList(): string {
  const width = Math.max(...NAMES.map((name) => name.length)) + 2;
  const cells = NAMES.map((name, index) => `${String(index + 1).padStart(4)} ${name.padEnd(width)}`);
  const rows = Array.from({ length: Math.ceil(cells.length / COLUMNS) }, (_, row) => {
    return cells.slice(row * COLUMNS, (row + 1) * COLUMNS).join("").trimEnd();
  });
  return rows.join("\n");
}

/**
 * The vendors of a list with commas: names, numbers of {@linkcode vendorList}, or a part of a name that one vendor has.
 *
 * @throws {AnswerError} If a part fits none or several, or if there is none.
 */
export function readVendors(text: string): InitVendor[] {
  const parts = text.split(",").map((part) => part.trim().toLowerCase()).filter((part) => part !== "");
  if (parts.length === 0) throw new AnswerError("expected at least one vendor");
  return [...new Set(parts.map(vendorOf))];
}

function vendorOf(part: string): InitVendor {
  const found = /^\d+$/.test(part)
    ? INIT_VENDORS.slice(Number(part) - 1, Number(part))
    : INIT_VENDORS.filter(({ name }) => name === part);
  const [exact] = found;
  if (exact !== undefined) return exact;
  if (/^\d+$/.test(part)) throw new AnswerError(`expected a number from 1 to ${MAX_VENDORS}, got ${part}`);
  const similar = INIT_VENDORS.filter(({ name }) => name.includes(part));
  const [only] = similar;
  if (only !== undefined && similar.length === 1) return only;
  if (only !== undefined) {
    const list = similar.map((vendor) => `${INIT_VENDORS.indexOf(vendor) + 1} ${vendor.name}`).join(", ");
    throw new AnswerError(`several vendors have "${part}" in their name: ${list}`);
  }
  const nearest = nearestWord(part, NAMES);
  const hint = nearest === null ? `expected some of ${NAMES.join(", ")}` : `did you mean "${nearest}"?`;
  throw new AnswerError(`no vendor is called "${part}"; ${hint}`);
}
