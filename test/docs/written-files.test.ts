import { readdirSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
/** Finds the files that commands of the pages write: keystores, passwords, deployments, answers with a secret, container settings. */
const WRITTEN =
  /(?:keystore create|--password-file|--out|\btee|--import <|base64(?: \d+)? >|\bcp ops\/env\.example|\bcp deployment\.json|mkdir -m 700) +([\w$./-]*[\w/])/g;

function writtenFiles(): readonly string[] {
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  return pages.flatMap((name) => {
    const text = readFileSync(join(root, "docs", name), "utf8");
    return [...text.matchAll(WRITTEN)].flatMap(([, file = ""]) =>
      file.startsWith("/") || file === "FILE" ? [] : [file.replace(/\$\w+/, "publisher")],
    );
  });
}

it("files that the pages have one write into the checkout are never committed by accident", () => {
  const files = [...new Set([...writtenFiles(), "receiver.mjs"])];
  expect(files.length).toBeGreaterThan(8);
  const lines = readFileSync(join(root, ".gitignore"), "utf8").split("\n");
  const ignored = lines.filter((line) => line.startsWith("/")).map((line) => line.slice(1));
  const isIgnored = (file: string) =>
    ignored.some((place) => matchesGlob(file, place) || matchesGlob(file, `${place}/**`));
  expect(files.filter((file) => !isIgnored(file))).toEqual([]);
});
