import type { Hash } from "viem";
import { type Address, isAddress } from "viem";
import { z } from "zod";

const hash = z.custom<Hash>((value) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value));
const score = z.int().min(0).max(100).nullable();

const line = z.object({
  dimension: z.string(),
  name: z.string(),
  value: z.number().nullable(),
  samples: z.number(),
  state: z.string(),
  score: z.number().nullable(),
  weight: z.number(),
  contribution: z.number().nullable(),
});

/** What is verified of an answer of GET /ahs/{address}?include=features; members that are no part of the score are left out. */
export const recordedScoreSchema = z.object({
  address: z
    .custom<Address>((value) => typeof value === "string" && isAddress(value, { strict: false }))
    .transform((address) => address.toLowerCase() as Address),
  ahs_score: score,
  grade: z.string().nullable(),
  d1_score: score,
  d2_score: score,
  mode: z.enum(["2D", "3D"]),
  trust_routing: z.string(),
  confidence: z.number(),
  confidence_level: z.string(),
  patterns: z.array(z.object({ name: z.string(), effect: z.number() })),
  sanctions_flags: z.array(z.object({ source: z.string(), reference: z.string() })),
  model_version: z.string(),
  chain_id: z.int(),
  as_of_block: z.int().nonnegative(),
  as_of_time: z.string(),
  inputs_hash: hash,
  coverage: z.object({ to_block: z.int().nonnegative() }),
  features: z.array(line),
});

export type RecordedScore = z.infer<typeof recordedScoreSchema>;
