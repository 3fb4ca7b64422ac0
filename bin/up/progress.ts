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
  score: "scoring wallets",
  publish: "publishing scores",
} as const;
export type Stage = keyof typeof STAGES;

const PLAIN_STEP = 0.25;

/** A bar on a terminal, a line a quarter elsewhere, each with the number of the stage and the seconds since the start. */
export function createProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  return stream.isTTY ? barProgress(stream, elapsedSeconds) : plainProgress(stream, elapsedSeconds);
}

/** "3/9 planning the wallets' lives", as wide as the longest. */
function titleOf(stage: Stage): string {
  const names = Object.keys(STAGES);
  return `${names.indexOf(stage) + 1}/${names.length} ${STAGES[stage].padEnd(27)}`;
}

function barProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  let bar: SingleBar | undefined;
  let current: Stage | undefined;
  const end = () => {
    bar?.stop();
    bar = undefined;
    current = undefined;
  };
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
      }
      bar?.setTotal(total);
      bar?.update(done, shown(stage));
    },
    end,
  };
}

function plainProgress(stream: NodeJS.WriteStream, elapsedSeconds: () => number): Progress {
  let current: Stage | undefined;
  let shownShare = 0;
  return {
    show: (stage, done, total) => {
      const share = total === 0 ? 1 : done / total;
      if (stage === current && share < shownShare + PLAIN_STEP) return;
      current = stage;
      shownShare = share;
      stream.write(`${titleOf(stage)} ${done}/${total}  ${Math.round(elapsedSeconds())} s\n`);
    },
    end: () => {
      current = undefined;
    },
  };
}
