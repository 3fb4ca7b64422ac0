import { Presets, SingleBar } from "cli-progress";

export type Progress = {
  /** Shows how far a stage is; a new stage ends the one before. */
  readonly show: (stage: string, done: number, total: number) => void;
  readonly end: () => void;
};

const PLAIN_STEP = 0.25;

/** A bar on a terminal, a line a quarter elsewhere. */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? barProgress(stream) : plainProgress(stream);
}

function barProgress(stream: NodeJS.WriteStream): Progress {
  let bar: SingleBar | undefined;
  let current = "";
  const end = () => {
    bar?.stop();
    bar = undefined;
    current = "";
  };
  return {
    show: (stage, done, total) => {
      if (stage !== current) {
        end();
        current = stage;
        bar = new SingleBar(
          { stream, format: "{stage} {bar} {value}/{total}", hideCursor: true },
          Presets.shades_classic,
        );
        bar.start(total, done, { stage: stage.padEnd(24) });
      }
      bar?.setTotal(total);
      bar?.update(done);
    },
    end,
  };
}

function plainProgress(stream: NodeJS.WriteStream): Progress {
  let current = "";
  let shownShare = 0;
  return {
    show: (stage, done, total) => {
      const share = total === 0 ? 1 : done / total;
      if (stage === current && share < shownShare + PLAIN_STEP) return;
      current = stage;
      shownShare = share;
      stream.write(`${stage.padEnd(24)} ${done}/${total}\n`);
    },
    end: () => {
      current = "";
    },
  };
}
