import { atLeast, itemAt } from "./items.ts";

/** A table as the repository's formatter lays it out. */
export function alignedTable(rows: readonly (readonly string[])[]): string[] {
  const widths = itemAt(rows, 0).map((_, column) => Math.max(3, ...rows.map((row) => itemAt(row, column).length)));
  const [head, ...body] = atLeast(
    rows.map((row) => line(row.map((cell, column) => cell.padEnd(itemAt(widths, column))))),
    1,
  );
  return [head, line(widths.map((width) => "-".repeat(width))), ...body];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

const LINE_CHARACTERS = 120;

/** A paragraph in lines as the formatter wraps them; later lines are indented by the width of the mark. */
export function wrappedParagraph(text: string, mark = ""): string[] {
  const lines = [mark];
  let isEmpty = true;
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    const longer = isEmpty ? last + word : `${last} ${word}`;
    if (longer.length <= LINE_CHARACTERS) lines[lines.length - 1] = longer;
    else lines.push(" ".repeat(mark.length) + word);
    isEmpty = false;
  }
  return lines;
}
