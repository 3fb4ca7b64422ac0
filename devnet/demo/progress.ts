import { Presets, SingleBar } from "cli-progress";

export type Progress = {
  /** Shows how far a stage is; a new stage ends the one before. */
  readonly show: (stage: Stage, done: number, total: number) => void;
  readonly end: () => void;
};

/** Stages of a start, in their order, as they are shown. */
const STAGES = {
  postgres: "starting PostgreSQL",
  contracts: "deploying contracts",
  plan: "planning the wallets' lives",
  history: "building blocks of the past",
  "catch-up": "building blocks until now",
  model: "starting the scripted model",
  index: "indexing blocks",
  enrich: "reading calls and transfers",
  score: "scoring wallets",
  publish: "publishing scores",
  serve: "starting the API",
} as const;
export type Stage = keyof typeof STAGES;

const TITLE_WIDTH = 33;
const PLAIN_STEP = 0.25;
/** After this time without a line, one says how far the stage is. */
const PLAIN_SECONDS = 15;
const TICK_MS = 1_000;

/**
 * A bar on a terminal; elsewhere a line a quarter, and at least every 15 s. Each has the number of the stage and the seconds since the
 * start.
 */
export function createProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  return stream.isTTY ? barProgress(stream, elapsedSeconds) : plainProgress(stream, elapsedSeconds);
}

/** "3/11 planning the wallets' lives", as wide as the longest. */
function titleOf(stage: Stage): string {
  const names = Object.keys(STAGES);
  return `${names.indexOf(stage) + 1}/${names.length} ${STAGES[stage]}`.padEnd(TITLE_WIDTH);
}

function barProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  let bar: SingleBar | undefined;
  let current: Stage | undefined;
  const end = () => {
    clearInterval(ticking);
    bar?.stop();
    bar = undefined;
    current = undefined;
  };
  let ticking: NodeJS.Timeout | undefined;
  const shown = (stage: Stage) => ({ stage: titleOf(stage), elapsed: Math.round(elapsedSeconds()) });
  return {
    show: (stage, done, total) => {
      if (stage !== current) {
        end();
        current = stage;
        bar = new SingleBar(
          { stream, format: "{stage} {bar} {value}/{total}  {elapsed} s", hideCursor: true },
          Presets.shades_classic,
        );
        bar.start(total, done, shown(stage));
        ticking = setInterval(() => bar?.update(shown(stage)), TICK_MS).unref();
      }
      bar?.setTotal(total);
      bar?.update(done, shown(stage));
    },
    end,
  };
}

function plainProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  let current: { stage: Stage; done: number; total: number } | undefined;
  let written = { share: 0, at: 0 };
  const write = () => {
    if (current === undefined) return;
    const { stage, done, total } = current;
    written = { share: shareOf(current), at: elapsedSeconds() };
    stream.write(`${titleOf(stage)} ${done}/${total}  ${Math.round(written.at)} s\n`);
  };
  const ticking = setInterval(() => {
    if (elapsedSeconds() - written.at >= PLAIN_SECONDS) write();
  }, TICK_MS).unref();
  return {
    show: (stage, done, total) => {
      const isNew = stage !== current?.stage;
      current = { stage, done, total };
      if (isNew || shareOf(current) >= written.share + PLAIN_STEP) write();
    },
    end: () => {
      clearInterval(ticking);
      current = undefined;
    },
  };
}

function shareOf({ done, total }: { readonly done: number; readonly total: number }): number {
  return total === 0 ? 1 : done / total;
}
