CREATE TABLE "ahs"."quarantine" (
	"chain_id" integer NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"error" text NOT NULL,
	"failures" integer NOT NULL,
	"first_failed_at" timestamp with time zone NOT NULL,
	"next_try_at" timestamp with time zone NOT NULL,
	CONSTRAINT "quarantine_chain_id_kind_subject_pk" PRIMARY KEY("chain_id","kind","subject")
);
