import type { Grade } from "../../model/score/record.ts";

/** What a registry brought since the scan before. */
export type RegistryReport = {
  readonly registry: string;
  /** Name of the registry in the deployment. */
  readonly name: string;
  /** Agents that it has in all, and those that are new. */
  readonly agents: number;
  readonly newAgents: number;
  /** Wallets of them that were not followed, and are asked to be. */
  readonly newWallets: number;
  /** Block up to which it was read; null where it could not be read. */
  readonly block: number | null;
  /** Why it could not be read to its end, or without which blocks; null where all of it was. */
  readonly fault: string | null;
};

/** A grade that is another than at the scan before; null where a wallet had, or has, none. */
export type GradeMove = {
  readonly wallet: string;
  readonly from: Grade | null;
  readonly to: Grade | null;
};

/** What one scan found; counts are of the whole chain at its end. */
export type ScanReport = {
  readonly registries: readonly RegistryReport[];
  readonly documents: Readonly<Record<"current" | "unreachable" | "refused" | "malformed", number>>;
  /** Documents that were asked for, and not read again when the report was made. */
  readonly documentsLeft: number;
  /** Documents that say something else than at the scan before. */
  readonly changedDocuments: number;
  readonly endpoints: { readonly alive: number; readonly failing: number };
  readonly wallets: number;
  /** Wallets by grade, and those without enough history. */
  readonly grades: Readonly<Record<Grade | "insufficient", number>>;
  /** Mean of all scores in hundredths; null where nobody has one. */
  readonly meanScoreHundredths: number | null;
  readonly sanctioned: number;
  /** How many grades changed since the scan before; null for the first. */
  readonly changedGrades: number | null;
  /** The first hundred of them. */
  readonly gradeMoves: readonly GradeMove[];
  readonly root: { readonly epoch: number; readonly root: string; readonly leaves: number } | null;
  /** Why there is no root, in words that everybody may read; null where there is one. */
  readonly noRoot: string | null;
};

/** What a scan tells of the night's root. */
export type RootReport = Pick<ScanReport, "root" | "noRoot">;

/** Agents of all registries that are new. */
export function newAgentsOf({ registries }: Pick<ScanReport, "registries">): number {
  return registries.reduce((sum, { newAgents }) => sum + newAgents, 0);
}

/** Registries of which something could not be read. */
export function registryFaultsOf({ registries }: Pick<ScanReport, "registries">): number {
  return registries.filter(({ fault }) => fault !== null).length;
}
