import type { Context } from "hono";
import type { PageFrame } from "./pages/frame.ts";

/** What the envelope leaves on every request for those after it. */
export type ApiEnv = {
  Variables: {
    requestId: string;
    /** Headers of every answer, lower-case. */
    headers: Readonly<Record<string, string>>;
    /** Path template of the endpoint that answers; unset where none does. */
    route?: string;
    /** What every page of the server has around it. */
    frame: PageFrame;
  };
};

export type ApiContext = Context<ApiEnv>;

export type Clock = {
  now(): Date;
  /** Milliseconds from an arbitrary start, never going back, for durations. */
  monotonicMs(): number;
};
