CREATE TABLE "ahs"."document_day" (
	"chain_id" integer NOT NULL,
	"day" date NOT NULL,
	"account" text NOT NULL,
	"documents" integer NOT NULL,
	CONSTRAINT "document_day_chain_id_day_account_pk" PRIMARY KEY("chain_id","day","account")
);
--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "domain" text;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "declared_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "ahs"."probe_schedule" ADD COLUMN "place" text DEFAULT 'kept' NOT NULL;