import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { PdfChild } from "../memory/source/pdf-text.ts";

/** What a PDF may need, its reader's own included. A file that inflates beyond it brings its process down, nothing else. */
const DATA_MIB = 1_024;
const HEAP_MIB = 512;
const OPEN_FILES_MAX = 64;

/** Starts the process that reads a PDF, with nothing of the machine but Node and its one file. */
export function pdfLaunch(launcher: Launcher, nodeBinary: string, pdfFile: string): () => PdfChild {
  // Where no OS sandbox stands, Node's permission model is the second wall: no files, no children, no workers.
  const fence = launcher.level === "none" ? ["--permission", `--allow-fs-read=${pdfFile}`] : [];
  return () =>
    launcher.launch({
      command: [
        nodeBinary,
        ...["--no-node-snapshot", "--no-warnings", "--disallow-code-generation-from-strings"],
        `--max-old-space-size=${HEAP_MIB}`,
        ...fence,
        pdfFile,
      ],
      // The one folder that every sandbox has; nothing is read from it, and the limit of zero keeps it empty.
      cwd: "/tmp",
      env: { MALLOC_ARENA_MAX: "2" },
      confinement: {
        read: [nodeBinary, pdfFile],
        write: [],
        network: "none",
        system: "libraries",
        syscalls: "isolate-jit",
      },
      limits: { dataMib: DATA_MIB, openFiles: OPEN_FILES_MAX, fileMib: 0 },
      pipes: 0,
    });
}
