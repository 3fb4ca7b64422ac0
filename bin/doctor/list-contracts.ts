import type { Address } from "viem";
import type { Deployment } from "../../service/chain/deployments.ts";

export type ListedContract = {
  readonly what: string;
  readonly address: Address;
  readonly isEssential: boolean;
};

/** Every address of a deployment that has to be a contract, once; the first name given to it stands. */
export function listContracts(deployment: Deployment): readonly ListedContract[] {
  const { identityRegistry, sanctionsList, oracle, verdictEvaluator, registries, market, accounts } =
    deployment;
  const essential = (what: string, contract: { readonly address: Address } | null): ListedContract[] =>
    contract === null ? [] : [{ what, address: contract.address, isEssential: true }];
  const other = (what: string, address: Address | null): ListedContract[] =>
    address === null ? [] : [{ what, address, isEssential: false }];
  const all = [
    ...essential("identity registry", identityRegistry),
    ...essential("sanctions list", sanctionsList),
    ...essential("oracle", oracle),
    ...essential("verdict evaluator", verdictEvaluator),
    ...(deployment.usdc === null ? [] : essential("USDC", { address: deployment.usdc })),
    ...registries.flatMap(({ name, address }) => other(`registry ${name}`, address)),
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
