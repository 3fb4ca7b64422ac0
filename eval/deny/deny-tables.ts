import { markdownTable } from "../model-doc/markdown.ts";
import { CHAIN, costToDeny, unpriced } from "./cost-to-deny.ts";

/** The tables of docs/security.md. */
export function denyTables(): string {
  const priced = costToDeny().map(({ name, way, takes, usd, barUsd, operatorUsd }) => [
    ...[name, way, takes],
    ...[dollars(usd), dollars(barUsd), dollars(operatorUsd)],
  ]);
  const others = unpriced().map(({ name, takes, usd, instead }) => [name, takes, usd.toFixed(2), instead]);
  return [
    `By the defaults of all settings, at ${CHAIN.gweiPerGas} gwei and ${CHAIN.usdPerCoin.toLocaleString("en")} USD for ETH, without the fee of Base's L1.`,
    markdownTable([
      ["Function", "Cheapest way", "What it takes", "USD a day", "Bar", "Operator's costs of the day"],
      ...priced,
    ]),
    "These have no bar: something else than money bounds them, or the operator gives them away.",
    markdownTable([["Function", "What it takes", "USD a day", "What its users do"], ...others]),
  ].join("\n\n");
}

const dollars = (usd: number) => Math.floor(usd).toLocaleString("en");
