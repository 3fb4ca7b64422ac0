import type { Child } from "../supervisor/child-process.ts";
import { startHost } from "../supervisor/child-process.ts";
import { freePort } from "./free-port.ts";
import type { LocalFiles } from "./local-files.ts";
import type { Progress } from "./progress.ts";

export type Rising = {
  readonly files: LocalFiles;
  readonly progress: Progress;
  /** Every process started so far, oldest first: they are stopped from the end. */
  readonly children: Child[];
  /** Each resolves when a process dies that nothing can go on without. */
  readonly deaths: Promise<string>[];
  readonly signal: AbortSignal;
};

const HOST = new URL("../local/postgres-host.ts", import.meta.url).pathname;

/** Starts the embedded PostgreSQL on the data directory and answers its URL; throws with its own words when it cannot start. */
export async function startDatabase({ files, progress, children, deaths }: Rising): Promise<string> {
  progress.show("starting PostgreSQL", 0, 1);
  const { host, ready } = startHost({
    name: "postgres",
    script: HOST,
    args: ["--data-dir", files.postgresDir, "--port", String(await freePort())],
    env: {},
    logFile: files.logFile("postgres"),
  });
  children.push(host);
  deaths.push(host.died);
  const answer = (await ready) as { databaseUrl?: string; error?: string };
  if (answer.databaseUrl === undefined) throw new Error(answer.error);
  progress.show("starting PostgreSQL", 1, 1);
  return answer.databaseUrl;
}
