import type { Address } from "viem";
import { privateKeyOf, roleAccounts } from "../accounts.ts";
import { jobProvider } from "../population/wallets.ts";
import { type LocalFiles, type UpFile, writeSecret } from "./local-files.ts";
import type { RunningChain } from "./start-chain.ts";

/** Writes `up.json` and prints what to do next. */
export function announce(announcement: {
  files: LocalFiles;
  out: (line: string) => void;
  chain: RunningChain;
  databaseUrl: string;
  apiKey: string;
  baseUrl: string;
  /** Where the scripted model is that verdicts come from; null where another is configured. */
  scriptedUrl: string | null;
}): void {
  const { files, out, chain, databaseUrl, apiKey, baseUrl, scriptedUrl } = announcement;
  const { payer } = roleAccounts();
  const provider = jobProvider(chain.seed);
  const content: UpFile = {
    rpc_url: chain.rpcUrl,
    chain_id: chain.chainId,
    contracts: chain.contracts,
    base_url: baseUrl,
    verify_base_url: baseUrl,
    database_url: databaseUrl,
    api_key: apiKey,
    payer: { address: payer.address, private_key: privateKeyOf(payer) },
    provider: { address: provider.address, private_key: provider.privateKey },
    samples: chain.samples,
    scripted_model_url: scriptedUrl,
  };
  writeSecret(files.upFile, `${JSON.stringify(content, null, 2)}\n`);
  for (const line of lines(content, files)) out(line);
}

/** Verdicts: where to read them, how to make one, and which model judges. */
function verificationLines({ base_url, scripted_model_url: scripted }: UpFile, dataDir: string): string[] {
  return [
    `Verification: ${base_url}/v1/docs; plays nine jobs from specification to escrow, in about 4 minutes:`,
    `  npx node examples/play-job.ts --outcome all --data-dir ${dataDir}`,
    ...(scripted === null
      ? []
      : [
          "Jobs of every state are played in the background, at the first start in about 9 minutes. A list of them follows here.",
          `Verdicts are by a scripted model at ${scripted}, which compares words: set PANEL_BASE_URL and PANEL_MODEL for one that judges.`,
        ]),
  ];
}

function lines(up: UpFile, { upFile, dataDir }: LocalFiles): string[] {
  const sample = (archetype: string): Address => {
    const address = up.samples[archetype];
    if (address === undefined) throw new Error(`the chain has no sample of ${archetype}`);
    return address;
  };
  const curl = (path: string) => `  curl -H "X-API-Key: $KEY" '${up.base_url}${path}'`;
  return [
    "",
    `Agent Health is up: open ${up.base_url}/, and sign in at ${up.base_url}/account with the demo key`,
    `reference: ${up.base_url}/docs`,
    `chain ${up.chain_id} at ${up.rpc_url}; all addresses and a funded payer in ${upFile}`,
    `To use a browser wallet, add a network with chain id ${up.chain_id} and RPC URL ${up.rpc_url}, and import the payer's key.`,
    "",
    "The demo key, with play credits:",
    `  KEY=${up.api_key}`,
    "  # may this well-behaved wallet be paid at once?",
    curl(`/ahs/route/${sample("keeper")}`),
    "  # its score with everything behind it",
    curl(`/ahs/${sample("keeper")}?include=features,history,attestation`),
    "  # a sanctioned wallet",
    curl(`/ahs/${sample("sanctioned")}`),
    "  # a new wallet: INSUFFICIENT, no grade",
    curl(`/ahs/${sample("newcomer")}`),
    "  # a seller that is paid over x402",
    curl(`/ahs/${sample("x402-seller")}`),
    "",
    "A wallet's grade changes, and a signed webhook reports it:",
    `  npx node examples/watch-wallet.ts --data-dir ${dataDir}`,
    ...verificationLines(up, dataDir),
    "",
    `Ctrl-C stops everything and keeps the data; npm run ahs -- reset --data-dir ${dataDir} clears it.`,
  ];
}
