import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zeroAddress } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { announce } from "../../../devnet/demo/announce.ts";
import { localFiles, type UpFile } from "../../../devnet/demo/local-files.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "ahs-announce-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

function announced(scriptedUrl: string | null): { readonly text: string; readonly file: UpFile } {
  const lines: string[] = [];
  const files = localFiles(dataDir);
  announce({
    files,
    out: (line) => lines.push(line),
    chain: {
      rpcUrl: "http://127.0.0.1:8545",
      chainId: 31_337,
      seed: "1",
      deploymentFile: files.deploymentFile,
      contracts: {},
      samples: {
        keeper: zeroAddress,
        sanctioned: zeroAddress,
        newcomer: zeroAddress,
        "x402-seller": zeroAddress,
      },
      labelsUrl: "http://127.0.0.1:4090/labels",
      live: () => undefined,
    },
    databaseUrl: "postgres://127.0.0.1/ahs",
    apiKey: "ahs_key",
    baseUrl: "http://127.0.0.1:8080",
    scriptedUrl,
  });
  return { text: lines.join("\n"), file: JSON.parse(readFileSync(files.upFile, "utf8")) };
}

test("shows where verification is explained, and how to see a job judged by what has just been started", () => {
  const { text, file } = announced("http://127.0.0.1:9999");
  expect(text).toContain("http://127.0.0.1:8080/v1/docs");
  expect(text).toContain(`npx node examples/play-job.ts --outcome all --data-dir ${dataDir}\n`);
  expect(text).toContain("scripted model at http://127.0.0.1:9999,");
  expect(file.scripted_model_url).toBe("http://127.0.0.1:9999");
});

test("leads to the pages and the webhook example, and shows the key once, where the curl lines take it from", () => {
  const { text } = announced(null);
  expect(text).toContain("open http://127.0.0.1:8080/, and sign in at http://127.0.0.1:8080/account");
  expect(text).toContain(`npx node examples/watch-wallet.ts --data-dir ${dataDir}\n`);
  expect(text.split("ahs_key")).toHaveLength(2);
  expect(text).toContain(
    `  KEY=ahs_key\n  # may this well-behaved wallet be paid at once?\n  curl -H "X-API-Key: $KEY" 'http://127.0.0.1:8080/ahs/route/${zeroAddress}'\n`,
  );
});

test("speaks of no scripted model where another one judges", () => {
  const { text, file } = announced(null);
  expect(text).not.toContain("scripted");
  expect(file.scripted_model_url).toBeNull();
});
