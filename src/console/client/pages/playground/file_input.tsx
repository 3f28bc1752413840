import { useState } from "preact/hooks";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { bytes } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import { MAX_FILE_BYTES, readAttachment } from "./attachment.ts";
import type { Media } from "./conversation.ts";
import { FileView } from "./file_view.tsx";

const texts = TEXTS.playground.chat;

/** A choice of files, with those that are chosen. */
export function FileInput({ title, accept, files, max, onChange }: {
  readonly title: string;
  /** Media types, as in HTML. */
  readonly accept: string;
  readonly files: readonly Media[];
  /** The most files. */
  readonly max: number;
  readonly onChange: (files: readonly Media[]) => void;
}) {
  const [problem, setProblem] = useState<string | null>(null);
  const add = async (chosen: readonly File[]) => {
    setProblem(null);
    const read: Media[] = [];
    for (const file of chosen.slice(0, max - files.length)) {
      try {
        read.push(await readAttachment(file));
      } catch (error) {
        setProblem(
          error instanceof RangeError ? texts.tooLarge(file.name, bytes(MAX_FILE_BYTES)) : texts.unreadable(file.name),
        );
      }
    }
    onChange([...files, ...read]);
  };
  return (
    <div class="file-input">
      <label class={files.length >= max ? "button file-button disabled" : "button file-button"}>
        {title}
        <input
          type="file"
          class="visually-hidden"
          accept={accept}
          multiple={max > 1}
          disabled={files.length >= max}
          onChange={(event) => {
            void add([...event.currentTarget.files ?? []]);
            event.currentTarget.value = "";
          }}
        />
      </label>
      {files.length > 0 && <ChosenFiles label={title} files={files} onChange={onChange} />}
      {problem !== null && <ErrorNotice message={problem} />}
    </div>
  );
}

/** Files that are chosen. Each can be removed. */
export function ChosenFiles({ label, files, onChange }: {
  /** For screen readers. */
  readonly label: string;
  readonly files: readonly Media[];
  readonly onChange: (left: readonly Media[]) => void;
}) {
  return (
    <ul class="files" aria-label={label}>
      {files.map((file, place) => (
        <li key={place}>
          <FileView file={file} />
          <button
            type="button"
            class="small"
            aria-label={texts.removeFile(file.name)}
            onClick={() => onChange(files.filter((each) => each !== file))}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
