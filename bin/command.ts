import type { Config } from "./config.ts";
export type Invocation = {
  readonly config: Config;
  /** What stands on the command line after the command, without the options that override the environment. */
  readonly args: readonly string[];
  readonly out: (line: string) => void;
};

export type Command = (invocation: Invocation) => Promise<void>;
