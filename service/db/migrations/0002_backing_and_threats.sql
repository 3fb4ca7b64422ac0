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
CREATE TABLE "ahs"."threat_entry" (
	"address" text NOT NULL,
	"list" text NOT NULL,
	"listed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "threat_entry_address_list_pk" PRIMARY KEY("address","list")
);
--> statement-breakpoint
CREATE TABLE "ahs"."threat_list" (
	"name" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"source" text NOT NULL,
	"licence" text NOT NULL,
	"list_date" date NOT NULL,
	"entries" integer NOT NULL,
	"imported_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ahs"."own_call" ALTER COLUMN "value" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."publish_intent" ADD COLUMN "safe_micro_usd" numeric DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."threat_entry" ADD CONSTRAINT "threat_entry_list_threat_list_name_fk" FOREIGN KEY ("list") REFERENCES "ahs"."threat_list"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "routing_promise_wallet" ON "ahs"."routing_promise" USING btree ("chain_id","wallet","created_at");--> statement-breakpoint
CREATE INDEX "threat_entry_list" ON "ahs"."threat_entry" USING btree ("list");--> statement-breakpoint
CREATE OR REPLACE FUNCTION "ahs"."call_line"("call" "ahs"."own_call") RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
	SELECT concat_ws(' ', call.hash, call.block, call.transaction_index, call."position", call."timestamp", coalesce(call."to", '-'),
		coalesce(call.selector, '-'), coalesce(call.value::text, '-'), call.ok::int, call.gas_limit, call.gas_used,
		call.fee_wei + coalesce(call.l1_fee_wei, 0), call.gas_price_wei, coalesce(call.recipient, '-'), coalesce(call.amount::text, '-'),
		CASE WHEN call.effect IS NULL THEN '- - - -' ELSE concat_ws(' ', coalesce(call.market_price_wei::text, '-'), call.effect,
			coalesce(nullif(array_to_string(call.emitters, ','), ''), '-'), coalesce(nullif(array_to_string(call.moves, ','), ''), '-'))
		END)
$$;
