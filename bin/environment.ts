import { type Address, getAddress, type Hex, isAddress, zeroAddress } from "viem";
import { z } from "zod";
import { readTrustedProxies } from "../service/access/client-address.ts";
import { readSigningKey } from "../service/access/payments/facilitator-credentials.ts";
import { SCHEMES } from "../service/access/schemes/schemes.ts";
import { MONEY_LIMITS } from "../service/verification/panel/policy.ts";
import { ROLE_NAMES, type RoleName } from "../service/verification/panel/types.ts";
import { keyVariables, privateKey } from "./keys/key-variables.ts";

const LOCAL_DATA_DIR = ".ahs";
/** none: wallets outside the index are not scored. */
const HISTORY_SOURCES = ["none", "otterscan", "explorer"] as const;
const HISTORY_BATCH_SOURCES = ["none", "sqd", "hypersync", "rpc"] as const;
/** Interfaces of a server: one of them, or both on one port. */
const INTERFACES = ["scoring", "verification"] as const;
export type InterfaceName = (typeof INTERFACES)[number];
const SCHEME_NAMES = SCHEMES.map(({ name }) => name);
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

const httpUrl = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("a URL that starts with http:// or https://");

const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//)
  .optional()
  .describe("a URL that starts with postgres:// or postgresql://");

const account = z
  .string()
  .refine((value) => isAddress(value) && value !== zeroAddress)
  // isAddress has vouched for it.
  .transform((value) => getAddress(value as Address))
  .optional()
  .describe("an address, with its checksum where it has letters of both cases");

const file = z.string().min(1);

/** A variable that holds a whole number in decimal digits, from `least` to `most`. */
function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most)
    .describe(`a whole number from ${least} to ${most}`);
}

const port = wholeNumber(1, 65_535);
const seconds = wholeNumber(1, 31_536_000);

const wei = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt);

const gas = z
  .string()
  .regex(/^[1-9]\d{0,29}$/)
  .transform(BigInt)
  .optional()
  .describe("a whole number of gas above 0");

const price = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,6})?$/)
  .transform(Number)
  .optional()
  .describe("an amount in US dollars");

/** Interfaces in our own order; null where the list names none, or something else. */
function readInterfaces(list: string): readonly InterfaceName[] | null {
  const named = list.split(",").map((entry) => entry.trim());
  const isGood = named.every((name) => INTERFACES.some((known) => known === name));
  return isGood ? INTERFACES.filter((known) => named.includes(known)) : null;
}

/** The schemes of payment that a list names, in our own order; null where it names something else. */
function readSchemes(list: string): readonly string[] | null {
  const named = list.split(",").map((entry) => entry.trim());
  const isGood = named.every((name) => SCHEME_NAMES.includes(name));
  return isGood ? SCHEME_NAMES.filter((known) => named.includes(known)) : null;
}

/** Models by role; null where it is no list of role=model. */
function readRoleModels(list: string): Readonly<Partial<Record<RoleName, string>>> | null {
  const pairs = list.split(",").map((entry) => entry.trim().split("=", 2));
  const isGood = pairs.every(([role, model]) => ROLE_NAMES.some((name) => name === role) && model);
  return isGood ? Object.fromEntries(pairs) : null;
}

/** Secrets of 32 bytes. */
/** Long enough to be no ordinary sign. */
function isControlToken(text: string): boolean {
  return text.length >= 3 && text.length <= 64 && !/[\p{C}\p{Z}]/u.test(text);
}

const secrets = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}(,0x[0-9a-fA-F]{64})*$/)
  .transform((list) => list.split(",") as Hex[])
  .optional();

