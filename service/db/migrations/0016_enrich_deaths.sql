CREATE TABLE "ahs"."enrich_death" (
	"chain_id" integer NOT NULL,
	"transaction_hash" text NOT NULL,
	"deaths" integer NOT NULL,
	CONSTRAINT "enrich_death_chain_id_transaction_hash_pk" PRIMARY KEY("chain_id","transaction_hash")
);
--> statement-breakpoint
CREATE TABLE "ahs"."enrich_reading" (
	"chain_id" integer NOT NULL,
	"task" text NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"deaths" integer NOT NULL,
	"transaction_hash" text,
	CONSTRAINT "enrich_reading_chain_id_task_pk" PRIMARY KEY("chain_id","task")
);
