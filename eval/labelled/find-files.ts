import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Public files have at most some 8 MB. */
const MAX_BYTES = 64_000_000;
const MAX_FILES = 20_000;

/** A reader of files of a folder, by the end of their path; a path may begin with folders. */
export type LabelledFiles = {
  /** The text of the first such file; null if no path matches. */
  readonly text: (ending: string) => string | null;
  /** The texts of all files whose path contains a part, one after another. */
  readonly texts: (part: string) => Generator<string>;
};

/** Opens a folder with all folders below it. Throws for more than 20,000 files, and a read throws for one over 64 MB. */
export function findFiles(folder: string): LabelledFiles {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  if (paths.length > MAX_FILES)
    throw new Error(`${folder} has ${paths.length} files, expected ${MAX_FILES} at most`);
  const read = (path: string) => {
    const full = join(folder, path);
    const { size } = statSync(full);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, expected ${MAX_BYTES} at most`);
    return readFileSync(full, "utf8");
  };
  return {
    text(ending) {
      const path = paths.find((one) => `/${one}`.endsWith(`/${ending}`));
      return path === undefined ? null : read(path);
    },
    *texts(part) {
      for (const path of paths) if (path.includes(part) && path.endsWith(".csv")) yield read(path);
    },
  };
}
