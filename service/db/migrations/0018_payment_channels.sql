CREATE TABLE "ahs"."payment_channel" (
	"id" text PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"payer" text NOT NULL,
	"receiver" text NOT NULL,
	"authorizer" text NOT NULL,
	"token" text NOT NULL,
	"withdraw_delay" integer NOT NULL,
	"salt" text NOT NULL,
	"balance" numeric NOT NULL,
	"collected" numeric NOT NULL,
	"withdrawing" numeric NOT NULL,
	"withdraw_asked_at" bigint,
	"seen_block" bigint NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"charged" numeric NOT NULL,
	"signature" text,
	"unclaimed_since" timestamp with time zone,
	"collect_order" bigint,
	"collect_asked" numeric,
	"collect_failures" integer DEFAULT 0 NOT NULL,
	"look_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "payment_channel_look" ON "ahs"."payment_channel" USING btree ("chain_id","look_at");--> statement-breakpoint
CREATE INDEX "payment_channel_payer" ON "ahs"."payment_channel" USING btree ("payer");