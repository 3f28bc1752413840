import type { Media } from "./conversation.ts";
import { dataUrl, isImage } from "./protocols/media.ts";

/** A file: a small picture, or its name. */
export function FileView({ file }: { readonly file: Media }) {
  return isImage(file)
    ? <img class="thumbnail" src={dataUrl(file)} alt={file.name} />
    : <span class="badge plain">{file.name}</span>;
}
