CREATE TABLE "ahs"."routing_promise" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ahs"."routing_promise_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"caller" text NOT NULL,
	"amount_micro_usd" numeric NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ahs"."wallet_backing" (
	"chain_id" integer NOT NULL,
	"wallet" text NOT NULL,
	"own_micro_usd" numeric NOT NULL,
	"cost_basis_micro_usd" numeric NOT NULL,
	"safe_micro_usd" numeric NOT NULL,
	"received_day_micro_usd" numeric NOT NULL,
	"seller_profile" jsonb,
	"as_of_block" bigint NOT NULL,
	"as_of_time" timestamp with time zone NOT NULL,
	CONSTRAINT "wallet_backing_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE INDEX "routing_promise_wallet" ON "ahs"."routing_promise" USING btree ("chain_id","wallet","created_at");