/** Every variable with what it may hold; the descriptions are what a message says was expected. */
export const environment = z.object({
  DATABASE_URL: databaseUrl,
  /** A streaming replica of DATABASE_URL, for reads of `ahs serve` that feed answers; without it, all go to DATABASE_URL. */
  DATABASE_READ_URL: databaseUrl,
  /** A replica that is further behind than this is not read. */
  DATABASE_READ_LAG_SECONDS: wholeNumber(1, 3_600).default(30),
  RPC_URL: httpUrl,
  AHS_DEPLOYMENT: file.optional().describe("a file name"),
  AHS_DATA_DIR: file.default(LOCAL_DATA_DIR).describe("a folder name"),
  /** Interfaces that `ahs serve` answers for. */
  INTERFACES: z
    .string()
    .default(INTERFACES.join(","))
    .transform(readInterfaces)
    .refine((names) => names !== null)
    .describe(`names separated by commas: ${INTERFACES.join(", ")}`),
  HOST: z.string().min(1).default("127.0.0.1").describe("a host name or address"),
  PORT: port.default(4020),
  /** Of the indexer's /health, /ready and /metrics, on METRICS_HOST. */
  INDEX_PORT: port.default(42_069),
  /** Of this process; without it a server shows /metrics on its own port, to this machine alone. */
  METRICS_PORT: port.optional(),
  /** Every client that reaches it can read the metrics: use another address than loopback only in a private network. */
  METRICS_HOST: z.string().min(1).default("127.0.0.1").describe("a host name or address"),
  PUBLIC_URL: httpUrl,
  /** Contact of security.txt: mailto: or https:. */
  SECURITY_CONTACT: z
    .string()
    .regex(/^(mailto:|https:\/\/)\S+$/)
    .optional()
    .describe("a URI that starts with mailto: or https://"),
  /** Requests a minute that one address may send to one server, paid or not. */
  IP_RATE_PER_MINUTE: wholeNumber(1, 10_000_000).default(3_000),
  /** Whose X-Forwarded-For names the address: the load balancers before the servers. */
  TRUSTED_PROXIES: z
    .string()
    .transform((list) => list.split(",").map((entry) => entry.trim()))
    .refine((entries) => readTrustedProxies(entries) !== null)
    .optional()
    .describe("addresses or CIDR ranges, separated by commas"),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default("info")
    .describe(`one of ${LOG_LEVELS.join(", ")}`),
  /** Price of eth_getBlockReceipts at the node's provider, in per cent of eth_getLogs: it decides how live blocks are read. */
  RPC_RECEIPTS_PERCENT: wholeNumber(1, 10_000).default(33),
  /** Most blocks of one eth_getLogs of the index; by default it finds out, by the words of the providers that it knows. */
  RPC_LOGS_BLOCKS: wholeNumber(1, 100_000).optional(),
  POLLING_INTERVAL_MS: wholeNumber(100, 60_000).default(1_000),
  /** An index whose newest block is older than this answers nothing that needs to be fresh. */
  MAX_INDEX_AGE_SECONDS: seconds.default(120),
  RESCORE_INTERVAL_SECONDS: seconds.default(600),
  /**
   * The key of each role, in one of three forms: raw (on the local chain), an encrypted keystore with a file that holds its password,
   * or a remote signer that speaks Web3Signer's eth1 API. The publisher sends to the oracle, the signer signs scores.
   */
  ...keyVariables("PUBLISHER"),
  ...keyVariables("SIGNER"),
  /** Recipient of the USDC that callers without a key pay. If unset, only keys are served. */
  X402_PAY_TO: account,
  /** A facilitator by URL; or else our own: `ahs serve` knows its address, `ahs work` its key. */
  X402_FACILITATOR_URL: httpUrl,
  X402_FACILITATOR_ADDRESS: account,
  /** For a facilitator by URL that wants credentials: a token, sent as `Authorization: Bearer` or as it is in the named header. */
  X402_FACILITATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/)
    .optional()
    .describe("printable ASCII characters without spaces"),
  X402_FACILITATOR_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional()
    .describe("the name of a header"),
  /** Or an API key of Coinbase's Developer Platform, which signs a token for each request. */
  X402_FACILITATOR_KEY_ID: z.string().min(1).max(256).optional().describe("a text"),
  X402_FACILITATOR_KEY_SECRET: z
    .string()
    .transform(readSigningKey)
    .refine((key) => key !== null)
    .optional()
    .describe("an EC key of P-256 in PEM, or 64 bytes of an Ed25519 key in base64"),
  /** Schemes of payment. Unset: all on the local chain; elsewhere those that the facilitator by URL lists, else the first alone, which is always offered. */
  X402_SCHEMES: z
    .string()
    .transform(readSchemes)
    .refine((schemes) => schemes !== null)
    .optional()
    .describe(`some of ${SCHEME_NAMES.join(", ")}, with commas between them`),
  ...keyVariables("FACILITATOR"),
  /**
   * Most that settling a payment may cost us, in per cent of its price. At 0.005 gwei and 3,300 USD per coin a settlement costs about
   * 0.11 cents, a little more than the cheapest call: twice the price still sells that. Unset, the local chain has no bound.
   */
  X402_MAX_GAS_PERCENT: wholeNumber(1, 1_000_000).optional(),
  /** The same for bringing a verdict to its escrow, of the 0.50 USD that it was sold for. */
  VERDICT_MAX_GAS_PERCENT: wholeNumber(1, 1_000_000).optional(),
  /** Gas that settlements of payments, and verdicts, may use per UTC day. */
  X402_DAILY_GAS: gas,
  VERDICT_DAILY_GAS: gas,
  /** Assumed price of the native coin in US dollars while its feed has no price: more than its likely worth. */
  NATIVE_COIN_USD: wholeNumber(1, 10_000_000).default(10_000),
  /** Models of the panel: any server that speaks OpenAI's chat completions; unset, outputs are not verified. */
  PANEL_BASE_URL: httpUrl,
  PANEL_API_KEY: z.string().min(1).optional().describe("a text"),
  PANEL_MODEL: z.string().min(1).optional().describe("the name of a model"),
  /** The model of single roles, under the same base URL: role=model, separated by commas. */
  PANEL_ROLE_MODELS: z
    .string()
    .transform(readRoleModels)
    .refine((models) => models !== null)
    .optional()
    .describe(`role=model, separated by commas; roles: ${ROLE_NAMES.join(", ")}`),
  /** One of the four ballots, by another model, on its own server or on that of PANEL_BASE_URL. */
  PANEL_SECOND_BASE_URL: httpUrl,
  PANEL_SECOND_API_KEY: z.string().min(1).optional().describe("a text"),
  PANEL_SECOND_MODEL: z.string().min(1).optional().describe("the name of a model"),
  PANEL_SECOND_PROMPT_USD_PER_MILLION: price,
  PANEL_SECOND_ANSWER_USD_PER_MILLION: price,
  PANEL_SECOND_CACHED_USD_PER_MILLION: price,
  /** Sent with every call, where they are set. */
  PANEL_TEMPERATURE: z
    .string()
    .regex(/^[0-2](\.\d{1,3})?$/)
    .transform(Number)
    .optional()
    .describe("a number from 0 to 2"),
  PANEL_SEED: wholeNumber(0, 2_147_483_647).optional(),
  /** Seconds that one answer of a model may take, retries included; Node's fetch waits no longer than 300 for one. */
  PANEL_CALL_SECONDS: wholeNumber(1, 300).default(120),
  /** Tokens that fit into the models, question and answer together, and those that an answer may take, its reasoning included. */
  PANEL_CONTEXT_TOKENS: wholeNumber(4_096, 10_000_000).default(128_000),
  PANEL_ANSWER_TOKENS: wholeNumber(256, 100_000).default(4_096),
  /** Tokens that all runs may use per UTC day. Each verdict's price pays for its own; the day bounds what re-runs and failures cost. */
  PANEL_TOKENS_PER_DAY: wholeNumber(0, 1_000_000_000_000).default(170_000_000),
  /**
   * Price of a million tokens in US dollars: of questions, of answers, of cached ones (as of questions if unset). They bound the texts of a
   * verdict; unset, those of dearer common models do.
   */
  PANEL_PROMPT_USD_PER_MILLION: price,
  PANEL_ANSWER_USD_PER_MILLION: price,
  PANEL_CACHED_USD_PER_MILLION: price,
  /** Worth of a job in US dollars above which an ALLOW needs all four generators, and a ballot of a second model. */
  PANEL_UNANIMOUS_ABOVE_USD: wholeNumber(0, 1_000_000_000).default(
    Number(MONEY_LIMITS.unanimousAboveMicroUsd / 1_000_000n),
  ),
  PANEL_SECOND_MODEL_ABOVE_USD: wholeNumber(0, 1_000_000_000).default(
    Number(MONEY_LIMITS.secondModelAboveMicroUsd / 1_000_000n),
  ),
  /** 1 asks critic and synthesiser only where their answers can change the verdict, 0 asks always. */
  PANEL_EARLY_STOP: z.enum(["0", "1"]).default("1").describe("0 or 1"),
  /** Control tokens of a model that have no brackets, such as reserved_0; the fence breaks them in texts. */
  PANEL_CONTROL_TOKENS: z
    .string()
    .transform((text) => [...new Set(text.split(/\s+/).filter((token) => token !== ""))])
    .refine((tokens) => tokens.length <= 200 && tokens.every(isControlToken))
    .default([])
    .describe("at most 200 tokens of 3 to 64 visible characters, separated by spaces"),
  /** 1 runs the panel on a model whose server reads control tokens within messages. */
  PANEL_ALLOW_CONTROL_TOKENS: z.enum(["0", "1"]).default("0").describe("0 or 1"),
  /** Verdicts that one worker makes at once. */
  PANEL_AT_ONCE: wholeNumber(1, 1_000).default(8),
  /** The panel of appeals: all six roles on one model, which the first panel does not have. */
  PANEL_APPEAL_BASE_URL: httpUrl,
  PANEL_APPEAL_API_KEY: z.string().min(1).optional().describe("a text"),
  PANEL_APPEAL_MODEL: z.string().min(1).optional().describe("the name of a model"),
  /** Longest time in which a job's ALLOW or REJECT may be appealed before it is settled; 0 is no appeals. */
  APPEAL_WINDOW_SECONDS: wholeNumber(0, 604_800).optional(),
  /** Days that specifications and outputs are kept as texts. */
  RETENTION_DAYS: wholeNumber(1, 36_500).default(90),
  /** Encrypts stored texts of specifications, outputs and evidence; keys that it replaced still decrypt, separated by commas. */
  TEXT_ENCRYPTION_KEY: privateKey,
  TEXT_ENCRYPTION_OLD_KEYS: secrets.describe("keys of 0x and 64 hexadecimal digits, separated by commas"),
  /** Signs verdicts for the evaluator contract; `ahs work` alone has it. */
  ...keyVariables("VERDICT_SIGNER"),
  /** Sends signed verdicts to escrows. */
  ...keyVariables("RELAYER"),
  /** Owns the oracle and the evaluator; no process needs it, `ahs roles` alone does. */
  ...keyVariables("OWNER"),
  /** Seed of the Ed25519 key that signs receipts of verdicts, and offers and receipts of x402 payments; those it replaced stay in the key set: seeds separated by commas. */
  RECEIPT_PRIVATE_KEY: privateKey,
  RECEIPT_PREVIOUS_KEYS: secrets.describe("seeds of 0x and 64 hexadecimal digits, separated by commas"),
  /** Key of a service that a command asks on its user's behalf. */
  AHS_API_KEY: z.string().min(1).optional().describe("an API key"),
  /** Allows keys in the environment on a chain other than the local one. */
  ALLOW_RAW_KEYS: z.enum(["0", "1"]).default("0").describe("0 or 1"),
  /** Where the past of wallets is read from that the index does not know; unset, the local chain's own node. */
  HISTORY_SOURCE: z
    .enum(HISTORY_SOURCES)
    .optional()
    .describe(`one of ${HISTORY_SOURCES.join(", ")}`),
  /** For otterscan a node, which may be the one of RPC_URL; for explorer an API that speaks Etherscan's. */
  HISTORY_URL: httpUrl,
  HISTORY_API_KEY: z.string().min(1).optional().describe("a text"),
  /** Transactions asked for at once; nodes and explorers may allow fewer. */
  HISTORY_PAGE_SIZE: wholeNumber(1, 500).default(500),
  /** Where the past of many wallets at once is read from. */
  HISTORY_BATCH_SOURCE: z
    .enum(HISTORY_BATCH_SOURCES)
    .default("none")
    .describe(`one of ${HISTORY_BATCH_SOURCES.join(", ")}`),
  /**
   * For sqd the dataset's URL at a portal, by default the public one of Base; for hypersync the chain's server, by default the vendor's;
   * for rpc a node with eth_getBlockReceipts, by default that of RPC_URL.
   */
  HISTORY_BATCH_URL: httpUrl,
  /** Key of a portal that wants one; the API token of HyperSync. */
  HISTORY_BATCH_API_KEY: z.string().min(1).optional().describe("a text"),
  /** The labels interface of the Nansen profiler, or of one that speaks like it; unset, no third party is asked for labels. */
  LABELS_URL: httpUrl,
  /** Name of the provider of labels, as answers show it. */
  LABELS_PROVIDER: z.string().min(1).max(64).default("nansen").describe("a text"),
  LABELS_API_KEY: z.string().min(1).optional().describe("a text"),
  /** Wallets per UTC day that are requested to be followed because a caller paid for their score. */
  ENROLMENTS_PER_DAY: wholeNumber(0, 100_000).default(200),
  /** Highest fee for each such request. */
  ENROLMENT_MAX_FEE_WEI: wei
    // A third of a dollar at 3,000 USD per coin: a third of what the call brings in.
    .default(100_000_000_000_000n)
    .describe("a whole number of wei"),
  /** The service's own number in the ERC-8004 identity registry; unset, its registration file names no entry. */
  AGENT_ID: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  /** Most that feedback in the ERC-8004 reputation registry may cost in a UTC day. */
  FEEDBACK_DAILY_WEI: wei
    // 119 USD at 3,300 USD per coin: some 33,000 first grades at 0.005 gwei.
    .default(36_000_000_000_000_000n)
    .describe("a whole number of wei"),
  /** Answers to requests of the ERC-8004 validation registry in a UTC day. Each request costs its sender more gas than its answer costs us. */
  VALIDATIONS_PER_DAY: wholeNumber(0, 100_000).default(24_000),
  /** Lets agents' endpoints and documents be on this machine; refused on any chain but the local one. */
  PROBE_LOOPBACK: z.enum(["0", "1"]).default("0").describe("0 or 1"),
  /** Serves documents of ipfs: URIs at /ipfs/CID by itself, for redirects are not followed; as a host of the internet alone. */
  IPFS_GATEWAY_URL: z
    .url({ protocol: /^https?$/ })
    .refine((url) => /^(?:https:|http:\/\/127\.0\.0\.1[:/])[^?#@]*$/.test(url))
    .default("https://ipfs.io")
    .describe(
      "a URL that starts with https://, or http://127.0.0.1:, without user information, query and fragment",
    ),
  /** Gas that publishing may use per UTC day; sanctions flags are never held back. */
  DAILY_GAS: gas,
});
