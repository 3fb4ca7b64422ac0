import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { numberToHex } from "viem";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { UpFile } from "../../devnet/demo/local-files.ts";
import { jsonRpc } from "../../devnet/json-rpc.ts";
import { runScript } from "../support/anvil-testkit/script.ts";
import { until } from "../support/until.ts";

/** Nine jobs at once, each of which waits for a block to become final twice. */
const PLAY_TIMEOUT_MS = 600_000;
const REVIEW_TIMEOUT_MS = 240_000;
/** Empty blocks beside the one a second of the chain itself: most of a job is waiting for blocks to become final. */
const EXTRA_BLOCKS = { count: 2, everyMs: 400 };

/** Not less than the jobs that expire have. */
const LIFE_SECONDS = 330;

let dataDir: string;
let up: UpFile;
let played: Ran;
let asked: Ran;
let mining: NodeJS.Timeout;

/** Declares tests that play jobs of every escrow generation on a running `ahs up`. */
export function describeJobs(running: () => { readonly up: UpFile; readonly dataDir: string }): void {
  describe("jobs", () => {
    beforeAll(async () => {
      ({ up, dataDir } = running());
      const chain = jsonRpc(up.rpc_url);
      mining = setInterval(
        () => void chain.request("anvil_mine", numberToHex(EXTRA_BLOCKS.count)).catch(() => undefined),
        EXTRA_BLOCKS.everyMs,
      );
      const all = ["--outcome", "all", "--generation", "all", "--data-dir", dataDir];
      [played, asked] = await Promise.all([
        runExample("play-job.ts", all),
        runExample("ask-registries.ts", ["--data-dir", dataDir]),
      ]);
    }, PLAY_TIMEOUT_MS);
    afterAll(() => clearInterval(mining));

    test(
      "jobs and verdicts of every state are there, played in the background",
      async () => {
        const file = join(dataDir, "demo-jobs.json");
        const shownAre = (count: number) =>
          until(
            { what: `${count} states or more are shown`, timeoutMs: PLAY_TIMEOUT_MS - 20_000 },
            async () => {
              const { shown } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { shown: {} };
              return Object.keys(shown).length >= count ? (shown as Record<string, ShownJob>) : null;
            },
          );
        await shownAre(12);
        // The others wait for the expiry of their jobs.
        await jsonRpc(up.rpc_url).request("evm_increaseTime", numberToHex(LIFE_SECONDS));
        const shown = await shownAre(14);
        const found = await Promise.all(
          Object.entries(shown).map(async ([name, { verdictId }]) => [name, await stateOf(verdictId)]),
        );
        expect(Object.fromEntries(found)).toEqual({
          allow: ["completed", "ALLOW", "settled"],
          reject: ["completed", "REJECT", "settled"],
          hold: ["completed", "HOLD", "held"],
          "hold-reviewed": ["completed", "ALLOW", "settled"],
          "hold-evidence": ["completed", expect.stringMatching(/^(HOLD|ALLOW)$/), expect.any(String)],
          "hold-expired": ["completed", "HOLD", "expired_on_hold"],
          expired: ["completed", "ALLOW", "expired"],
          refused: ["completed", "ALLOW", "refused"],
          unbound: ["completed", "ALLOW", "unbound"],
          failed: ["failed", null, expect.any(String)],
          "no-job": ["completed", "REJECT", null],
          "no-job-evidence": ["completed", "ALLOW", null],
          funded: null,
          open: null,
        });
      },
      PLAY_TIMEOUT_MS,
    );

    test("a validation that an agent's owner requests is answered, with the document that was hashed", () => {
      expect(asked).toMatchObject({ code: 0, errors: "" });
      expect(asked.output).toMatch(/answer: \d+, tag ahs\nits document has the hash on chain: http/);
    });

    test("every job ends as its output deserves", () => {
      expect(played).toMatchObject({ code: 0, errors: "" });
    });

    describe.each(["G1", "G3", "V3"])("a job of an escrow of generation %s", (generation) => {
      test("pays the provider on ALLOW for the reason that the evidence hashes to", async () => {
        const printed = linesOf(generation, "allow");
        expect(printed).toContain("ProviderBelowThreshold(");
        expect(printed).toContain("the job is Completed (settlement settled");
        expect(printed).toContain("the escrow paid 25 USDC to the provider\n");
        expect(await checkReason(verdictIn(printed))).toMatchObject({
          code: 0,
          output: expect.stringMatching(/^They agree: .* which is the reason of JobCompleted /),
        });
      });

      test("refunds the client on REJECT for the reason that the evidence hashes to", async () => {
        const printed = linesOf(generation, "reject");
        expect(printed).toContain("the job is Rejected (settlement settled");
        expect(printed).toContain("the escrow paid 25 USDC to the client\n");
        expect((await checkReason(verdictIn(printed))).output).toMatch(/ the reason of JobRejected /);
      });

      test(
        "leaves the money where it is on HOLD, until a reviewer decides",
        async () => {
          const printed = linesOf(generation, "hold");
          expect(printed).toContain("the job is Submitted (settlement held");
          expect(printed).toContain("the escrow paid nobody\n");
          const verdictId = verdictIn(printed);
          expect(await checkReason(verdictId)).toMatchObject({
            code: 1,
            errors: expect.stringContaining("neither completed nor rejected yet"),
          });
          await decideAsPrinted(printed, "REJECT");
          const compared = await until(
            { what: "the review is carried out", timeoutMs: REVIEW_TIMEOUT_MS - 20_000 },
            async () => {
              const again = await checkReason(verdictId);
              return again.code === 0 ? again : null;
            },
          );
          expect(compared.output).toMatch(/ the reason of JobRejected /);
        },
        REVIEW_TIMEOUT_MS,
      );
    });

    test("evidence that is not what was hashed is reported, whatever was changed of it", async () => {
      const verdictId = verdictIn(linesOf("G1", "allow"));
      const forged = (change: (body: string) => string) => compareThrough(verdictId, change);
      expect(await forged((body) => body)).toMatchObject({ code: 0 });
      expect(await forged((body) => body.replace('"final_score":', '"final_score":1'))).toMatchObject({
        code: 1,
        errors: expect.stringMatching(/^They differ: JobCompleted of job \d+ at 0x/),
      });
      expect(await forged((body) => body.replace(",", ", "))).toMatchObject({
        code: 1,
        errors: "The evidence served is not in the form of RFC 8785.\n",
      });
      const other = "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90";
      expect(await forged((body) => body.replace(verdictId, other))).toMatchObject({
        code: 1,
        errors: expect.stringMatching(/^The evidence served is of verdict 0f8a1c1e/),
      });
    });
  });
}

