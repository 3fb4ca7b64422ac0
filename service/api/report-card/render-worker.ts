import { parentPort } from "node:worker_threads";
import { loadCardFonts, makeCard } from "./make-card.ts";
import type { CardJob, CardResult } from "./render-pool.ts";

/** Draws cards one after the other in a separate thread: each blocks its thread for a tenth of a second. */
const port = parentPort;
if (port === null) throw new Error("render-worker.ts is no program: it runs as a worker thread");
const fonts = loadCardFonts();
port.on("message", ({ id, view, format }: CardJob) => {
  makeCard(view, format, fonts).then(
    (card) => port.postMessage({ id, card } satisfies CardResult),
    (error: unknown) =>
      port.postMessage({
        id,
        error: error instanceof Error ? error.message : String(error),
      } satisfies CardResult),
  );
});
