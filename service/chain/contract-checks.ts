import { type Address, BaseError, type PublicClient, parseAbi } from "viem";
import { type Check, concern, fault, fine, type Verdict } from "../check.ts";
import { mapLimited } from "../net/map-limited.ts";
import type { Deployment } from "./deployments.ts";
import { describeEscrow } from "./describe-escrow.ts";
import { LOCAL_CHAIN_ID } from "./networks.ts";

/** Requests under way at once: public nodes refuse crowds. */
const AT_ONCE = 6;
const FEED = parseAbi([
  "function latestRoundData() view returns (uint80 round, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn)",
]);

/** Checks of the contracts that a deployment names. */
export function contractChecks(
  client: PublicClient,
  { deployment, now }: { readonly deployment: Deployment; readonly now: () => Date },
): readonly Check[] {
  return [
    { name: "contracts", run: () => checkContracts(client, deployment) },
    {
      name: "price feeds",
      run: async () =>
        deployment.chainId === LOCAL_CHAIN_ID
          ? fine("feeds of a local chain")
          : judgeFeeds(await probeFeeds(client, deployment, now())),
    },
  ];
}

async function checkContracts(client: PublicClient, deployment: Deployment): Promise<readonly Verdict[]> {
  const listed = listContracts(deployment);
  const withCode = await probeCode(
    client,
    listed.map(({ address }) => address),
  );
  const escrows = await Promise.all(
    deployment.escrows.map(async (escrow) => {
      const facts = { what: "escrow", address: escrow.address, isEssential: true };
      const [found] = await Promise.allSettled([describeEscrow(client, escrow)]);
      if (found.status === "rejected") return { ...facts, hasCode: false, isKnownCode: false };
      const isKnownCode =
        found.value.codeHash === escrow.codeHash &&
        found.value.implementation?.codeHash === escrow.implementation?.codeHash;
      return { ...facts, hasCode: true, isKnownCode };
    }),
  );
  const contracts = listed.map((one) => ({ ...one, hasCode: withCode.has(one.address), isKnownCode: true }));
  return judgeContracts([...contracts, ...escrows]);
}

export type ContractFacts = {
  readonly what: string;
  readonly address: Address;
  /** Nothing works without it; others cost a part. */
  readonly isEssential: boolean;
  readonly hasCode: boolean;
  /** False where the code, or that behind a proxy, is not what the deployment says. */
  readonly isKnownCode: boolean;
};

/** Whether every address of the deployment is what it says. */
export function judgeContracts(contracts: readonly ContractFacts[]): readonly Verdict[] {
  const bad = contracts.filter(({ hasCode, isKnownCode }) => !hasCode || !isKnownCode);
  if (bad.length === 0) return [fine(`code at all ${contracts.length} addresses`)];
  return bad.map(({ what, address, isEssential, hasCode }) => {
    const detail = `${what} ${address}: ${hasCode ? "other code than in the deployment" : "no code"}`;
    if (hasCode) return fault(detail, "review the new code: until then its verdicts are not settled");
    return isEssential
      ? fault(detail, "check AHS_DEPLOYMENT against the chain")
      : concern(detail, "take it out of the deployment, or correct it");
  });
}

/** Which addresses have code now. */
export async function probeCode(client: PublicClient, addresses: readonly Address[]) {
  const codes = await mapLimited(addresses, AT_ONCE, async (address) => ({
    address,
    code: await client.getCode({ address }),
  }));
  return new Set(
    codes.filter(({ code }) => code !== undefined && code !== "0x").map(({ address }) => address),
  );
}

type ListedContract = {
  readonly what: string;
  readonly address: Address;
  readonly isEssential: boolean;
};

/** Every contract address of a deployment once, with its first name. */
function listContracts(deployment: Deployment): readonly ListedContract[] {
  const { identityRegistry, sanctionsList, oracle, verdictEvaluator, registries, market, accounts } =
    deployment;
  const { reputationRegistry, validationRegistry, assuranceAccounts } = deployment;
  const essential = (what: string, contract: { readonly address: Address } | null): ListedContract[] =>
    contract === null ? [] : [{ what, address: contract.address, isEssential: true }];
  const other = (what: string, address: Address | null): ListedContract[] =>
    address === null ? [] : [{ what, address, isEssential: false }];
  const all = [
    ...essential("identity registry", identityRegistry),
    ...essential("sanctions list", sanctionsList),
    ...essential("oracle", oracle),
    ...essential("verdict evaluator", verdictEvaluator),
    ...essential("assurance accounts", assuranceAccounts),
    ...(deployment.usdc === null ? [] : essential("USDC", { address: deployment.usdc })),
    ...registries.flatMap(({ name, address }) => other(`registry ${name}`, address)),
    ...other("reputation registry", reputationRegistry),
    ...other("validation registry", validationRegistry?.address ?? null),
    ...other("wrapped coin", market.wrappedNative),
    ...other(`feed of ${market.native.symbol}`, market.native.feed),
    ...market.tokens.flatMap(({ symbol, address, feed }) => [
      ...other(`token ${symbol}`, address),
      ...other(`feed of ${symbol}`, feed),
    ]),
    ...accounts.entryPoints.flatMap((address) => other("entry point", address)),
  ];
  return all.filter(({ address }, index) => all.findIndex((one) => one.address === address) === index);
}

/** Feeds are renewed at least daily. */
const OLD_FEED = 2 * 86_400;

/** Whether the price feeds answer, with prices of today. */
export function judgeFeeds(
  feeds: readonly {
    symbol: string;
    address: Address;
    /** Null where it does not answer. */
    ageSeconds: number | null;
    isPositive: boolean;
  }[],
): readonly Verdict[] {
  const bad = feeds.filter(
    ({ ageSeconds, isPositive }) => ageSeconds === null || ageSeconds > OLD_FEED || !isPositive,
  );
  if (bad.length === 0) return [fine(`${feeds.length} price feeds answer`)];
  return bad.map(({ symbol, address, ageSeconds, isPositive }) => {
    const why =
      ageSeconds === null
        ? "does not answer"
        : isPositive
          ? `${Math.round(ageSeconds / 3_600)} h old`
          : "no price";
    return concern(
      `${symbol} feed ${address}: ${why}`,
      "look its address up anew and correct the deployment",
    );
  });
}

/** Asks each feed of the market once; a failing feed has no age. */
async function probeFeeds(client: PublicClient, { market }: Pick<Deployment, "market">, now: Date) {
  const { native, tokens } = market;
  const symbols = new Map<Address, string>();
  for (const { feed, symbol } of [native, ...tokens]) {
    if (feed !== null && !symbols.has(feed)) symbols.set(feed, symbol);
  }
  return mapLimited([...symbols], AT_ONCE, async ([address, symbol]) => {
    try {
      const [, answer, , updatedAt] = await client.readContract({
        address,
        abi: FEED,
        functionName: "latestRoundData",
      });
      const ageSeconds = now.getTime() / 1_000 - Number(updatedAt);
      return { symbol, address, ageSeconds, isPositive: answer > 0n };
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      return { symbol, address, ageSeconds: null, isPositive: false };
    }
  });
}
