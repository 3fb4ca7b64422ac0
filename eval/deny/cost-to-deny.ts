import { environment } from "../../bin/environment.ts";
import { DEFAULT_PERCENT } from "../../bin/from-config.ts";
import { CONNECTION_LIMITS } from "../../bin/serve/connection-limits.ts";
import { PAID_UNITS, RECOVERY_NODE, RECOVERY_TURNS } from "../../bin/serve/reports.ts";
import { GATE_DEFAULTS } from "../../client/src/gate.ts";
import { SCORING_ENDPOINTS } from "../../service/api/create-app.ts";
import { getAhsRoute } from "../../service/api/routes/get-ahs-route.ts";
import { BATCH_PRICE, MAX_WALLETS } from "../../service/api/routes/post-ahs-batch.ts";
import { KEY_UNITS, SPEC_BYTES } from "../../service/api/verification/post-specs.ts";
import { HISTORY_LIMITS } from "../../service/ingest/history/history-reader.ts";
import { REGISTRY_SHARE } from "../../service/oracle/plan-enrolment.ts";
import { FEEDBACK_LIMITS, FEEDBACK_PERCENT } from "../../service/oracle/plan-feedback.ts";
import {
  DEFAULT_DAILY_GAS,
  NEWCOMER_MAX_GAS,
  PAYMENT_CEILINGS,
  REVERTED_PERCENT,
  senderPolicy,
} from "../../service/sender/send-policy.ts";
import { EVIDENCE_SHARE, largestRun } from "../../service/verification/panel/check-context.ts";
import { loadPrompts } from "../../service/verification/panel/prompts.ts";
import { mostTextTokens, tokensOfRun, VERDICT_UNITS } from "../../service/verification/panel/run-cost.ts";
import { ROLE_NAMES, type RoleName } from "../../service/verification/panel/types.ts";
import { MAX_TEXTS } from "../../service/verification/verdicts/accept-evidence.ts";
import {
  RETURNED_SHARE,
  RUNS_PER_DECISION,
  tokenShares,
} from "../../service/verification/verdicts/token-budget.ts";

/** Cost of stopping a function for all others during a day, by the cheapest known way. */
export type Denial = {
  readonly name: string;
  readonly way: string;
  /** Money that the attacker spends and does not get back. */
  readonly takes: string;
  readonly usd: number;
  readonly barUsd: number;
  /** The operator's costs of that day at most, without what it earns. */
  readonly operatorUsd: number;
};

/** A function that is bounded by something else than money, or that no rule makes dear to stop, with what its users do then. */
export type Unpriced = Pick<Denial, "name" | "takes" | "usd"> & { readonly instead: string };

/** Base. The fee of its L1 is left out, which attackers pay as well. */
export const CHAIN = { gweiPerGas: 0.005, usdPerCoin: 3_300 } as const;
const BARS = { jobs: 200, other: 50 } as const;

/**
 * Gas at least, in batches of one transaction. Measured on the local registries less the 21,000 of a transaction; a slot of storage that was
 * empty takes 22,100.
 */
const GAS = {
  /** A token's transfer to a wallet without a balance: its slot, and the call. */
  freshWallet: 30_000,
  /** EIP-7702's authorization of an account that has no code. */
  contractWallet: 25_000,
  registerFirst: 98_800,
  registerFurther: 64_600,
  setAgentWallet: 20_000,
  requestValidation: 131_800,
  answerValidation: 126_400,
  /** On the registry of Base, see docs/run-on-base.md. */
  giveFeedback: 214_056,
  changeFeedback: 168_444,
  /** The oracle's requestScore, without its fee. */
  enrol: 60_000,
} as const;

type Settings = ReturnType<typeof environment.parse>;

const DAY_SECONDS = 86_400;
const usdOfGas = (gas: number) => (gas * CHAIN.gweiPerGas * CHAIN.usdPerCoin) / 1e9;
const usdOfWei = (wei: bigint) => (Number(wei) / 1e18) * CHAIN.usdPerCoin;
const usdOf = (units: number) => units / 1_000;

