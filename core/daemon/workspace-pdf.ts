import { fail, ok } from "../domain/failure.ts";
import type { PdfReader } from "../memory/source/pdf-text.ts";
import type { OpenPdf } from "../memory/tool/workspace-pdf.ts";
import { openFile } from "../tools/confined-open.ts";
import { onFile } from "../tools/file-failure.ts";
import { findWorkspace, type HiddenPaths } from "../tools/workspace.ts";

const FILE_LIMIT_BYTES = 67_108_864;

/** PDFs of a workspace, opened as the file tools open files. */
export function workspacePdfs(pdf: PdfReader, hidden: HiddenPaths): OpenPdf {
  return async (path, named, signal) => {
    const workspace = await findWorkspace(named, hidden);
    if (!workspace.ok) return workspace;
    const opened = await openFile(workspace.value, path);
    if (!opened.ok) return opened;
    const { handle, shown, real } = opened.value;
    const bytes = await onFile(shown, async () => {
      try {
        const { size } = await handle.stat();
        return size > FILE_LIMIT_BYTES ? undefined : await handle.readFile();
      } finally {
        await handle.close();
      }
    });
    if (!bytes.ok) return bytes;
    if (bytes.value === undefined) {
      return fail("exhausted", `${shown} is larger than ${FILE_LIMIT_BYTES} bytes`, { hint: "split it" });
    }
    const read = await pdf.read(bytes.value, shown, signal);
    if (!read.ok) return read;
    const { pages, pageCount } = read.value;
    return ok({ shown, real, pages, pageCount });
  };
}
