import { useState } from "preact/hooks";
import type { ApiError } from "../api.ts";
import { number } from "../format.ts";
import { listFile, type ListFormat } from "../lists/list_file.ts";
import { type PagedOptions, readPages } from "../lists/paged.ts";
import { TEXTS } from "../texts.ts";
import { ErrorNotice } from "./error_notice.tsx";

const FORMATS: readonly ListFormat[] = ["csv", "jsonl"];
const TYPES = { csv: "text/csv", jsonl: "application/x-ndjson" };
/** Longer lists are cut, because the file is made in memory. */
const MAX_PAGES = 200;

/** Saves all rows of a list, as it is filtered, as a file. */
export function ListExport<T extends object>({ file, load }: {
  /** Of the file, without its extension. */
  readonly file: string;
  readonly load: PagedOptions<T>["load"];
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [cutAt, setCutAt] = useState<number | null>(null);
  const save = async (format: ListFormat) => {
    setBusy(true);
    setError(null);
    try {
      const { data, next } = await readPages(load, MAX_PAGES, new AbortController().signal);
      setCutAt(next === null ? null : data.length);
      download(`${file}.${format}`, new Blob([listFile(data, format)], { type: TYPES[format] }));
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="actions export">
      <span class="hint">{isBusy ? TEXTS.app.exporting : TEXTS.app.exportList}</span>
      {FORMATS.map((format) => (
        <button
          key={format}
          type="button"
          class="small"
          aria-label={TEXTS.app.exportLabels[format]}
          disabled={isBusy}
          onClick={() => void save(format)}
        >
          {TEXTS.app.exports[format]}
        </button>
      ))}
      {cutAt !== null && <span role="status" class="hint">{TEXTS.app.exportCut(number(cutAt))}</span>}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}

function download(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