/** By the defaults of all settings. */
export function costToDeny(settings = environment.parse({})): readonly Denial[] {
  const chainRows = [...payments(), validations(settings), feedback(settings)];
  return [
    ...panel(settings),
    enrolments(settings),
    histories(),
    ...chainRows,
    specifications(),
    recoveries(),
  ];
}

/** Functions without a bar. */
export function unpriced(settings = environment.parse({})): readonly Unpriced[] {
  const { run, shares } = sharesOf(settings);
  const refused = Math.ceil((RETURNED_SHARE.atOnce * shares.withoutJob) / (RUNS_PER_DECISION * run));
  const addresses = Math.min(
    SPEC_BYTES.addresses / SPEC_BYTES.address,
    SPEC_BYTES.unsigned.addresses / SPEC_BYTES.unsigned.address,
  );
  const registrations = Math.ceil(settings.ENROLMENTS_PER_DAY * REGISTRY_SHARE);
  const gateWallets = 2 * GATE_DEFAULTS.lookups.perMinute * Math.ceil(GATE_DEFAULTS.cache.seconds / 60);
  const lookups = (GATE_DEFAULTS.lookups.perMinute * DAY_SECONDS) / 60;
  const { connections, connectionsPerAddress } = CONNECTION_LIMITS;
  return [
    {
      name: "Verdicts by a key or by the payment escrow, for owners without a verdict",
      takes: `${count(refused)} outputs that the models refuse; their prices come back`,
      usd: 0,
      instead: "a payment by `exact`",
    },
    {
      name: "Specifications without a key",
      takes: `${count(addresses)} addresses (of IPv6, networks of 64 bits)`,
      usd: 0,
      instead: `a key that was charged ${usdOf(KEY_UNITS).toFixed(2)} USD within the day`,
    },
    {
      name: "Following of wallets of further registries",
      takes: `the gas of ${count(registrations)} registrations`,
      usd: usdOfGas(registrations * GAS.registerFirst),
      instead: `a paid score, or the oracle's own request`,
    },
    {
      name: "Recoveries of callers who never paid, at one server",
      takes: `${RECOVERY_TURNS.maxRunning + RECOVERY_TURNS.maxWaiting} wallets with the price, which stays theirs`,
      usd: usdOfGas((RECOVERY_TURNS.maxRunning + RECOVERY_TURNS.maxWaiting) * GAS.freshWallet),
      instead: `any calls for ${usdOf(PAID_UNITS).toFixed(2)} USD first`,
    },
    {
      name: "A seller's gate, for payers whose decision it has not kept",
      takes: `${count(gateWallets)} wallets that sign payments; the seller pays ${(lookups * usdOf(getAhsRoute.price ?? 0)).toFixed(0)} USD for lookups`,
      usd: usdOfGas(gateWallets * GAS.freshWallet),
      instead: "payers with a kept decision go on; the seller sets `lookups` and `cache`",
    },
    {
      name: "Connections of a server without a proxy",
      takes: `${Math.ceil(connections / connectionsPerAddress)} addresses`,
      usd: 0,
      instead: "a load balancer with limits of its own, named in `TRUSTED_PROXIES`",
    },
    {
      name: "Free previews and owner clusters",
      takes: "1 address",
      usd: 0,
      instead: "the priced reports, which have turns of their own",
    },
  ];
}

/** Shares of the panel's day, and the tokens of its largest runs. */
function sharesOf(settings: Settings) {
  const prices = Object.fromEntries(ROLE_NAMES.map((role) => [role, null]));
  const sizes = {
    prompts: loadPrompts(),
    prices: prices as Record<RoleName, null>,
    contextTokens: settings.PANEL_CONTEXT_TOKENS,
    answerTokens: settings.PANEL_ANSWER_TOKENS,
  };
  const texts = mostTextTokens("default", sizes);
  return {
    run: largestRun(sizes),
    withEvidence: tokensOfRun(texts * (1 + MAX_TEXTS * EVIDENCE_SHARE), "default", sizes),
    shares: tokenShares(settings.PANEL_TOKENS_PER_DAY),
  };
}

