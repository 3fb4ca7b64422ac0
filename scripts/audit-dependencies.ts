import { execFile } from "node:child_process";
import { judgeAudit } from "./audit/judge-audit.ts";

/** Of which every registry takes some seconds. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Fails where a dependency that production installs has a high or critical advisory, and names them; says so, and goes on, where the
 * registry reports no advisories at all.
 */
const args = ["audit", "--json", "--omit=dev", "--audit-level=high"];
execFile("npm", args, { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }, (_error, stdout) => {
  // npm ends with 1 for advisories as for a registry without them: its output distinguishes them.
  const verdict = judgeAudit(stdout);
  for (const line of verdict.lines) process.stdout.write(`${line}\n`);
  process.exitCode = verdict.kind === "vulnerable" ? 1 : 0;
});
