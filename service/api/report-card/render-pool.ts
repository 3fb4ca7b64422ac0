import { Worker } from "node:worker_threads";
import type { CardView } from "./draw-card.ts";
import type { PreviewView } from "./draw-preview.ts";
import type { CardFormat } from "./make-card.ts";

export type CardJob = {
  readonly id: number;
  readonly view: CardView | PreviewView;
  readonly format: CardFormat;
};

export type CardResult =
  | { readonly id: number; readonly card: string | Uint8Array }
  | { readonly id: number; readonly error: string };

/** A card was not drawn in time, or the queue is full. */
export class CardsOverloaded extends Error {
  override readonly name = "CardsOverloaded";
}

type Task = {
  readonly job: CardJob;
  readonly resolve: (card: string | Uint8Array) => void;
  readonly reject: (error: Error) => void;
};

type Seat = { readonly worker: Worker; task: Task | null };

/** About ten times the usual duration of a card. */
const MAX_HEAP_MB = 256;

const WORKER = new URL("./render-worker.ts", import.meta.url);

/** A renderer with worker threads. A thread that fails or hangs is replaced. */
export function createCardRenderer(limits: {
  /** Threads, started on first use. */
  readonly workers: number;
  readonly waiting: number;
  /** Maximum time from request to picture; a slower worker is replaced. */
  readonly deadlineMs: number;
}) {
  const pool = createPool(limits);
  let jobs = 0;
  let isClosed = false;
  return {
    hasRoom: () => pool.waiting() < limits.waiting && !isClosed,
    /** Throws CardsOverloaded if no worker drew the card in time or the queue is full. */
    render(view: CardView | PreviewView, format: CardFormat): Promise<string | Uint8Array> {
      if (pool.waiting() >= limits.waiting || isClosed) {
        return Promise.reject(new CardsOverloaded(`${pool.waiting()} cards wait to be drawn`));
      }
      return new Promise<string | Uint8Array>((resolve, reject) => {
        const id = jobs++;
        const late = new CardsOverloaded(`no card within ${limits.deadlineMs} ms`);
        const timer = setTimeout(() => pool.expire(id, late), limits.deadlineMs);
        const settled =
          <Result>(settle: (result: Result) => void) =>
          (result: Result) => {
            clearTimeout(timer);
            settle(result);
          };
        pool.add({ job: { id, view, format }, resolve: settled(resolve), reject: settled(reject) });
      });
    },
    /** Ends the workers; cards that are not drawn yet fail. */
    async close(): Promise<void> {
      isClosed = true;
      await pool.close(new Error("the renderer is closed"));
    },
  };
}

function createPool({ workers }: { workers: number }) {
  const seats = new Set<Seat>();
  const queue: Task[] = [];

  function pump(): void {
    while (queue.length > 0) {
      const seat = [...seats].find(({ task }) => task === null) ?? addSeat();
      if (seat === null) return;
      const task = queue.shift();
      if (task === undefined) return;
      seat.task = task;
      seat.worker.postMessage(task.job);
    }
  }

  function addSeat(): Seat | null {
    if (seats.size >= workers) return null;
    const seat = openSeat({ isFree: pump, isGone: leave });
    seats.add(seat);
    return seat;
  }

  function leave(seat: Seat, error: Error): void {
    seats.delete(seat);
    seat.task?.reject(error);
    seat.task = null;
    pump();
  }

  return {
    waiting: () => queue.length,
    add(task: Task): void {
      queue.push(task);
      pump();
    },
    /** Fails a task and replaces its thread, which may hang forever. */
    expire(id: number, late: Error): void {
      const place = queue.findIndex(({ job }) => job.id === id);
      if (place >= 0) queue.splice(place, 1)[0]?.reject(late);
      const seat = [...seats].find(({ task }) => task?.job.id === id);
      if (seat === undefined) return;
      leave(seat, late);
      void seat.worker.terminate();
    },
    async close(ended: Error): Promise<void> {
      for (const task of queue.splice(0)) task.reject(ended);
      await Promise.all([...seats].map(({ worker }) => worker.terminate()));
    },
  };
}

/** Starts a thread, which settles its task and reports when it is free or gone. */
function openSeat(events: { isFree(): void; isGone(seat: Seat, error: Error): void }): Seat {
  const seat: Seat = {
    worker: new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } }),
    task: null,
  };
  seat.worker.on("message", (result: CardResult) => {
    const { task } = seat;
    if (task === null || task.job.id !== result.id) return;
    seat.task = null;
    if ("card" in result) task.resolve(result.card);
    else task.reject(new Error(`the card could not be drawn: ${result.error}`));
    events.isFree();
  });
  seat.worker.on("error", (error) => events.isGone(seat, error));
  seat.worker.on("exit", () => events.isGone(seat, new Error("the worker that drew the card has ended")));
  // A listener keeps the process alive, so an idle thread must not have one. The deadline's timer keeps it alive during a task.
  seat.worker.unref();
  return seat;
}
