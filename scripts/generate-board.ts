import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes the Grafana board; `--check` writes nothing and exits 1 when it would change. */

type Panel = {
  readonly title: string;
  /** As Grafana names it. */
  readonly unit: string;
  /** PromQL by legend. */
  readonly shows: Readonly<Record<string, string>>;
};

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Callers: [
    {
      title: "Requests by status",
      unit: "reqps",
      shows: { "{{status}}": "sum by (status) (rate(ahs_http_requests_total[5m]))" },
    },
    {
      title: "Answer time",
      unit: "s",
      shows: {
        median: "histogram_quantile(0.5, sum by (le) (rate(ahs_http_request_duration_seconds_bucket[5m])))",
        p99: "histogram_quantile(0.99, sum by (le) (rate(ahs_http_request_duration_seconds_bucket[5m])))",
      },
    },
    {
      title: "Refused for their rate",
      unit: "short",
      shows: { "callers of a minute": "max(ahs_callers_active)", refused: "max(ahs_callers_limited)" },
    },
    {
      title: "Answered by the proxy alone",
      unit: "reqps",
      shows: {
        "no server answered": "sum(rate(caddy_http_request_errors_total[5m]))",
        "all requests": "sum(rate(caddy_http_requests_total[5m]))",
      },
    },
    {
      title: "Servers that the proxy asks",
      unit: "short",
      shows: { "{{upstream}}": "caddy_reverse_proxy_upstreams_healthy" },
    },
    {
      title: "Ended connections",
      unit: "cps",
      shows: { "{{reason}}": "sum by (reason) (rate(ahs_http_connections_dropped_total[5m]))" },
    },
  ],
  Money: [
    {
      title: "Payments that wait",
      unit: "short",
      shows: { "{{kind}}": "max by (kind) (ahs_payments_held)" },
    },
    {
      title: "Payments by outcome",
      unit: "short",
      shows: { "{{outcome}}": "sum by (outcome) (increase(ahs_payments_total[1h]))" },
    },
    {
      title: "Settled by scheme",
      unit: "short",
      shows: { "{{scheme}}": "sum by (scheme) (increase(ahs_payment_settlements_total[1h]))" },
    },
    {
      title: "Balance of sending keys",
      unit: "ETH",
      shows: { "{{sender}}": "min by (sender) (ahs_sender_balance_wei) / 1e18" },
    },
    {
      title: "Spent on transactions in a day",
      unit: "currencyUSD",
      shows: {
        "{{purpose}}":
          "sum by (purpose) (increase(ahs_sender_cost_wei_total[1d])) / 1e18 * scalar(max(ahs_native_price_usd))",
      },
    },
    {
      title: "Transactions under way",
      unit: "short",
      shows: {
        "in no block yet": "max(ahs_sender_pending)",
        "scores to publish": "max(ahs_publish_pending)",
      },
    },
  ],
  Data: [
    { title: "Age of the index", unit: "s", shows: { "newest block": "max(ahs_index_age_seconds)" } },
    {
      title: "Blocks to enrich",
      unit: "short",
      shows: { "final, not enriched": "max(ahs_enrich_lag_blocks)" },
    },
    {
      title: "Age of scores",
      unit: "s",
      shows: {
        median: "max(ahs_score_age_median_seconds)",
        oldest: "max(ahs_score_age_max_seconds)",
        backing: "max(ahs_backing_age_seconds)",
      },
    },
    {
      title: "Wallets",
      unit: "short",
      shows: { scored: "max(ahs_score_wallets)", "past unread": "max(ahs_warm_open_wallets)" },
    },
    { title: "Quarantined", unit: "short", shows: { "{{kind}}": "max by (kind) (ahs_quarantined)" } },
    {
      title: "Age of sanctions lists",
      unit: "s",
      shows: { "{{source}}": "max by (source) (ahs_sanctions_age_seconds)" },
    },
  ],
  "Verification and notices": [
    {
      title: "Verdicts",
      unit: "short",
      shows: { waiting: "max(ahs_verdict_queue_depth)", "under way": "max(ahs_verdicts_processing)" },
    },
    {
      title: "Longest wait",
      unit: "s",
      shows: {
        verdict: "max(ahs_verdict_queue_age_seconds)",
        webhook: "max(ahs_webhook_queue_lag_seconds)",
        settlement: "max(ahs_escrow_oldest_open_seconds)",
      },
    },
    { title: "Held jobs", unit: "short", shows: { "{{kind}}": "max by (kind) (ahs_escrow_holds)" } },
    {
      title: "Questions to models",
      unit: "short",
      shows: { "{{outcome}}": "sum by (outcome) (increase(ahs_panel_calls_total[1h]))" },
    },
    { title: "Tokens left today", unit: "short", shows: { tokens: "max(ahs_panel_tokens_left)" } },
    {
      title: "Deliveries",
      unit: "short",
      shows: { "{{outcome}}": "sum by (outcome) (increase(ahs_webhook_attempts_total[1h]))" },
    },
  ],
  "Processes and database": [
    { title: "Processes", unit: "short", shows: { "{{job}} {{instance}}": "up" } },
    { title: "Memory", unit: "bytes", shows: { "{{job}} {{instance}}": "process_resident_memory_bytes" } },
    {
      title: "CPU",
      unit: "percentunit",
      shows: { "{{job}} {{instance}}": "rate(process_cpu_seconds_total[5m])" },
    },
    {
      title: "Clocks ahead of the database",
      unit: "s",
      shows: { "{{job}} {{instance}}": "ahs_clock_ahead_seconds" },
    },
    {
      title: "Connections to PostgreSQL",
      unit: "short",
      shows: { open: "max(ahs_database_connections)", allowed: "max(ahs_database_connections_max)" },
    },
    { title: "Size of the database", unit: "bytes", shows: { database: "max(ahs_database_bytes)" } },
    {
      title: "Disk of the database",
      unit: "bytes",
      shows: {
        free: 'min(node_filesystem_avail_bytes{job="database-disk"})',
        size: 'max(node_filesystem_size_bytes{job="database-disk"})',
      },
    },
  ],
};

