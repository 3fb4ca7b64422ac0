import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { AgentHealth } from "../client/src/agent-health.ts";
import type { UpFile } from "../devnet/demo/local-files.ts";
import { SOLD_REPORTS } from "../service/api/pages/reports/sold-reports.ts";
import { CHROMIUM } from "../test/support/chromium.ts";

// Writes a picture of every page, on a phone and on a desktop, light and dark, of the service that `npm start` runs:
// node scripts/screenshot-pages.ts FOLDER [--up .ahs/up.json] [--only NAME,NAME]

const DEVICES = {
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const;
const SCHEMES = ["light", "dark"] as const;
const CRITERIA = "1. Names the sources of every row\n2. Covers all twelve months of the year";
const OUTPUTS = {
  ALLOW: "The table names the sources of every row and covers all twelve months of the year.",
  HOLD: "The table covers all twelve months of the year, without more.",
  REJECT: "Nothing of this was done.",
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { up: { type: "string", default: ".ahs/up.json" }, only: { type: "string" } },
});
const [folder] = positionals;
if (folder === undefined || CHROMIUM === null) {
  throw new Error(folder === undefined ? "a folder for the pictures was expected" : "no Chromium was found");
}
mkdirSync(folder, { recursive: true });
const up: UpFile = JSON.parse(readFileSync(values.up, "utf8"));
const only = values.only?.split(",") ?? null;
const pages = Object.entries(await placesOf(up)).filter(([name]) => only === null || only.includes(name));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
for (const device of ["phone", "desktop"] as const) {
  for (const colorScheme of SCHEMES) {
    const context = await browser.newContext({ ...DEVICES[device], colorScheme, baseURL: up.base_url });
    for (const [name, place] of pages)
      await take(context, place, join(folder, `${name}-${device}-${colorScheme}.png`));
    await context.close();
  }
}
await browser.close();

/** A path, and whether it is looked at signed in, or after its paid part was bought. */
type Place = { readonly path: string; readonly as?: "signed-in" | "buyer" };

async function placesOf({ samples, base_url, api_key }: UpFile): Promise<Readonly<Record<string, Place>>> {
  const wallets = Object.entries(samples).map(([name, address]) => [
    `wallet-${name}`,
    { path: `/wallet/${address}` },
  ]);
  const bought = samples.keeper ?? Object.values(samples)[0];
  const verdicts = await verdictsOf(new AgentHealth(api_key, { baseUrl: base_url }));
  return {
    dashboard: { path: "/" },
    leaderboard: { path: "/leaderboard" },
    "leaderboard-active": { path: "/leaderboard?sort=active" },
    "leaderboard-unscored": { path: "/leaderboard?show=unscored" },
    "leaderboard-found": { path: "/leaderboard?q=per+0" },
    "leaderboard-empty": { path: "/leaderboard?q=nobody-is-called-this" },
    ...Object.fromEntries(wallets),
    "wallet-history": { path: `/wallet/${bought}/history` },
    compare: { path: `/compare?addresses=${Object.values(samples).slice(0, 5)}` },
    "wallet-owner": { path: `/wallet/${bought}/owner` },
    ...Object.fromEntries(
      SOLD_REPORTS.flatMap(({ slug }) => [
        [`tab-${slug}`, { path: `/wallet/${bought}/${slug}` }],
        [`tab-${slug}-bought`, { path: `/wallet/${bought}/${slug}`, as: "buyer" as const }],
      ]),
    ),
    ...Object.fromEntries(verdicts.map(([name, id]) => [`verdict-${name}`, { path: `/verdict/${id}` }])),
    "verdict-unknown": { path: "/verdict/unknown" },
    status: { path: "/status" },
    account: { path: "/account" },
    "account-signed-in": { path: "/account", as: "signed-in" },
    "not-found": { path: "/nowhere" },
  };
}

/** A verdict of each kind, paid for with the demo key; none where outputs are not taken. */
async function verdictsOf(health: AgentHealth): Promise<readonly (readonly [string, string])[]> {
  const party = `0x${"12".repeat(20)}`;
  const spec = await health.registerSpec({
    client_addr: party,
    spec_text: `A table of the year, ${new Date().toISOString()}`,
    acceptance_criteria: CRITERIA,
  });
  return Promise.all(
    Object.entries(OUTPUTS).map(async ([name, text]) => {
      const { verdict_id } = await health.verifyOutput({
        spec_id: spec.spec_id,
        output_text: text,
        submitted_by: "client",
        submitter_addr: party,
        provider_addr: `0x${"34".repeat(20)}`,
      });
      await health.waitForVerdict(verdict_id);
      return [name, verdict_id] as const;
    }),
  );
}

async function take(
  context: Awaited<ReturnType<Browser["newContext"]>>,
  place: Place,
  file: string,
): Promise<void> {
  const page = await context.newPage();
  if (place.as !== undefined) await signIn(context);
  await page.goto(place.path);
  // Bought for an earlier picture, it is shown at once.
  const sale = page.locator("form.buy button");
  if (place.as === "buyer" && (await sale.count()) > 0) await sale.click();
  await page.evaluate("document.fonts.ready");
  await page.screenshot({ path: file, fullPage: true });
  await page.close();
  await context.clearCookies();
}

async function signIn(context: BrowserContext): Promise<void> {
  await context.addCookies([{ name: "ahs_key", value: up.api_key, url: up.base_url, httpOnly: true }]);
}
