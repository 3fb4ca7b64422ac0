import type { z } from "zod";
import { ROLE_NAMES, type RoleName } from "../service/verification/panel/types.ts";
import type { environment } from "./environment.ts";
import {
  type Needs,
  needFaults,
  type PanelSettings,
  type Present,
  panelSettings,
  urlFaults,
} from "./panel-settings.ts";

/** Appeals as the environment configures them; null if no decision is appealed. */
export type Appeals = {
  readonly windowSeconds: number;
  readonly panel: PanelSettings & { readonly model: string };
};

/**
 * The longest time to appeal, null if it is not set, and the panel of appeals, null without its model: as the first panel, with one model
 * for all six roles.
 */
export function appealSettings(data: z.infer<typeof environment>) {
  const { PANEL_APPEAL_BASE_URL: baseUrl, PANEL_APPEAL_MODEL: model } = data;
  const first = panelSettings(data);
  const windowSeconds = data.APPEAL_WINDOW_SECONDS ?? null;
  if (first === null || baseUrl === undefined || model === undefined) return { windowSeconds, panel: null };
  const models = Object.fromEntries(ROLE_NAMES.map((role) => [role, model])) as Record<RoleName, string>;
  const server = { baseUrl, apiKey: data.PANEL_APPEAL_API_KEY ?? null };
  return { windowSeconds, panel: { ...first, ...server, model, models, second: null, prices: null } };
}

/** The appeals of a process that has a panel for them; null if it has none, or no time to appeal. */
export function appealsOf({ windowSeconds, panel }: ReturnType<typeof appealSettings>): Appeals | null {
  return panel === null || windowSeconds === null || windowSeconds === 0 ? null : { windowSeconds, panel };
}

/** Contradictions in the settings of appeals. */
export function appealFaults(present: Present): string[] {
  const faults = [
    ...needFaults(present, NEEDS),
    ...urlFaults("PANEL_APPEAL_BASE_URL", present.PANEL_APPEAL_BASE_URL),
  ];
  // Without any model `ahs up` starts scripted ones for both panels.
  const hasWindow = Number(present.APPEAL_WINDOW_SECONDS ?? 0) > 0;
  if (hasWindow && present.PANEL_BASE_URL !== undefined && present.PANEL_APPEAL_MODEL === undefined)
    faults.push("APPEAL_WINDOW_SECONDS: needs PANEL_APPEAL_MODEL");
  return faults.map((fault) => `  ${fault}`);
}

const NEEDS: Needs = [
  [["PANEL_APPEAL_BASE_URL"], "PANEL_APPEAL_MODEL"],
  [["PANEL_APPEAL_BASE_URL"], "PANEL_BASE_URL"],
  [["PANEL_APPEAL_MODEL", "PANEL_APPEAL_API_KEY"], "PANEL_APPEAL_BASE_URL"],
  [["PANEL_APPEAL_MODEL"], "APPEAL_WINDOW_SECONDS"],
];

/** Contradictions between the panel of appeals and the first one, which has to be disjoint from it. */
export function sharedModelFaults(data: z.infer<typeof environment>): string[] {
  const { panel } = appealSettings(data);
  const first = panelSettings(data);
  if (panel === null || first === null) return [];
  const { second } = first;
  const isShared =
    (isSame(panel, first) && Object.values(first.models).includes(panel.model)) ||
    (second !== null && isSame(panel, second) && second.model === panel.model);
  return isShared
    ? [
        `  PANEL_APPEAL_MODEL: got "${panel.model}", which the first panel has at the same base URL; expected another model`,
      ]
    : [];
}

function isSame(one: Pick<PanelSettings, "baseUrl">, other: Pick<PanelSettings, "baseUrl">): boolean {
  const hrefOf = ({ baseUrl }: typeof one) => new URL(baseUrl).href.replace(/\/$/, "");
  return hrefOf(one) === hrefOf(other);
}
