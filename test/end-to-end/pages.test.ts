import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import type { BrowserContextOptions, Page } from "playwright-core";
import { createPublicClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import {
  accessibilityFaults,
  openPage,
  SCREENS,
  type WatchedPage,
  widthBeyond,
} from "../support/browser-pages.ts";
import { injectWallet, type WalletBehaviour } from "../support/browser-wallet.ts";
import { CHROMIUM } from "../support/chromium.ts";
import { type PagesWorld, QUIET, STEADY, startPagesWorld, walletOf } from "../support/pages-world.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";

let world: PagesWorld;
const { payer, payee } = roleAccounts();

beforeAll(async () => {
  if (CHROMIUM !== null) world = await startPagesWorld(CHROMIUM);
});

afterAll(() => world?.kit.close());

function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
  return openPage(world.browser, { ...options, baseURL: world.server.baseUrl });
}

async function signIn(page: Page, secret = world.key.secret): Promise<void> {
  await page.goto("/account");
  await page.getByLabel("API key").fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

function places(): Readonly<Record<string, string>> {
  return {
    dashboard: "/",
    leaderboard: "/leaderboard",
    search: `/leaderboard?q=${STEADY}`,
    wallet: `/wallet/${STEADY}`,
    comparison: `/compare?addresses=${STEADY},${walletOf(2)},${QUIET},${walletOf(4)}`,
    "comparison of one": `/compare?addresses=${STEADY}`,
    "wallet without a score": `/wallet/${QUIET}`,
    "history of a wallet": `/wallet/${STEADY}/history`,
    "owner of a wallet": `/wallet/${STEADY}/owner`,
    "verdict allowed": `/verdict/${world.verdicts.allowed}`,
    "verdict on hold": `/verdict/${world.verdicts.held}`,
    "verdict under way": `/verdict/${world.verdicts.pending}`,
    "verdict that failed": `/verdict/${world.verdicts.failed}`,
    "unknown verdict": "/verdict/none",
    status: "/status",
    account: "/account",
    "leaderboard, unscored": "/leaderboard?show=unscored",
    "unknown page": "/nowhere",
  };
}

/** The reports that a wallet's tabs sell, each with its example. */
function tabs(): Readonly<Record<string, string>> {
  const slugs = ["score", "health", "counterparties", "network", "gas", "retry", "cleanliness", "risk"];
  return Object.fromEntries(
    [...slugs, "protect", "report-card"].map((slug) => [`tab ${slug}`, `/wallet/${STEADY}/${slug}`]),
  );
}

describe.skipIf(CHROMIUM === null)("the pages in a browser", () => {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`are clean and accessible, on a phone and on a desktop, ${colorScheme}`, async () => {
      const { page, faults, close } = await open({ colorScheme });
      const found: Record<string, unknown> = {};
      const look = async (name: string) => {
        for (const [device, viewport] of Object.entries(SCREENS)) {
          await page.setViewportSize(viewport);
          const wrong = [...(await accessibilityFaults(page)), ...faults.splice(0)];
          const beyond = await widthBeyond(page);
          if (beyond !== 0) wrong.push(`${beyond} px wider than the screen`);
          if (wrong.length > 0) found[`${name} ${device}`] = wrong;
        }
      };
      const shown = colorScheme === "light" ? { ...places(), ...tabs() } : places();
      for (const [name, path] of Object.entries(shown)) {
        await page.goto(path);
        await look(name);
      }
      await signIn(page);
      await look("account, signed in");
      expect(found).toEqual({});
      await close();
    });
  }

  test("are walked by keyboard: past the navigation, into the search, to a wallet", async () => {
    const { page, close } = await open();
    await page.goto("/leaderboard");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toMatch(/Skip/);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).not.toBe("none");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.name")).toBe("q");
    await page.keyboard.type(STEADY);
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=0x|\/wallet\//);
    expect(await page.textContent("main")).toMatch(/0x/);
    await close();
  });

  test("work without scripts, and never show the key", async () => {
    const { page, close } = await open({ javaScriptEnabled: false });
    await signIn(page);
    expect(await page.content()).not.toContain(world.key.secret);
    expect(page.url()).not.toContain("ahs_");
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "ahs_key", httpOnly: true, sameSite: "Strict", expires: -1 });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await close();
  });

  test("sell a report for exactly its price, once for a form however often it is sent", async () => {
    const { page, faults, close } = await open();
    await signIn(page);
    await page.goto(`/wallet/${STEADY}`);
    await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name: "Score" }).click();
    const before = await readBalance(world.kit.db, world.key.id);
    await page.getByText("made-up data").waitFor();
    await page.getByRole("button", { name: /1\.00 USD/ }).click();
    await page.getByText("Paid.").waitFor();
    expect(before - (await readBalance(world.kit.db, world.key.id))).toBe(1_000);
    expect(await page.textContent("main")).toMatch(/history/i);
    await page.reload();
    await page.getByText("You have this report").waitFor();
    await page.goto(`/wallet/${STEADY}/score`);
    await page.getByText("You have this report").waitFor();
    await page.goto(`/wallet/${STEADY}/network`);
    await page.getByRole("button", { name: /0\.10 USD/ }).click();
    await page.getByRole("group", { name: /^Network: \d+ accounts? and \d+ links?$/ }).waitFor();
    expect(before - (await readBalance(world.kit.db, world.key.id))).toBe(1_100);
    expect(faults).toEqual([]);
    await close();
  });

  test("take a routing policy, and local times with the UTC one behind them", async () => {
    const { page, faults, close } = await open({ timezoneId: "Asia/Tokyo" });
    await signIn(page);
    await page.getByLabel("Grade C").selectOption("Reject");
    await page.getByRole("button", { name: "Save the policy" }).click();
    await page.getByText(/Saved on/).waitFor();
    expect(await page.getByLabel("Grade C").inputValue()).toBe("reject");
    const time = page.locator("time[data-local]").first();
    expect(await time.getAttribute("title")).toMatch(/UTC$/);
    expect(await time.textContent()).not.toMatch(/UTC/);
    expect(faults).toEqual([]);
    await close();
  });

  test("replace a key: the new one is shown once, the browser follows it, and sending the form again replaces nothing", async () => {
    const own = await createTestKey(world.kit.db, 1_000);
    const { page, close } = await open();
    await signIn(page, own.secret);
    await page.getByText("Replace it now").click();
    await page.getByRole("button", { name: "Replace the key" }).click();
    await page.getByRole("heading", { name: "Your new key" }).waitFor();
    const fresh = (await page.textContent("pre"))?.trim() ?? "";
    expect(fresh).toMatch(/^ahs_/);
    await page.reload();
    await page.getByRole("heading", { name: "The key was replaced already" }).waitFor();
    expect(await statusOf(own.secret)).toBe(401);
    expect(await statusOf(fresh)).toBe(200);
    await page.getByRole("link", { name: "To the account" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await close();
  });

  test("show what strangers wrote as text", async () => {
    const { page, faults, close } = await open();
    await page.goto(`/verdict/${world.verdicts.held}`);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.textContent("main")).toContain("<script>window.hacked = true</script>");
    expect(faults).toEqual([]);
    await close();
  });
});

