import type { Context } from "hono";
import type { PageFrame } from "../pages/frame.ts";

/** Variables that the envelope sets on every request. */
export type ApiEnv = {
  Variables: {
    requestId: string;
    /** Headers of every answer, lower-case. */
    headers: Readonly<Record<string, string>>;
    /** Text of the answer; unset for bytes and empty answers. */
    body?: string;
    /** Path template of the endpoint; unset if no endpoint matches. */
    route?: string;
    /** Frame of every page of the server. */
    frame: PageFrame;
  };
};

export type ApiContext = Context<ApiEnv>;

export type Clock = {
  now(): Date;
  /** Milliseconds from an arbitrary start, never going back, for durations. */
  monotonicMs(): number;
};
