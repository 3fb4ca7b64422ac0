ALTER TABLE "ahs"."enrich_wallet" ADD COLUMN "warm_open" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."kept_history" ADD COLUMN "from_nonce" bigint;--> statement-breakpoint
CREATE INDEX "enrich_wallet_warm" ON "ahs"."enrich_wallet" USING btree ("chain_id","wallet") WHERE warm_open;