describe.skipIf(CHROMIUM === null)("a browser wallet", () => {
  async function buyWith(behaviour: WalletBehaviour = {}) {
    const { page, faults, close } = await open();
    await injectWallet(page, { rpcUrl: world.kit.chain.rpcUrl, account: payer, ...behaviour });
    await page.goto("/account");
    await page.getByLabel("Credits in USD").fill("2.5");
    await page.getByRole("button", { name: "Buy a key" }).click();
    return { page, faults, close };
  }

  test("buys a key, which is shown once and signs in, and adds credits to it", async () => {
    const { page, faults, close } = await buyWith();
    const shown = page.locator("pre.key");
    await shown.waitFor();
    const secret = (await shown.textContent()) ?? "";
    expect(await statusOf(secret)).toBe(200);
    await page.getByRole("button", { name: "Sign in with it" }).click();
    await page.getByText("2.50 USD").first().waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByLabel("Credits in USD").fill("3");
    await page.getByRole("button", { name: "Add credits" }).click();
    await page.getByText("3.00 USD were added.").waitFor();
    await page.reload();
    expect(await page.textContent("#balance")).toBe("5.50 USD");
    expect(faults).toEqual([]);
    await close();
  });

  test("reads in words why nothing was bought, and nothing was paid", async () => {
    const refusals: readonly [WalletBehaviour, RegExp][] = [
      [{ absent: true }, /no wallet/],
      [{ refuses: "eth_requestAccounts" }, /did not let the wallet show an account\. Nothing was paid/],
      [{ refuses: "eth_signTypedData_v4" }, /did not sign the payment\. Nothing was paid/],
      [{ chainId: 1, refuses: "wallet_switchEthereumChain" }, /wallet stayed on another\. Nothing was paid/],
      [{ chainId: 1, knowsOwnChain: false }, /does not know the chain 31337/],
      [
        { account: roleAccounts().payee, address: walletOf(99) },
        /2\.50 USD Coin are needed, and 0x.* holds 0\.00/,
      ],
    ];
    for (const [behaviour, words] of refusals) {
      const { page, close } = await buyWith(behaviour);
      await page.getByRole("status").filter({ hasText: words }).waitFor();
      await close();
    }
  });

  test("changes to the chain that is paid on, and gets the key whose answer was lost, or owed, by the payment that was made", async () => {
    const { page, close } = await open();
    await injectWallet(page, { rpcUrl: world.kit.chain.rpcUrl, account: payer, chainId: 1 });
    let isLost = false;
    await page.route("**/keys", async (route) => {
      const isPayment = route.request().headers()["payment-signature"] !== undefined;
      if (!isPayment || isLost) return route.continue();
      isLost = true;
      return route.abort("connectionreset");
    });
    await world.kit.db.$client.query(`
      create function ahs.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before insert on ahs.key_credit for each row execute function ahs.refuse()`);
    await page.goto("/account");
    await page.getByRole("button", { name: "Buy a key" }).click();
    const claimed = page.waitForRequest((request) => request.headers()["x-payment-claim"] !== undefined);
    const owed = page.waitForResponse((response) => response.status() === 503);
    await owed;
    await world.kit.db.$client.query("drop trigger refuse on ahs.key_credit; drop function ahs.refuse()");
    await claimed;
    await page.locator("pre.key").waitFor();
    expect(isLost).toBe(true);
    const { rows } = await world.kit.db.$client.query(
      "select state, count(*)::int from ahs.payment group by state",
    );
    expect(rows).toEqual([{ state: "answered", count: 3 }]);
    await replaceByWallet(page, (await page.locator("pre.key").textContent()) ?? "");
    await close();
  });
});

