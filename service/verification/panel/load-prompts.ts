import { readFileSync } from "node:fs";
import { type Prompts, readPrompts } from "./prompts.ts";

const FOLDER = new URL("./roles/", import.meta.url);

/** The prompts of this release, from the files beside this one; once per process. Throws where one is missing. */
export function loadPrompts(): Prompts {
  return readPrompts((file) => readFileSync(new URL(file, FOLDER), "utf8"));
}
