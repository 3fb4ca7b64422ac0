import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Screens that every page has to fit. */
export const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } } as const;

const WAIT_MS = 15_000;

/** A page in a context of its own, and what it did that none of ours may: errors, refused loads, requests of other hosts. */
export type WatchedPage = {
  readonly page: Page;
  readonly faults: string[];
  readonly close: () => Promise<void>;
};

/** Opens a browser window, with axe-core beside whatever page it shows, whose policy lets no script be added. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions & { readonly baseURL: string },
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: SCREENS.desktop, ...options });
  context.setDefaultTimeout(WAIT_MS);
  await context.addInitScript(axe.source);
  const page = await context.newPage();
  const faults: string[] = [];
  // The console also reports a refusal that a test provokes, as a failed load.
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(options.baseURL) || request.url().startsWith("data:");
    if (!isOwn) faults.push(request.url());
  });
  return { page, faults, close: () => context.close() };
}

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

/** Faults that axe-core finds in the current page, each with its first place. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)",
  );
  return (found as readonly Violation[]).map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** Pixels that have to be scrolled to the side; 0 where the page fits. */
export async function widthBeyond(page: Page): Promise<unknown> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