describe.skipIf(CHROMIUM === null)("a page of another origin", () => {
  test("pays with the official client, which asks for headers that a preflight has to allow", async () => {
    const site = createServer((_request, response) => response.end("<!doctype html>")).listen(0, "127.0.0.1");
    await once(site, "listening");
    const page = await world.browser.newPage();
    try {
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
      await page.addScriptTag({ content: await payingScript() });
      const before = await received();
      for (const path of [`/ahs/route/${STEADY}`, `/risk/${STEADY}`]) {
        const asked = { privateKey: privateKeyOf(payer), url: `${world.server.baseUrl}${path}` };
        expect(await page.evaluate(`payFor(${JSON.stringify(asked)})`)).toMatchObject({
          status: 200,
          receipt: { success: true, network: "eip155:31337" },
          body: { address: STEADY },
        });
      }
      expect((await received()) - before).toBe(11_000n);
    } finally {
      await page.close();
      site.close();
    }
  });
});

/** Defines `payFor`, which asks for a URL and pays what it costs. */
async function payingScript(): Promise<string> {
  const contents = `
    import { ExactEvmScheme } from "@x402/evm/exact/client";
    import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
    import { privateKeyToAccount } from "viem/accounts";
    window.payFor = async ({ privateKey, url }) => {
      const scheme = new ExactEvmScheme(privateKeyToAccount(privateKey));
      const client = new x402Client().register("eip155:31337", scheme).setSpendControls(false);
      const response = await wrapFetchWithPayment(window.fetch, client)(url);
      const receipt = decodePaymentResponseHeader(response.headers.get("payment-response"));
      return { status: response.status, receipt, body: await response.json() };
    };`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, logLevel: "silent" });
  return outputFiles[0]?.text ?? "";
}

/** Balance of the payee, in millionths of a US dollar. */
function received(): Promise<bigint> {
  const { rpcUrl, contracts } = world.kit.chain;
  return createPublicClient({ transport: http(rpcUrl) }).readContract({
    address: contracts.usdc,
    abi: usdCoinAbi,
    functionName: "balanceOf",
    args: [payee.address],
  });
}

/** Has the wallet that bought several keys get another for the newest of them. */
async function replaceByWallet(page: Page, lost: string): Promise<void> {
  await page.reload();
  await page.getByText("Lost a key that your wallet bought?").click();
  await page.getByRole("button", { name: "Get another key" }).click();
  const notice = page.getByRole("status").filter({ hasText: "Your wallet bought several keys" });
  const [id = ""] = /[0-9a-f-]{36}/.exec((await notice.textContent()) ?? "") ?? [];
  await page.getByLabel(/^Key id/).fill(id);
  await page.getByRole("button", { name: "Get another key" }).click();
  const fresh = page.locator("pre.key");
  await fresh.waitFor();
  expect(await statusOf(lost)).toBe(401);
  expect(await statusOf((await fresh.textContent()) ?? "")).toBe(200);
}

async function statusOf(secret: string): Promise<number> {
  return (await fetch(`${world.server.baseUrl}/keys/self`, { headers: { "x-api-key": secret } })).status;
}
