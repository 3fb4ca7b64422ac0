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
ALTER TABLE "ahs"."threat_entry" ADD CONSTRAINT "threat_entry_list_threat_list_name_fk" FOREIGN KEY ("list") REFERENCES "ahs"."threat_list"("name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "threat_entry_list" ON "ahs"."threat_entry" USING btree ("list");