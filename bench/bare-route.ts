import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { Pool } from "pg";

/** A Hono route that answers one row by its primary key and does nothing else: what reads are measured against. */
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = new Hono();
app.get("/bare/:address", async (context) => {
  const { rows } = await pool.query({
    name: "bare",
    text: "select * from ahs.current_score where chain_id = $1 and wallet = $2",
    values: [31_337, context.req.param("address")],
  });
  return context.json(rows[0]);
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT) });
