CREATE TABLE "ahs"."unfollowed" (
	"chain_id" integer NOT NULL,
	"address" text NOT NULL,
	"added_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "unfollowed_chain_id_address_pk" PRIMARY KEY("chain_id","address")
);
