import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { bytesToHex } from "viem";
import type { Config } from "../config.ts";
import { type LocalFiles, writeSecret } from "./local-files.ts";

/** The variables of the keys that sign receipts: those configured, else a seed kept in the data directory. */
export function receiptKeys(
  { receiptKeys: { current, previous } }: Config,
  files: LocalFiles,
): Record<string, string> {
  const older: Record<string, string> =
    previous.length === 0 ? {} : { RECEIPT_PREVIOUS_KEYS: previous.join(",") };
  return { RECEIPT_PRIVATE_KEY: current ?? keptSeed(files), ...older };
}

function keptSeed({ receiptKeyFile }: LocalFiles): string {
  if (!existsSync(receiptKeyFile)) writeSecret(receiptKeyFile, bytesToHex(randomBytes(32)));
  return readFileSync(receiptKeyFile, "utf8");
}