type ShownJob = { readonly verdictId: string | null };

/** Status, decision and settlement of a verdict. */
async function stateOf(verdictId: string | null) {
  if (verdictId === null) return null;
  const answer = await fetch(`${up.base_url}/v1/verdicts/${verdictId}`);
  const { status, final_verdict, settlement } = JSON.parse(await answer.text());
  return [status, final_verdict, settlement?.status ?? null];
}

type Ran = { readonly code: number | null; readonly output: string; readonly errors: string };

/** Printed lines of one job. */
function linesOf(generation: string, outcome: string): string {
  const prefix = `${generation} ${outcome}: `;
  const own = played.output.split("\n").filter((line) => line.startsWith(prefix));
  return own.map((line) => `${line.slice(prefix.length)}\n`).join("");
}

function verdictIn(printed: string): string {
  const verdictId = /verdict ([0-9a-f-]{36}):/.exec(printed)?.[1];
  if (verdictId === undefined) throw new Error(`no verdict was made:\n${printed}\n${played.errors}`);
  return verdictId;
}

function checkReason(verdictId: string): Promise<Ran> {
  return runExample("check-reason.ts", [verdictId, "--data-dir", dataDir]);
}

/** Compares with evidence that a proxy changed. */
async function compareThrough(verdictId: string, change: (body: string) => string): Promise<Ran> {
  const server = createServer(async (request, response) => {
    const answer = await fetch(`${up.base_url}${request.url}`);
    response.end(change(await answer.text()));
  });
  try {
    const baseUrl = await listen(server);
    return await runExample("check-reason.ts", [verdictId, "--base-url", baseUrl, "--rpc-url", up.rpc_url]);
  } finally {
    server.close();
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

/** Decides by the line that was printed, with no other settings. */
async function decideAsPrinted(printed: string, decision: string): Promise<void> {
  const line = /npm run ahs -- (review decide .*)/.exec(printed)?.[1] ?? "";
  const words = line.match(/'[^']*'|[^\s']+/g) ?? [];
  const args = words.map((word) => word.replaceAll("'", "").replace("ALLOW", decision));
  const script = runScript(args, {}, join(dataDir, "review.log"));
  expect(await script.exited, `${line}\n${script.log()}`).toBe(0);
}

function runExample(name: string, args: readonly string[]): Promise<Ran> {
  const file = new URL(`../../examples/${name}`, import.meta.url).pathname;
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...inject("processEnv") },
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output, errors }));
  });
}
