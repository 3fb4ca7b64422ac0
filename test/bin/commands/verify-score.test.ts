import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../../../bin/commands/verify-score.ts";
import { parseConfig } from "../../../bin/config.ts";
import { startLoopbackServer } from "../../support/loopback-server.ts";
import { useFolder } from "../../support/use-folder.ts";

const WALLET = "0x0000000000000000000000000000000000000001";
const MEBIBYTE = 2 ** 20;

const deploymentFile = join(useFolder(), "deployment.json");
const network = JSON.parse(readFileSync("networks/base.json", "utf8"));
const oracle = { address: WALLET, startBlock: 1 };
writeFileSync(deploymentFile, JSON.stringify({ ...network, startBlock: 1, oracle, sanctionsList: null }));

test("refuses a service's answer of more than 32 MiB", async () => {
  const { origin, close } = await startLoopbackServer((_request, response) => {
    for (let part = 0; part < 33; part += 1) response.write(Buffer.alloc(MEBIBYTE, " "));
    response.end("{}");
  });
  onTestFinished(close);
  const config = parseConfig({ RPC_URL: origin, AHS_DEPLOYMENT: deploymentFile, AHS_API_KEY: "ahs_key" });
  const verified = run({ config, args: [WALLET, "--service", origin], out: () => undefined });
  await expect(verified).rejects.toThrow(`/ahs/${WALLET} answered with more than 33554432 bytes`);
});