const [WIDTH, HEIGHT, COLUMNS] = [8, 7, 3];

const file = join(import.meta.dirname, "../ops/grafana/agent-health.json");
const wanted = boardOf(ROWS);
if (!existsSync(file) || readFileSync(file, "utf8") !== wanted) {
  if (process.argv.includes("--check")) {
    process.stderr.write("ops/grafana/agent-health.json is out of date: npm run generate\n");
    process.exitCode = 1;
  } else writeFileSync(file, wanted);
}

/** A board with one panel a line. */
function boardOf(rows: typeof ROWS): string {
  const lines: string[] = [];
  let top = 0;
  for (const [title, panels] of Object.entries(rows)) {
    lines.push(JSON.stringify({ type: "row", title, gridPos: { x: 0, y: top, w: WIDTH * COLUMNS, h: 1 } }));
    top += 1;
    for (const [place, panel] of panels.entries()) {
      const [x, y] = [(place % COLUMNS) * WIDTH, top + Math.floor(place / COLUMNS) * HEIGHT];
      lines.push(JSON.stringify({ ...shown(panel), gridPos: { x, y, w: WIDTH, h: HEIGHT } }));
    }
    top += Math.ceil(panels.length / COLUMNS) * HEIGHT;
  }
  const board = {
    uid: "agent-health",
    title: "Agent Health",
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" }],
    },
  };
  return `${JSON.stringify(board).slice(0, -1)},"panels":[\n${lines.join(",\n")}\n]}\n`;
}

function shown({ title, unit, shows }: Panel) {
  return {
    type: "timeseries",
    title,
    datasource: { type: "prometheus", uid: "$datasource" },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: Object.entries(shows).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode(65 + at),
      expr,
      legendFormat,
    })),
  };
}