function panel(settings: Settings): Denial[] {
  const { run, withEvidence, shares } = sharesOf(settings);
  const price = usdOf(VERDICT_UNITS);
  /** The largest run costs its price, by the prices of tokens from which its size is derived. */
  const costOf = (tokens: number) => (tokens / run) * price;
  const denial = (name: string, way: string, tokens: number, each: number): Denial => {
    const verdicts = Math.ceil(tokens / (RUNS_PER_DECISION * each));
    return {
      name,
      way,
      takes: `${count(verdicts)} verdicts of ${price.toFixed(2)} USD`,
      usd: verdicts * price,
      barUsd: BARS.other,
      operatorUsd: costOf(tokens),
    };
  };
  const largest = "fresh wallets buy verdicts on the largest texts, whose answers all have to be repaired";
  const jobs = denial("Verdicts of jobs", `${largest}, for jobs of their own`, shares.jobs, run);
  return [
    { ...jobs, barUsd: BARS.jobs },
    denial("Verdicts without a job", largest, shares.withoutJob, run),
    denial(
      "Re-runs by evidence and at half of a job's time",
      "verdicts on the largest texts that are held, each with the longest evidence and both re-runs",
      shares.free,
      withEvidence,
    ),
    { ...jobs, name: "Appeals", way: "as verdicts of jobs, whose tokens they share", barUsd: BARS.other },
    denial(
      "Verdicts for wallets that never had one",
      "settled payments for the largest texts that the models refuse; their prices come back as credits alone",
      RETURNED_SHARE.settled * settings.PANEL_TOKENS_PER_DAY,
      run,
    ),
  ];
}

function enrolments({ ENROLMENTS_PER_DAY: perDay, ENROLMENT_MAX_FEE_WEI: fee }: Settings): Denial {
  const batches = Math.ceil((perDay - Math.ceil(perDay * REGISTRY_SHARE)) / MAX_WALLETS.key);
  const price = usdOf(BATCH_PRICE.most);
  return {
    name: "Following of wallets whose score was paid for",
    way: `fresh keys buy batches of ${MAX_WALLETS.key} unknown wallets, after a flood of registrations has taken the registries' share`,
    takes: `${count(batches)} batches of ${price.toFixed(2)} USD`,
    usd: batches * price,
    barUsd: BARS.other,
    operatorUsd: perDay * (usdOfWei(fee) + usdOfGas(GAS.enrol)),
  };
}

function histories(): Denial {
  const { maxReading, readMs } = HISTORY_LIMITS;
  const callers = Math.ceil(maxReading / (maxReading - 1)) * Math.ceil((DAY_SECONDS * 1_000) / readMs);
  const price = usdOf(BATCH_PRICE.wallet);
  return {
    name: "Histories of wallets that the index does not know, at one server",
    way: "keys that have taken no time yet hold all places with the slowest wallets; a key has its turn back once it pays for a history",
    takes: `${count(callers)} keys or answers of ${price.toFixed(2)} USD`,
    usd: callers * price,
    barUsd: BARS.other,
    operatorUsd: 0,
  };
}

/** Gas of a settlement at most, for a US dollar that its payer spends. */
function settlementGasPerUsd(): number {
  const margin = 1 + senderPolicy({ finalityBlocks: 1 }).gasMarginPercent / 100;
  const cheapest = usdOf(Math.min(...SCORING_ENDPOINTS.flatMap(({ price }) => price ?? [])));
  const affordable = (cheapest * DEFAULT_PERCENT.x402) / 100 / usdOfGas(1);
  const first = Math.min(affordable, Number(NEWCOMER_MAX_GAS));
  // A wallet may make one settlement revert after its first payment; an old one a share of what it paid for.
  const fresh = (2 * first * margin) / (cheapest + usdOfGas(GAS.freshWallet + GAS.contractWallet));
  const old = (affordable * (1 + Number(REVERTED_PERCENT) / 100) * margin) / cheapest;
  return Math.max(fresh, old);
}

function payments(): Denial[] {
  const dailyGas = Number(DEFAULT_DAILY_GAS.x402);
  const gasPerUsd = settlementGasPerUsd();
  const upTo = (percent: number) => (dailyGas * percent) / 100 / gasPerUsd;
  const row = {
    way: "payments for the cheapest call from contract wallets that burn gas, and make as much revert as they may",
    barUsd: BARS.other,
    operatorUsd: usdOfGas(dailyGas),
  };
  const takes = (percent: number) => `payments that take ${percent} % of the day's gas`;
  const { newcomer, payer, laterStep } = PAYMENT_CEILINGS;
  const claims = usdOfGas((dailyGas * (laterStep - payer)) / 100) / (DEFAULT_PERCENT.x402 / 100);
  return [
    { ...row, name: "First payments of a wallet", takes: takes(newcomer), usd: upTo(newcomer) },
    { ...row, name: "Payments of wallets that paid before", takes: takes(payer), usd: upTo(payer) },
    {
      ...row,
      name: "Claims and captures of little money",
      way: "the same, then claims of channels that bring half of their gas; claims of ten times their gas go on",
      takes: `${takes(payer)}, and channels that are charged`,
      usd: upTo(payer) + claims,
    },
  ];
}

function validations({ VALIDATIONS_PER_DAY: perDay }: Settings): Denial {
  return {
    name: "Answers to validation requests",
    way: "requests for scored wallets of many owners and clusters",
    takes: `the gas of ${count(perDay)} requests`,
    usd: usdOfGas(perDay * GAS.requestValidation),
    barUsd: BARS.other,
    operatorUsd: usdOfGas(perDay * GAS.answerValidation),
  };
}

function feedback({ FEEDBACK_DAILY_WEI: wei }: Settings): Denial {
  const dailyUsd = usdOfWei(wei);
  const part = (percent: number, gas: number) => ((dailyUsd * percent) / 100 / usdOfGas(gas)) | 0;
  const again = Number(FEEDBACK_PERCENT.again);
  const first = part(Number(FEEDBACK_PERCENT.first) - again, GAS.giveFeedback);
  const changes = part(again, GAS.changeFeedback);
  const { owner } = FEEDBACK_LIMITS.mostPerDay;
  const ownerGas = GAS.contractWallet + GAS.registerFirst + (owner - 1) * GAS.registerFurther;
  const agentGas = ownerGas / owner + GAS.setAgentWallet;
  return {
    name: "First feedback of an agent",
    way: `agents of fresh owners, ${owner} of each, that name scored wallets; others change their wallets`,
    takes: `the gas of ${count(first)} registrations and ${count(changes)} changes`,
    usd: usdOfGas(first * agentGas + changes * GAS.setAgentWallet),
    barUsd: BARS.other,
    operatorUsd: dailyUsd,
  };
}

function specifications(): Denial {
  const keys = Math.min(SPEC_BYTES.keys / SPEC_BYTES.key, SPEC_BYTES.unsigned.keys / SPEC_BYTES.unsigned.key);
  return {
    name: "Specifications by an API key",
    way: "keys that are charged enough within the day register as many bytes as they may",
    takes: `charges of ${usdOf(KEY_UNITS).toFixed(2)} USD to ${count(keys)} keys`,
    usd: keys * usdOf(KEY_UNITS),
    barUsd: BARS.other,
    operatorUsd: 0,
  };
}

function recoveries(): Denial {
  // Opening and simulation have a deadline each. Callers who never paid share all places but one.
  const callers = Math.ceil(DAY_SECONDS / ((2 * RECOVERY_NODE.deadlineMs) / 1_000));
  const each = usdOf(PAID_UNITS) + usdOfGas(GAS.freshWallet);
  return {
    name: `Recoveries of callers who have paid ${usdOf(PAID_UNITS).toFixed(2)} USD, at one server`,
    way: `a stranger's wallets hold ${RECOVERY_TURNS.maxRunning - 1} of ${RECOVERY_TURNS.maxRunning} places for nothing; wallets that have paid and took no time yet hold the last one`,
    takes: `${count(callers)} wallets that paid ${usdOf(PAID_UNITS).toFixed(2)} USD`,
    usd: callers * each,
    barUsd: BARS.other,
    operatorUsd: 0,
  };
}

const count = (number: number) => Math.round(number).toLocaleString("en");
